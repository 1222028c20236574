-- SPDX-License-Identifier: BSD-3-Clause

--- What a row of a replay holds, in the order a person reads it. docs/results.md says what the keys mean.
local json = require "framegauge.report.json"
local nulls = require "framegauge.report.nulls"

local M = {}

M.ORDER = {
   "replay", "direction", "trial", "duration_s", "recorded_s", "frames", "octets", "span_ns", "fps",
   "mbps_l1", "received", "verified", "whole", "same", "lost", "reordered", "duplicates", "foreign", "talk",
   "unchecked", "error_ns", "slips", "slipped_ns", "oversize", "truncated", "streamed", "setting", "pace",
   "loops", "rewrite", "source_mac", "destination_mac", "vlan", "networks", "sent", "refused", "no_mbuf",
   "starved", "verdict", "reasons",
}

--- The results as result.json has them.
function M.published(results)
   return { replay = nulls.each(results.replay or {}, function(row)
      return nulls.fill(row, { "verified", "fps", "mbps_l1" })
   end) }
end

--- Time behind the schedule that a share of the frames kept to, ns.
function M.behind(row, share)
   for _, pair in ipairs(row.error_ns) do
      if pair[1] == share then
         return pair[2]
      end
   end
end

--- What was found by comparing; nil where nothing was compared.
function M.verified(row)
   return row.verified ~= json.null and row.verified or nil
end

--- Fields that were rewritten, in words; "" where there are none.
function M.rewritten(row)
   local r, list = row.setting.rewrite, {}
   for _, one in ipairs {
      { r.source_mac, "source MAC %s" }, { r.destination_mac, "destination MAC %s" }, { r.vlan, "VLAN %s" },
   } do
      if one[1] and one[1] ~= json.null then
         list[#list + 1] = one[2]:format(one[1])
      end
   end
   for _, text in ipairs(r.networks or {}) do
      list[#list + 1] = text
   end
   return table.concat(list, ", ")
end

--- Columns of the CSV file.
M.CSV = {
   "direction", "trial", "duration_s", "recorded_s", "frames", "octets", "fps", "mbps_l1", "received",
   "verified.same", "verified.lost", "verified.reordered", "verified.duplicates", "verified.foreign",
   "verified.talk", "verified.unchecked", "slips", "slipped_ns", "oversize", "truncated", "setting.pace",
   "setting.loops", "verdict",
}

return M
