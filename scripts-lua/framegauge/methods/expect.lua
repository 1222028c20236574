-- SPDX-License-Identifier: BSD-3-Clause

--- What the device must reach: `--expect 'throughput>=95%'`, `--expect 'voice.avail>=99.99%'`.
--
-- What can be expected is a matter of the method: it has `expectations`, a module with
--
--    EXAMPLES           some, for messages
--    parse(text, plan)  the expectation, or nil and what is wrong with it
--    rows(results)      the rows of the results that expectations are about
--
-- An expectation has functions of such a row: about(row), whether it is about it, and met(row): true; false:
-- the device fell short; nil: the row does not say.
local methods = require "framegauge.methods"

local M = {}

--- Read one expectation.
-- @param plan  the plan it will be held against
-- @return { text =, about =, met = }, or nil and a message
function M.parse(text, plan)
   local kind = methods.of(plan).expectations
   if not kind then
      return nil, ("--expect '%s': nothing can be expected of the test %s"):format(text, plan.test)
   end
   local expectation, why = kind.parse(text, plan)
   if not expectation then
      return nil, ("--expect '%s': %s; expected such as %s"):format(text, why, kind.EXAMPLES)
   end
   expectation.text = text
   return expectation
end

--- The rows that the expectations of a plan are about.
function M.rows(plan, results)
   local kind = methods.of(plan).expectations
   return kind and kind.rows(results) or {}
end

--- Hold the rows of a result against one expectation.
-- @param complete  whether all rows the plan asks for are there
-- @return { text =, met = true; false: the device fell short; nil: cannot be said }
function M.evaluate(expectation, rows, complete)
   local met = complete or nil
   for _, row in ipairs(rows) do
      if expectation.about(row) then
         local this = expectation.met(row)
         if this == false then
            return { text = expectation.text, met = false }
         elseif this == nil then
            met = nil
         end
      end
   end
   return { text = expectation.text, met = met }
end

--- The expectations that a row fell short of, as one text; nil when there is none.
-- @param result  result.json, read
function M.short_of(result, row)
   local texts = {}
   for _, one in ipairs(result.expectations) do
      local expectation = M.parse(one.text, result.plan)
      if expectation and M.evaluate(expectation, { row }, true).met == false then
         texts[#texts + 1] = one.text
      end
   end
   return #texts > 0 and table.concat(texts, ", ") or nil
end

return M
