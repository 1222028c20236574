-- SPDX-License-Identifier: BSD-3-Clause

--- How the received frames differ from those that a replay sent, as text.
local format = require "framegauge.text.format"

local count, plural = format.count, format.plural

local M = {}

--- "3 lost, 1 out of order"; "" without a difference.
-- @param v  the comparison of a replay: lost, reordered, duplicates, unsolicited
function M.of(v)
   local list = {}
   for _, one in ipairs {
      { v.lost, "lost" }, { v.reordered, "out of order" }, { v.duplicates, "duplicated" },
      { v.unsolicited, "not sent, or changed" },
   } do
      list[#list + 1] = one[1] ~= 0 and ("%s %s"):format(count(one[1]), one[2]) or nil
   end
   return table.concat(list, ", ")
end

--- The comparison in a sentence.
function M.verdict(v)
   if v.unchecked > 0 then
      return ("NOT KNOWN: the comparison was too slow, %s unchecked"):format(plural(v.unchecked, "frame"))
   elseif v.whole then
      return ("SAME: all %s arrived, unchanged and in order"):format(plural(v.sent, "frame"))
   end
   return ("DIFFERENT: of %s sent, %s arrived unchanged; %s"):format(plural(v.sent, "frame"), count(v.same),
      M.of(v))
end

return M
