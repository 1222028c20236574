-- SPDX-License-Identifier: BSD-3-Clause

--- Tables for spreadsheets: RFC 4180 with line feeds, one line for each row of a result.
local json = require "framegauge.report.json"

local M = {}

local THROUGHPUT = {
   "frame_size", "direction", "theoretical_fps", "throughput_fps", "percent", "mbps_l1", "mbps_l2",
   "upper_fps", "resolution_fps", "trial_s", "trials", "verdict", "latency.min_ns", "latency.mean_ns",
   "latency.p50_ns", "latency.p99_ns", "latency.p999_ns", "latency.max_ns",
   "goal", "conditional_fps", "regular",
}

local function field(row, path)
   local value = row
   for key in path:gmatch "[^.]+" do
      value = value and value[key]
   end
   if value == nil then
      return ""
   elseif type(value) == "number" then
      return json.encode(value)
   end
   local text = tostring(value)
   return text:find '[",\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

--- The text of throughput.csv. What is not known is empty.
function M.throughput(rows)
   local lines = { (table.concat(THROUGHPUT, ","):gsub("%.", "_")) }
   for _, row in ipairs(rows) do
      local fields = {}
      for i, path in ipairs(THROUGHPUT) do
         fields[i] = field(row, path)
      end
      lines[#lines + 1] = table.concat(fields, ",")
   end
   return table.concat(lines, "\n") .. "\n"
end

return M
