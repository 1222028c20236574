-- SPDX-License-Identifier: BSD-3-Clause

--- What the device must reach: `--expect 'throughput>=95%'`, `'throughput>=800kfps@64'`.
--
-- An expectation names a result, a least value (a share of the line, or a load) and optionally the one frame
-- size it is about. A figure that cannot be called the device's decides nothing unless it reaches the value:
-- then the device carried it, whatever the tester could not do beyond. It is about the plain stream, not
-- about those with modifiers.
local load = require "framegauge.method.load"
local tables = require "framegauge.tables"
local units = require "framegauge.units"

local M = {}

local EXAMPLES = "'throughput>=95%', 'throughput>=800kfps' or 'throughput>=95%@64'"

local function bad(text, why)
   return nil, ("--expect '%s': %s; expected such as %s"):format(text, why, EXAMPLES)
end

--- Read one expectation.
-- @param plan  the plan it will be held against
-- @return { text =, rate =, frame_size = or nil }, or nil and a message
function M.parse(text, plan)
   local result, rest = text:match "^%s*([%w_]+)%s*>=%s*(.-)%s*$"
   if not result then
      return bad(text, "no comparison with >= in it")
   elseif result ~= "throughput" or not plan.rfc2544 or not tables.contains(plan.rfc2544.tests, result) then
      return bad(text, ("the plan has no result '%s'"):format(result))
   end
   local value, size = rest:match "^(.-)%s*@%s*(%d+)$"
   local rate, message = units.parse_rate(value or rest)
   if not rate then
      return bad(text, message)
   elseif size and not tables.contains(plan.rfc2544.frame_sizes, tonumber(size)) then
      return bad(text, ("the plan has no frame size %s"):format(size))
   end
   return { text = text, rate = rate, frame_size = tonumber(size) }
end

local function met_by(expectation, row)
   local wanted = load.fps(expectation.rate, row.frame_size, row.theoretical_fps)
   if wanted and row.throughput_fps and row.throughput_fps >= wanted then
      return true
   elseif wanted and row.verdict == "valid" then
      return false
   end
   return nil
end

--- Hold the rows of a result against one expectation.
-- @param complete  whether all rows the plan asks for are there
-- @return { text =, met = true; false: the device fell short; nil: cannot be said }
function M.evaluate(expectation, rows, complete)
   local met = complete or nil
   for _, row in ipairs(rows) do
      local about_it = not expectation.frame_size or expectation.frame_size == row.frame_size
      if about_it and not row.modifier then
         local this = met_by(expectation, row)
         if this == false then
            return { text = expectation.text, met = false }
         elseif this == nil then
            met = nil
         end
      end
   end
   return { text = expectation.text, met = met }
end

return M
