-- SPDX-License-Identifier: BSD-3-Clause

--- What follows from the reasons against a trial: see framegauge.trial for the three verdicts.
local format = require "framegauge.report.format"
local tables = require "framegauge.tables"

local M = {}

--- Why a trial is invalid by the link of a port; nil where it is not.
-- @param port  its counts: link_changes, and link_down = 1 if there was none at the end of the trial
function M.link_reason(port)
   if port.link_down == 1 then
      return ("the peer of %s is gone: the link was down at the end of the trial"):format(port.name)
   elseif (port.link_changes or 0) > 0 then
      return ("%s: the link changed %s during the trial"):format(port.name,
         format.plural(port.link_changes, "time"))
   end
end

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
