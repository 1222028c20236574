-- SPDX-License-Identifier: BSD-3-Clause

--- What a row with a verdict is as a test case, besides its name (framegauge.report.junit).
-- @param row  with verdict and reasons
-- @return a table, empty when all is well
return function(row)
   local why = table.concat(row.reasons or {}, "; ")
   if row.verdict == "fail" then
      return { failure = why, type = "criterion" }
   elseif row.verdict == "not-testable" or row.verdict == "not-applicable" then
      return { skipped = why }
   elseif row.verdict ~= "pass" and row.verdict ~= "valid" then
      return { error = row.verdict .. ": " .. why, type = row.verdict }
   end
   return {}
end
