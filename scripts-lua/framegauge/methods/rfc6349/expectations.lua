-- SPDX-License-Identifier: BSD-3-Clause

--- What can be expected of a path by RFC 6349 (framegauge.methods.expect): `efficiency>=99%`.
--
-- One of the three metrics or the throughput, of all transfers or, behind an @, of those with windows of one
-- share of the bandwidth-delay product.
local bound = require "framegauge.methods.bound"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.EXAMPLES = "'transfer_time_ratio<=1.1@100%', 'efficiency>=99%', 'buffer_delay<=20%' or "
   .. "'throughput>=900Mbps'"

local function share_of(key)
   return function(row)
      return row[key] and row[key] / 100
   end
end

local FIGURES = {
   transfer_time_ratio = { bound.number, "<=", function(row) return row.transfer_time_ratio end },
   efficiency = { units.parse_ratio, ">=", share_of "efficiency_percent" },
   buffer_delay = { units.parse_ratio, "<=", share_of "buffer_delay_percent" },
   throughput = { units.parse_bits, ">=", function(row) return row.achieved_bps end },
}

--- Read one.
function M.parse(text, plan)
   local key, sign, rest = text:match "^%s*([%w_]+)%s*([<>]=)%s*(.-)%s*$"
   if not key then
      return nil, "no figure with a comparison"
   end
   local value, window = rest:match "^(.-)%s*@%s*(.-)$"
   local share = window and units.parse_ratio(window)
   if window and not tables.contains(plan.rfc6349.windows, share) then
      return nil, ("the plan has no windows of %s"):format(window)
   end
   local met, why = bound.parse(FIGURES, key, sign, value or rest)
   return met and {
      about = function(row) return not share or row.window_share == share end,
      met = met,
   }, why
end

--- The transfers.
function M.rows(results)
   return results.rfc6349 and results.rfc6349.transfers or {}
end

return M
