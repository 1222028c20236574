-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of hooks, in the notation of plan/keys.lua; what they do: framegauge.run.hooks.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"

local M = {}

local of_hook = keys.group(nil, nil, {
   { "on", "list", "when: end: at the end of each run; pass or fail: where the criteria were met or not met; tester-limited, invalid or interrupted: where the run was; regression: where the level of a figure became worse (framegauge history)",
     of = { type = "enum",
        values = { "end", "pass", "fail", "tester-limited", "invalid", "interrupted", "regression" } },
     least = 1, unique = true, default = { "end" } },
   shared.command("command", "a program and its arguments; it gets a message as JSON on its standard input", "none"),
   { "webhook", "string", "an address that the message is sent to by POST, such as http://10.0.0.1:8000/runs; for https let command be curl",
     longest = 2000, default_help = "none", does = "sends a message to" },
   { "timeout", "time", "after which it is given up", default = "30s", min = "100ms", max = "1h" },
})

M.row = { "hooks", "map", "programs and addresses to notify when a run ends, by name. A hook that fails is reported, and changes neither the result nor the exit status",
   of = of_hook, name = "name", most = 16, default_help = "none", names = keys.NAMES,
   expected = "hooks by name, such as chat: {on: fail, command: [./tell-us]}" }

--- The parts of an http address: host, port and path; nil for another text.
function M.address(text)
   local host, rest = text:match "^http://([%w.-]+)(.*)$"
   local port, path = (rest or ""):match "^:(%d+)(.*)$"
   path = path or rest
   if not host or path ~= "" and path:sub(1, 1) ~= "/" or path:find "[%s%c]" then
      return nil
   end
   port = tonumber(port or 80)
   local fits = port >= 1 and port <= 65535
   return fits and { host = host, port = port, path = path ~= "" and path or "/" } or nil
end

local function are_complete(values, found)
   for _, hook in ipairs(values.hooks or {}) do
      local key = "hooks." .. hook.name
      if (hook.command == nil) == (hook.webhook == nil) then
         found:add(key, "command and webhook", "one of both")
      elseif hook.webhook and not M.address(hook.webhook) then
         found:add(key .. ".webhook", "this is no address of http",
            "http://HOST, with :PORT and a path behind it if need be")
      end
   end
end

M.rules = { are_complete }

return M
