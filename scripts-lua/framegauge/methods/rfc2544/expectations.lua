-- SPDX-License-Identifier: BSD-3-Clause

--- What can be expected of a device by RFC 2544 (framegauge.methods.expect): `throughput>=95%`.
--
-- A least throughput (a share of the line, or a load), and optionally the one frame size it is about. A
-- figure that cannot be called the device's decides nothing unless it reaches the value: then the device
-- carried it, whatever the tester could not do beyond. It is about the plain stream, not about those with
-- modifiers.
local loads = require "framegauge.traffic.loads"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.EXAMPLES = "'throughput>=95%', 'throughput>=800kfps' or 'throughput>=95%@64'"

local function met_by(rate, row)
   local wanted = loads.of_rate(rate, row.frame_size, row.theoretical_fps)
   if wanted and row.throughput_fps and row.throughput_fps >= wanted then
      return true
   elseif wanted and row.validity == "valid" then
      return false
   end
   return nil
end

--- Read one. It has besides `rate` and `frame_size`.
function M.parse(text, plan)
   local result, rest = text:match "^%s*([%w_]+)%s*>=%s*(.-)%s*$"
   if not result then
      return nil, "no comparison with >= in it"
   elseif result ~= "throughput" or not tables.contains(plan.rfc2544.tests, result) then
      return nil, ("the plan has no result '%s'"):format(result)
   end
   local value, size = rest:match "^(.-)%s*@%s*(%d+)$"
   local rate, message = units.parse_rate(value or rest)
   size = tonumber(size)
   if not rate then
      return nil, message
   elseif size and not tables.contains(plan.rfc2544.frame_sizes, size) then
      return nil, ("the plan has no frame size %d"):format(size)
   end
   return {
      rate = rate, frame_size = size,
      about = function(row) return not row.modifier and (not size or size == row.frame_size) end,
      met = function(row) return met_by(rate, row) end,
   }
end

--- Those of the throughput test.
function M.rows(results)
   return results.throughput or {}
end

return M
