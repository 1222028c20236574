-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge script`: a Lua file of the user's, as a job on the event loop.
local job = require "framegauge.core.job"
local named_file = require "framegauge.core.named_file"

local M = {}

-- Testers have the search of RFC 2544 as soon as a script uses them, so that others do not wait for it.
package.preload["framegauge.tester"] = function(name)
   package.preload[name], package.loaded[name] = nil, nil
   local Tester = require(name)
   if package.loaded["framegauge.methods.rfc2544.script"] == nil then -- or it is what loads the tester
      require "framegauge.methods.rfc2544.script"
   end
   return Tester
end

local SCRIPT_ERROR = 1
local BAD_USAGE = 2
local LONGEST = 64 * 1024 * 1024

local function complain(format, ...)
   io.stdout:flush()
   io.stderr:write("framegauge: ", format:format(...), "\n")
end

-- An error raised deep in a module is of little use without the user's own lines that led there.
local function own_lines(traceback, file)
   local seen = {}
   for line in traceback:gmatch("[^\n]+") do
      local where = line:match("^%s+(.-:%d+):")
      if where and where:sub(1, #file + 1) == file .. ":" then
         seen[#seen + 1] = where
      end
   end
   return seen
end

local function report(err, file)
   local message = tostring(err)
   complain("%s", message)
   local traceback = type(err) == "table" and rawget(err, "traceback")
   if traceback and message:sub(1, #file + 1) ~= file .. ":" then
      for _, where in ipairs(own_lines(traceback, file)) do
         io.stderr:write("   called at ", where, "\n")
      end
   end
end

-- os.exit(status, true) would take the virtual machine down under the event loop that is just running the
-- script.
local function make_exit_safe()
   local exit = os.exit
   rawset(os, "exit", function(status)
      exit(status)
   end)
end

--- Run a script.
-- @param arguments  file, then the script's own arguments, which it finds in `arg`
-- @return exit status: the number the script returned, else 0; 1 when it raised an error
function M.main(arguments)
   local file = arguments[1]
   local text, cause = named_file.read(file, LONGEST)
   if not text then
      complain("cannot read the script: %s", cause)
      return BAD_USAGE
   end
   local chunk, syntax = loadstring(text:gsub("^#[^\n]*", ""), "@" .. file)
   if not chunk then
      complain("%s", syntax)
      return SCRIPT_ERROR
   end
   local script_arguments = { [0] = file, unpack(arguments, 2) }
   rawset(_G, "arg", script_arguments)
   package.path = (file:match("^(.*/)[^/]*$") or "./") .. "?.lua;" .. package.path
   make_exit_safe()
   local ok, result = pcall(job.run, chunk, unpack(script_arguments))
   if ok then
      return tonumber(result) or 0
   end
   if type(result) == "table" and result.interrupted then
      error(result, 0)
   end
   report(result, file)
   return SCRIPT_ERROR
end

return M
