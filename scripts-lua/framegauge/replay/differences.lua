-- SPDX-License-Identifier: BSD-3-Clause

--- In what the frames that arrived differ from those a replay sent.
local format = require "framegauge.report.format"

local count = format.count

local M = {}

--- "3 lost, 1 out of order"; "" where there is no difference.
-- @param v  what a replay verified: lost, reordered, duplicates, foreign
function M.of(v)
   local list = {}
   for _, one in ipairs {
      { v.lost, "lost" }, { v.reordered, "out of order" }, { v.duplicates, "more than once" },
      { v.foreign, "that were not sent so" },
   } do
      if one[1] ~= 0 then
         list[#list + 1] = ("%s %s"):format(count(one[1]), one[2])
      end
   end
   return table.concat(list, ", ")
end

return M
