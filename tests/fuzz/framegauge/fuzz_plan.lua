-- SPDX-License-Identifier: BSD-3-Clause

--- What holds for any file given as a plan: it becomes a plan, or errors that say where and what in one line
-- each. Nothing raises. (tests/fuzz/fuzz_plan.c)
require "framegauge.strict"
require "framegauge.api"
local plan = require "framegauge.plan"

require "luv" -- now, not with the first plan that needs it: fuzz_plan.c has the sanitizer look away only once

local M = {}

local function check_error(err, path)
   local text = tostring(err)
   assert(err.message ~= "" and not text:find("%c"), text)
   assert(text:sub(1, #path) == path, text)
   assert(err.line == nil or err.line >= 1 and err.column >= 1, text)
end

local function check_plan(loaded)
   assert(#loaded.ports == 2)
   assert(#loaded.rfc2544.frame_sizes >= 1)
   assert(loaded.isolated_network or not (loaded.ports[1].physical or loaded.ports[2].physical))
end

function M.main(arguments)
   local path = arguments[1]
   local loaded, errors = plan.load(path, { quick = true })
   if loaded then
      check_plan(loaded)
      return 0
   end
   assert(#errors > 0)
   for _, err in ipairs(errors) do
      check_error(err, path)
   end
   return 0
end

return M
