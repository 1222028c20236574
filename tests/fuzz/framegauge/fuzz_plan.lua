-- SPDX-License-Identifier: BSD-3-Clause

--- What holds for any file given as a plan: it becomes a plan, or errors that say where and what in one line
-- each. Nothing raises. (tests/fuzz/fuzz_plan.c)
require "framegauge.core.strict"
require "framegauge.core.api"
local json = require "framegauge.text.json"
local plan = require "framegauge.plan"
local published_plan = require("framegauge.report.result").published_plan

require "luv" -- now, not with the first plan that needs it: fuzz_plan.c has the sanitizer look away only once

local MOST_PORTS = 16

local M = {}

local function check_error(err, path)
   local text = tostring(err)
   assert(err.message ~= "" and not text:find("%c"), text)
   assert(text:sub(1, #path) == path, text)
   assert(err.line == nil or err.line >= 1 and err.column >= 1, text)
end

-- Of every method: its task, over ports that it may use, and that a result could hold it.
local function check_plan(loaded)
   assert(type(loaded[loaded.test]) == "table", loaded.test)
   assert(#loaded.ports >= 1 and #loaded.ports <= MOST_PORTS)
   for _, port in ipairs(loaded.ports) do
      assert(port.name ~= "" and port.device ~= "")
      assert(loaded.isolated_network or not port.physical, port.device)
   end
   assert(#json.encode(published_plan(loaded), {}) > 0)
end

--- @return whether it became a plan
function M.check(path)
   local loaded, errors = plan.load(path, { quick = true })
   if loaded then
      check_plan(loaded)
      return true
   end
   assert(#errors > 0)
   for _, err in ipairs(errors) do
      check_error(err, path)
   end
   return false
end

--- One input. What a plan has made in C goes with it: only Lua's memory, which no search for leaks looks
-- into, knows of it.
function M.main(arguments)
   M.check(arguments[1])
   collectgarbage()
   return 0
end

return M
