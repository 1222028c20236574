-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 6349: the path, then the transfers against the window, and the three metrics.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local l4 = require "framegauge.methods.l4.report.evidence"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.rfc6349.result"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "RFC 6349 TCP throughput"
M.evidence = l4.body
M.trial_columns = l4.COLUMNS

local function found(result)
   return result.results.rfc6349 or { transfers = {} }
end

function M.test_names()
   return "TCP throughput"
end

function M.notes(result, add)
   local path = found(result)
   local mtu, rtt = path.path_mtu, path.baseline
   if not mtu then
      return
   end
   add(mtu.mtu and ("Path MTU: %d bytes%s."):format(mtu.mtu, mtu.given and ", given" or "")
      or "Path MTU: no probe came back.")
   add(rtt and rtt.rtt_min_ns and ("Baseline round trip: %s, the shortest of %s."):format(
      format.nanoseconds(rtt.rtt_min_ns), format.plural(rtt.rtt_samples, "sample")))
   for _, row in ipairs(path.bandwidth or {}) do
      add(row.bandwidth_l1_bps and ("Bottleneck bandwidth, %s: %s; TCP can have %s."):format(row.direction,
         units.format_bits(row.bandwidth_l1_bps, 1), units.format_bits(row.achievable_bps)))
   end
   for _, row in ipairs(path.transfers) do
      for _, warning in ipairs(row.warnings) do
         add(("%s, %.4g %% of the BDP: %s."):format(row.direction, row.window_share * 100, warning))
      end
   end
end

local function path_facts(path)
   local mtu, rtt = path.path_mtu or {}, path.baseline or {}
   local tested = mtu.given and "given" or ("tested up to %s, %s"):format(tostring(mtu.tested_up_to),
      format.plural(mtu.probes or 0, "probe"))
   return tables.facts {
      { "Path MTU", mtu.mtu and ("%d bytes (%s)"):format(mtu.mtu, tested) or "not found" },
      { "Baseline RTT", rtt.rtt_min_ns and ("%s, the shortest of %s"):format(formatters.nanoseconds(rtt.rtt_min_ns),
         format.plural(rtt.rtt_samples, "sample")) },
      { "Mean, longest", rtt.rtt_mean_ns and formatters.nanoseconds(rtt.rtt_mean_ns) .. ", "
         .. formatters.nanoseconds(rtt.rtt_max_ns) },
   }
end

local DEFINITIONS = {
   { "Windows", "buffers of both ends, of all connections together, as a share of the bandwidth-delay product." },
   { "Achievable", "a window each round trip, up to what TCP can have of the bottleneck." },
   { "Transfer time ratio", "the time from the first byte sent to the last one acknowledged, over the ideal time at the most that TCP can have of the bottleneck (RFC 6349, 4.1)." },
   { "Efficiency", "bytes that were not retransmitted, of all that were sent (4.2)." },
   { "Buffer delay", "how much longer than the baseline the mean round trip was (4.3): TCP's smoothed one at the end of each interval." },
   { "Hint", "what the three together usually mean (5); it is no verdict." },
}

-- "east → west, both ways at once"
local function direction(row)
   return formatters.direction(row.direction) .. (row.both_directions and ", both ways at once" or "")
end

local function chart(rows)
   return lines.draw {
      id = "windows", title = "Throughput against the window", rows = rows, group = direction,
      description = "Payload bits per second with windows of several shares of the bandwidth-delay product.",
      caption = "What the transfers had, and what the window and the bottleneck allow.",
      x = { of = function(row) return row.window_share * 100 end, label = "windows, % of the bandwidth-delay product",
         scale = "values" },
      y = { label = "payload, bit/s" },
      lines = {
         { y = "achievable_bps", class = "theory", plain = true, name = "achievable", once = true },
         { y = "achieved_bps", name = tostring },
      },
      say = function(row, y) return ("%.4g %%: %s"):format(row.window_share * 100, units.format_bits(y)) end,
   }
end

function M.summary(result)
   return tables.of {
      result_rows.TRANSFER, "summary", found(result).transfers, caption = "TCP throughput and its three metrics",
      below = tables.reasons,
   }
end

function M.sections(result)
   local path = found(result)
   if not path.path_mtu then
      return {}
   end
   local bandwidth = path.bandwidth or {}
   return {
      { "The path", "RFC 6349, sections 3.1 and 3.2", {
         path_facts(path),
         #bandwidth > 0 and tables.of {
            result_rows.BANDWIDTH, "html", bandwidth, caption = "Bottleneck bandwidth",
            below = tables.reasons,
         },
      } },
      #path.transfers > 0 and { "TCP throughput", "RFC 6349, sections 3.3 and 4", {
         chart(path.transfers),
         tables.of {
            result_rows.TRANSFER, "details", path.transfers, caption = "The transfers", class = "compact",
            below = function(row) return row.hint end,
         },
         tables.definitions(DEFINITIONS),
      } } or nil,
   }
end

--- Figures to remember: of the largest window of each direction.
function M.tiles(result)
   local list = {}
   for i, group in ipairs(formatters.grouped(found(result).transfers, direction)) do
      local row = formatters.largest(group.rows, "window_share")
      list[i] = {
         group.name, row.achieved_bps and units.format_bits(row.achieved_bps) or "not ended", "",
         row.transfer_time_ratio and ("of %s; transfers take %.3f times the ideal time"):format(
            units.format_bits(row.achievable_bps), row.transfer_time_ratio), row = row,
      }
   end
   return list
end

return M
