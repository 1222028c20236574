-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 6349 on the page: the path, then the transfers against the window, and the three metrics.
local Plot = require "framegauge.report.chart.plot"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.units"
local words = require "framegauge.report.html.words"

local M = {}

local count, field, nanoseconds = words.count, words.field, words.nanoseconds

local function transfers(result)
   return result.results.rfc6349 and result.results.rfc6349.transfers or {}
end

-- "east → west, both ways at once"
local function direction(row)
   return words.direction(row.direction) .. (row.both_directions and ", both ways at once" or "")
end

local function percent(value)
   return ("%.4g"):format(value * 100)
end

local SUMMARY = {
   { "Direction", "", direction, left = true },
   { "Windows", "% of BDP", field("window_share", percent) },
   { "Achieved", "", field("achieved_bps", units.format_bits) },
   { "Achievable", "", field("achievable_bps", units.format_bits) },
   { "Transfer time", "ratio", field("transfer_time_ratio", words.fixed(3)) },
   { "Efficiency", "%", field("efficiency_percent", words.fixed(2)) },
   { "Buffer delay", "%", field("buffer_delay_percent", words.fixed(1)) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local function below(row)
   local list = { unpack(row.reasons) }
   for _, warning in ipairs(row.warnings or {}) do
      list[#list + 1] = warning
   end
   return #list > 0 and table.concat(list, "; ") or nil
end

--- The table at the top.
function M.summary(result)
   return tables.build {
      caption = "TCP throughput and its three metrics", columns = SUMMARY, rows = transfers(result),
      below = below,
   }
end

local BANDWIDTH = {
   { "Direction", "", direction, left = true },
   { "Frame", "bytes", field "frame_size" },
   { "Bandwidth", "frames/s", field("bandwidth_fps", count) },
   { "Layer 1", "", field("l1_bps", units.format_bits) },
   { "Layer 2", "", field("l2_bps", units.format_bits) },
   { "Layer 3", "", field("l3_bps", units.format_bits) },
   { "TCP at most", "payload", field("achievable_bps", units.format_bits) },
   { "Ended by", "", field "limited_by", left = true },
   { "Trials", "", field("trials", count) },
   { "Verdict", "", field("verdict", words.verdict), left = true },
}

local function path_facts(found)
   local mtu, rtt = found.path_mtu or {}, found.baseline or {}
   local tested = mtu.given and "given" or ("tested up to %s, %s"):format(tostring(mtu.tested_up_to),
      words.plural(mtu.probes or 0, "probe"))
   return tables.facts {
      { "Path MTU", mtu.mtu and ("%d octets (%s)"):format(mtu.mtu, tested) or "not found" },
      { "Baseline RTT", rtt.rtt_ns and ("%s, the shortest of %s"):format(nanoseconds(rtt.rtt_ns),
         words.plural(rtt.samples, "sample")) },
      { "Mean, longest", rtt.mean_ns and nanoseconds(rtt.mean_ns) .. ", " .. nanoseconds(rtt.max_ns) },
   }
end

local DETAILS = {
   { "Direction", "", direction, left = true },
   { "Windows", "% of BDP", field("window_share", percent) },
   { "of each", "octets", field("window", count) },
   { "Scale", "", field "window_scale" },
   { "Payload", "octets", field("octets", count) },
   { "Ideal", "s", field("ideal_s", words.fixed(3)) },
   { "Actual", "s", field("actual_s", words.fixed(3)) },
   { "Sent again", "octets", field("retransmitted_octets", count) },
   { "Time-outs", "", field("timeouts", count) },
   { "RTT mean", "", field("mean_rtt_ns", nanoseconds) },
   { "max", "", field("max_rtt_ns", nanoseconds) },
}

local DEFINITIONS = {
   { "Windows", "buffers of both ends, of all connections together, as a share of the bandwidth-delay "
      .. "product." },
   { "Achievable", "a window each round trip, up to what TCP can have of the bottleneck." },
   { "Transfer time ratio", "the time from the first octet sent to the last one acknowledged, over the ideal "
      .. "time at "
      .. "the most that TCP can have of the bottleneck (RFC 6349, 4.1)." },
   { "Efficiency", "octets that were not sent again, of all that were sent (4.2)." },
   { "Buffer delay", "how much longer than the baseline the mean round trip was (4.3): TCP's smoothed one at "
      .. "the end "
      .. "of each interval." },
   { "Hint", "what the three together usually mean (5); it is no verdict." },
}

-- Shares that were tried, ascending.
local function shares(rows)
   local list, seen = {}, {}
   for _, row in ipairs(rows) do
      list[#list + 1] = not seen[row.window_share] and row.window_share * 100 or nil
      seen[row.window_share] = true
   end
   table.sort(list)
   return list
end

local function points(rows, key)
   local list = {}
   for _, row in ipairs(rows) do
      local at = row.window_share * 100
      list[#list + 1] = row[key] and {
         at, row[key], ("%.4g %%: %s"):format(at, units.format_bits(row[key])),
      } or nil
   end
   table.sort(list, function(a, b) return a[1] < b[1] end)
   return list
end

local function grouped(rows)
   local named = {}
   for i, row in ipairs(rows) do
      named[i] = setmetatable({ name = direction(row) }, { __index = row })
   end
   return words.grouped(named, "name")
end

local function chart(rows)
   local most = 0
   for _, row in ipairs(rows) do
      most = math.max(most, row.achieved_bps or 0, row.achievable_bps)
   end
   local plot = Plot.new {
      id = "windows", title = "Throughput against the window",
      description = "Payload bits per second with windows of several shares of the bandwidth-delay product.",
      x = { scale = scale.points(shares(rows), 0.05), label = "windows, % of the bandwidth-delay product" },
      y = { scale = scale.linear(most), label = "payload, bit/s" },
   }
   for i, group in ipairs(grouped(rows)) do
      plot:series {
         points = points(group.rows, "achievable_bps"), class = "theory",
         name = i == 1 and "achievable" or nil,
      }
      plot:series { points = points(group.rows, "achieved_bps"), class = "s" .. i, shape = i,
         name = group.name }
   end
   return plot:figure "What the transfers had, and what the window and the bottleneck allow."
end

--- List of { title, reference, body }.
function M.sections(result)
   local found, list = result.results.rfc6349, {}
   if not found then
      return list
   end
   list[1] = { "The path", "RFC 6349, sections 3.1 and 3.2", {
      path_facts(found),
      #found.bandwidth > 0 and tables.build {
         caption = "Bottleneck bandwidth", columns = BANDWIDTH, rows = found.bandwidth, below = below,
      },
   } }
   if #found.transfers > 0 then
      list[2] = { "TCP throughput", "RFC 6349, sections 3.3 and 4", {
         chart(found.transfers),
         tables.build { caption = "The transfers", columns = DETAILS, rows = found.transfers,
            class = "compact", below = field "hint" },
         tables.definitions(DEFINITIONS),
      } }
   end
   return list
end

--- Figures to remember: of the largest window of each direction.
function M.tiles(result)
   local list = {}
   for i, group in ipairs(grouped(transfers(result))) do
      local row = group.rows[1]
      for _, other in ipairs(group.rows) do
         row = other.window_share > row.window_share and other or row
      end
      list[i] = {
         group.name, row.achieved_bps and units.format_bits(row.achieved_bps) or "not ended", "",
         row.transfer_time_ratio and ("transfer time ratio %.3f"):format(row.transfer_time_ratio),
      }
   end
   return list
end

return M
