-- SPDX-License-Identifier: BSD-3-Clause

--- A client of the Open Traffic Generator API: scripts drive our server, or another one.
--
--    local api = require("framegauge.otg.client").new "https://127.0.0.1:8443"
--    api:set_config { ports = { ... }, flows = { ... } }
--    api:transmit "start"
--    local row = api:await({ "f1" }, 30).f1 -- row.frames_tx, row.frames_rx, row.loss ...
--    api:close()
--
-- Requests and answers are tables, as the model has them in JSON. A server's refusal is raised as an object
-- with code, kind and errors. curl carries the requests: it speaks TLS, too, and as with other clients of the
-- API a server need not have a certificate that somebody vouches for.
local command = require "framegauge.core.command"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local PATIENCE = 120 -- seconds of a call; setting many flows takes some
local LOOK_SECONDS = 0.1
local UNREACHABLE = 4 -- exit status

local Client = {}
Client.__index = Client

local Refusal = { status = UNREACHABLE }
Refusal.__index = Refusal
function Refusal:__tostring()
   return table.concat(self.errors, "\n")
end

--- A client of a server. Nothing is sent yet.
-- @param url  such as https://127.0.0.1:8443
function M.new(url)
   return setmetatable({ url = url:gsub("/$", ""), pipes = job.ignore_broken_pipes() }, Client)
end

-- What the server answered: its status, and the body.
local function ask(self, method, path, text)
   local argv = { "curl", "--silent", "--insecure", "--request", method, "--write-out", "\n%{http_code}",
      "--header", "Content-Type: application/json", "--header", "Expect:", "--max-time", tostring(PATIENCE) }
   argv = tables.joined(argv, text and { "--data-binary", "@-" } or {}, { self.url .. path })
   local output, why = job.wait(function(wake)
      command.run(argv, wake, (PATIENCE + 1) * 1000, text)
   end)
   if not output then
      user_error.raise(nil, UNREACHABLE, "%s: no answer: %s", self.url, why)
   end
   local body, status = output:match "^(.*)\n(%d+)$"
   return tonumber(status), body
end

local function decoded(url, body)
   local ok, value = pcall(json.decode, body)
   if not ok or type(value) ~= "table" then
      user_error.raise(nil, UNREACHABLE, "%s: the answer is no JSON", url)
   end
   return value
end

local function raise_refusal(url, status, body)
   local ok, value = pcall(json.decode, body)
   local told = ok and type(value) == "table" and type(value.errors) == "table" and value
      or { code = status, kind = "internal", errors = { ("%s: HTTP status %d"):format(url, status) } }
   error(setmetatable({ code = told.code, kind = told.kind, errors = told.errors }, Refusal), 0)
end

--- Call a method at a path.
-- @param value  of the request, or nil
-- @param raw    whether the answer is bytes, and no JSON
-- @return the answer
function Client:call(method, path, value, raw)
   return job.run(function()
      local status, body = ask(self, method, path, value and json.encode(value))
      if status ~= 200 then
         raise_refusal(self.url .. path, status, body)
      end
      return raw and body or decoded(self.url, body)
   end)
end

-- The calls of the API: function(value) -> answer.
local CALLS = {
   set_config = { "POST", "/config" }, get_config = { "GET", "/config" },
   update_config = { "PATCH", "/config" }, append_config = { "PATCH", "/config/append" },
   delete_config = { "PATCH", "/config/delete" },
   set_control_state = { "POST", "/control/state" }, set_control_action = { "POST", "/control/action" },
   get_metrics = { "POST", "/monitor/metrics" }, get_states = { "POST", "/monitor/states" },
   get_capture = { "POST", "/monitor/capture", raw = true }, get_version = { "GET", "/capabilities/version" },
}
for name, o in pairs(CALLS) do
   Client[name] = function(self, value)
      return self:call(o[1], o[2], value, o.raw)
   end
end

--- Start, stop, pause or resume flows.
-- @param state  "start", "stop", "pause" or "resume"
-- @param names  list; default: all
function Client:transmit(state, names)
   return self:set_control_state { choice = "traffic", traffic = { choice = "flow_transmit",
      flow_transmit = { state = state, flow_names = names } } }
end

-- Rows by name, with numbers where JSON has the digits of an integer of 64 bits.
local function by_name(rows)
   local out = {}
   for _, row in ipairs(rows or {}) do
      for key, value in pairs(row) do
         row[key] = (key:find "^frames_" or key:find "^bytes_") and tonumber(value) or value
      end
      out[row.name] = row
   end
   return out
end

--- Rows of flows, by name. @param names  list; default: all
function Client:flow_metrics(names)
   return by_name(self:get_metrics({ choice = "flow", flow = json.object { flow_names = names } })
      .flow_metrics)
end

--- Rows of ports, by name. @param names  list; default: all
function Client:port_metrics(names)
   return by_name(self:get_metrics({ choice = "port", port = json.object { port_names = names } })
      .port_metrics)
end

--- Wait until flows are stopped.
-- @param names    list; default: all
-- @param seconds  how long at most, then an error is raised
-- @return their rows, by name
function Client:await(names, seconds)
   return job.run(function()
      local latest = uv.hrtime() + seconds * 1e9
      while true do
         local rows, going = self:flow_metrics(names), nil
         for name, row in pairs(rows) do
            going = row.transmit ~= "stopped" and name or going
         end
         if not going then
            return rows
         elseif uv.hrtime() > latest then
            user_error.raise(nil, UNREACHABLE, '%s: flow "%s" still runs after %g s', self.url, going,
               seconds)
         end
         job.sleep(LOOK_SECONDS)
      end
   end)
end

--- No more calls.
function Client:close()
   self.pipes:close()
end

return M
