-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge init`: a plan to begin with, from the reference plan of a test (configs/), which is part of
-- the program. Its comments stay, and a key without one gets its help where it is first. With devices of the
-- user's the reference device is left out.
local columns = require "framegauge.text.columns"
local help = require "framegauge.plan.help"
local methods = require "framegauge.methods"
local parse = require "framegauge.cli.parse"
local shell = require "framegauge.core.shell"
local source = require "framegauge.source"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local BAD_USAGE, MACHINE = 2, 4

-- Tests without a reference plan of their own name.
local PLANS = { l4 = "l4-battery", y1564 = "y1564-one-service" }

-- About the reference plan itself, or the reference device.
local LEFT_OUT = { "name", "description", "dut" }
local OF_REFERENCE = { "reference_device", "reference_switch" }

-- The groups of a plan: { key, text with the comments above it }.
local function groups_of(text)
   local list, above = {}, {}
   for line in text:gmatch "([^\n]*)\n" do
      local key = line:match "^([%a_][%w_]*):"
      if key then
         list[#list + 1] = { key, table.concat(above) }
         above = {}
      end
      local last = list[#list]
      if key or last and line:find "^%s+%S" then
         last[2] = last[2] .. table.concat(above) .. line .. "\n"
         above = {}
      else
         above[#above + 1] = line .. "\n"
      end
   end
   return list
end

local LONGEST = 170 -- characters of a comment; a longer help is named

-- The path of a key as documentation writes it, with NAME for a name of the user's; nil where it has no help.
local function path_of(above, key)
   for _, path in ipairs { (above == "" and "" or above .. ".") .. key, above .. ".NAME" } do
      if help.meaning(path) or help.meaning(path .. ".NAME") then
         return path
      end
   end
end

-- The comment on a key: its help.
local function comment_on(path, indent)
   local text = (help.meaning(path) or help.meaning(path .. ".NAME")):gsub("`", "")
   if #text > LONGEST or text:find ":$" or path:find "%.NAME$" then
      text = ("see 'framegauge help %s'"):format(path)
   end
   return columns.wrapped(indent .. "# " .. text, 100):gsub("\n(%s*)([^%s#])", "\n%1# %2")
end

-- How many brackets a line leaves open.
local function opened(line)
   local text = (" " .. line):gsub("%s#.*", ""):gsub('"[^"]*"', ""):gsub("'[^']*'", "")
   return select(2, text:gsub("[%[{]", "")) - select(2, text:gsub("[%]}]", ""))
end

-- A group in which every key that begins a line has a comment where it is first, above it or behind it. A
-- name of the user's has one where its keys are on the same line.
local function commented(text)
   local out, paths, seen, open, before = {}, { [0] = "" }, {}, 0, ""
   for line in text:gmatch "([^\n]*)\n" do
      local indent, key = line:match "^(%s*)([%a_][%w_-]*):"
      if key and open == 0 then
         local depth = #indent / 2 + 1
         local path = paths[depth - 1] and path_of(paths[depth - 1], key)
         paths[depth], paths[depth + 1] = path, nil
         local commentable = path and (not path:find "%.NAME$" or line:find "{")
         if commentable and not seen[path] and not line:find "#" and not before:find "^%s*#" then
            out[#out + 1] = comment_on(path, indent)
         end
         seen[path or ""] = true
      end
      open = open + opened(line)
      out[#out + 1], before = line .. "\n", line
   end
   return table.concat(out)
end

local function with_devices(text, devices)
   local n = 0
   text = text:gsub("device: wire%d+", function()
      n = n + 1
      return devices[n] and ("device: %q"):format(devices[n])
   end)
   if n ~= #devices then
      user_error.raise("init", BAD_USAGE, "init: this plan has %d ports; expected --device for each, in their order, or for none", n)
   end
   return "\n# The tester's ports.\n" .. text:match "ports:.*"
      .. "# isolated_network: true   # nothing is sent on a real port without it (RFC 6815)\n"
end

--- The text of a plan to begin with.
-- @param test     name of a test, or of a reference plan
-- @param devices  of its ports, in their order; empty: the reference device's
-- @return text; nil when there is no such plan
function M.text(test, devices)
   local plan = source.read("framegauge.plans." .. (PLANS[test] or test))
   if not plan then
      return nil
   end
   local out = { ("# A plan for %s, written by 'framegauge init'. Every key: 'framegauge help plan', or\n"
      .. "# 'framegauge help KEY'.\n"):format(test) }
   for _, group in ipairs(groups_of(plan)) do
      local key, text = unpack(group)
      if key == "ports" and devices[1] then
         text = with_devices(text, devices)
      end
      if not tables.contains(LEFT_OUT, key) and not (devices[1] and tables.contains(OF_REFERENCE, key)) then
         out[#out + 1] = commented(text)
      end
   end
   return table.concat(out)
end

-- A line of a person; what is empty is the default.
local function ask(question, default)
   io.write(question, default and (" [%s]"):format(default) or "", ": ")
   io.flush()
   local line = (io.read() or ""):match "^%s*(.-)%s*$"
   return line ~= "" and line or default
end

local function asked()
   local devices, names = {}, methods.names()
   io.write("Tests: ", table.concat(names, ", "), "\n")
   local test = ask("Test", "rfc2544")
   io.write "Devices: kernel:IF, a PCI address, memif:PATH; none: the reference device\n"
   repeat
      devices[#devices + 1] = ask(("Device of port %d"):format(#devices + 1))
   until not devices[#devices] or #devices == 64
   return test, devices, ask("File", "plan.yaml")
end

--- The command.
-- @param program  as the user called it: build/app/framegauge where it is not installed
function M.main(arguments, options, _, _, _, program)
   local test, devices, path = arguments[1], options.device or {}, options.out or "plan.yaml"
   if not test then
      if uv.guess_handle(0) ~= "tty" then
         parse.usage_error("init", "init: TEST is missing; tests are %s",
            table.concat(methods.names(), ", "))
      end
      test, devices, path = asked()
   end
   local text = M.text(test, devices)
   if not text then
      parse.usage_error("init", "init: there is no plan for '%s'%s", test,
         suggest.hint(test, methods.names()))
   elseif uv.fs_lstat(path) then
      user_error.raise("init", BAD_USAGE, "init: %s exists; --out FILE names another one", path)
   end
   local file, why = io.open(path, "w")
   if not (file and file:write(text) and file:close()) then
      user_error.raise("init", MACHINE, "init: cannot write %s: %s", path, why or "no room")
   end
   io.write(("Wrote %s. Next: %s; %s\n"):format(path, shell.command { program, "check", path },
      shell.command { program, "run", path, "--quick" }))
   return 0
end

return M
