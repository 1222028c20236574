-- SPDX-License-Identifier: BSD-3-Clause

--- What follows from the reasons against a trial: see framegauge.trial for the three verdicts.
local tables = require "framegauge.tables"

local M = {}

--- Give a record its verdict and its reasons.
-- @param invalid  list of sentences: why its counts mean nothing
-- @param limited  list of sentences: where the tester fell short
-- @return the record
function M.settle(record, invalid, limited)
   record.verdict = #invalid > 0 and "invalid" or #limited > 0 and "tester-limited" or "valid"
   record.reasons = tables.joined(invalid, limited)
   return record
end

return M
