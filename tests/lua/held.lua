-- SPDX-License-Identifier: BSD-3-Clause

--- Criteria, held against results.
local criteria = require "framegauge.methods.common.criteria"

local M = {}

--- Whether results meet a criterion: true, false, or nil where that is not decided. And all that is said.
function M.met(text, plan, results)
   local found = criteria.evaluate(assert(criteria.parse(text, plan)), plan, results, true)
   return found.met, found
end

--- Why a criterion is refused. Raises where it is not.
function M.refusal(text, plan)
   local criterion, message = criteria.parse(text, plan)
   assert(not criterion, text)
   return message
end

return M
