-- SPDX-License-Identifier: BSD-3-Clause

--- TCP throughput (RFC 6349, 3.3 and 4): connections move equal payloads with windows of a size, one
-- way, the other, and both at once; and the three metrics of that.
local common = require "framegauge.methods.rfc6349.common"
local ethernet = require "framegauge.core.ethernet"
local records = require "framegauge.tester.l4.record"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.NAME = "rfc6349.transfer"

-- Segments: TCP sends no part of a segment while it waits, and every second one is acknowledged at once.
local STEP = 2
local INTERVALS = 10 -- of a transfer that is too short for a sample each second

-- The parameters of a direction: its window, its possible goodput, and the payload of each connection.
local function task(plan, path, from, share, both)
   local o, rtt = plan.rfc6349, path.rtt
   local one = common.settings(plan, path)
   one.timestamps = one.tcp.timestamps
   local bandwidth = path.bandwidth[from]
   local bdp = common.bdp(bandwidth, rtt)
   local mss = path.mtu - ethernet.header_octets(one.ip, one.timestamps and "tcp+ts" or "tcp")
   local window = mss * STEP * math.ceil(share * bdp / o.connections / mss / STEP)
   local most = common.achievable(bandwidth, one, both)
   local achievable = math.min(most, common.window_limited(window * o.connections, rtt))
   return {
      bdp = bdp, window = window, most = most, achievable = achievable,
      octets = math.max(1, math.floor(achievable * o.duration / 8 / o.connections)),
   }
end

local function client_of(record, from)
   return record.sides[from].apps[1]
end

-- Mean and greatest of TCP's smoothed round trip at the end of each interval of the transfer.
local function round_trips(client)
   local sum, n, most = 0, 0, nil
   for _, interval in ipairs(client.series) do
      if interval.sampled > 0 and interval.rtt_us > 0 then
         sum, n, most = sum + interval.rtt_us * 1e3, n + 1, math.max(most or 0, interval.rtt_us * 1e3)
      end
   end
   return n > 0 and sum / n or nil, most, n
end

-- Seconds from the first byte sent to the last acknowledged; nil when it did not come so far.
local function actual_s(client, wanted)
   return client.total.octets_out >= wanted and client.last_s - client.first_s or nil
end

local function metrics(row, path, t, client, side)
   local again = records.count(side, "octets_retransmitted")
   row.retransmitted_bytes, row.retransmitted_segments = again, records.count(side, "segments_retransmitted")
   row.timeouts = records.count(side, "timeouts")
   row.efficiency_percent = common.efficiency(client.total.octets_out + again, again)
   row.rtt_mean_ns, row.rtt_max_ns, row.rtt_samples = round_trips(client)
   row.buffer_delay_percent = row.rtt_mean_ns and common.buffer_delay(row.rtt_mean_ns, path.rtt * 1e9)
   if row.actual_s then
      row.achieved_bps = row.payload_bytes * 8 / row.actual_s
      row.transfer_time_ratio = common.transfer_time_ratio(row.actual_s, row.payload_bytes, t.most)
      row.achieved_percent = 100 * row.achieved_bps / t.achievable
      row.hint = common.hint(row.transfer_time_ratio, row.efficiency_percent, row.buffer_delay_percent or 0)
   end
end

-- A port may be faster than the bottleneck by this share of its line, and still be the bottleneck.
local LINE_TOLERANCE = 0.01

-- Whether data beyond the bandwidth-delay product waits for the tester's own line: except for one burst,
-- segments wait there before they are made, so the round trips show no queue in the path.
local function waits_here(tester, path, from, row)
   local line_rate = tester.ports[from].line_rate
   return line_rate and path.bandwidth[from] >= (1 - LINE_TOLERANCE) * line_rate and row.windows > row.bdp
end

-- Reservations about a row.
-- @param here  as of waits_here()
local function doubts(plan, row, here)
   if here and row.rtt_mean_ns then
      row.warnings[1] = "the tester's own line is the bottleneck: data beyond the bandwidth-delay product waits in the tester, so the buffer delay shows little of the path"
   end
   if not row.actual_s then
      row.validity = "invalid"
      row.reasons[#row.reasons + 1] = ("the transfers had not ended after %s (rfc6349.patience)"):format(
         units.format_time(plan.rfc6349.duration * plan.rfc6349.patience))
   elseif row.transfer_time_ratio < 0.99 then
      row.warnings[#row.warnings + 1] = "faster than the bottleneck allows: its bandwidth is higher than was found, or the path compresses or caches"
   end
end

local function row_of(plan, tester, path, record, from, share, t, both)
   local o, client = plan.rfc6349, client_of(record, from)
   local octets = t.octets * o.connections
   local row = {
      direction = common.direction(plan, from), both_directions = both, window_share = share,
      window = t.window, windows = t.window * o.connections, bdp = t.bdp, connections = o.connections,
      window_scale = common.window_scale(t.window), payload_bytes = octets, bottleneck_bps = t.most,
      achievable_bps = t.achievable, ideal_s = octets * 8 / t.most, actual_s = actual_s(client, octets),
      rtt_baseline_ns = path.rtt * 1e9, validity = record.validity, reasons = { unpack(record.reasons) },
      warnings = {}, trial = record.trial,
   }
   local here = waits_here(tester, path, from, row)
   metrics(row, path, t, client, record.sides[from])
   if row.hint and here then
      row.hint = common.hint(row.transfer_time_ratio, row.efficiency_percent, 0)
   end
   doubts(plan, row, here)
   return row
end

local function outcome(record)
   local rate = 0
   for _, side in ipairs(record.sides) do
      local client = side.apps[1]
      local seconds = client.last_s - client.first_s
      rate = rate + (seconds > 0 and client.total.octets_out * 8 / seconds or 0)
   end
   return units.format_bits(rate)
end

--- Make one window's transfer.
-- @param path   what is known: mtu, rtt (seconds), bandwidth[from] (bits per second at layer 1)
-- @param from   list of the ports that send: { 1 }, { 2 } or { 1, 2 } for both at once
-- @param share  of the bandwidth-delay product that the windows of all connections are together
-- @return a row for each direction
function M.run(plan, tester, session, path, from, share)
   local o, settings, tasks, both = plan.rfc6349, common.settings(plan, path), {}, #from > 1
   settings.from, settings.by_port, settings.connections = from, {}, o.connections
   for _, port in ipairs(from) do
      local t = task(plan, path, port, share, both)
      tasks[port] = t
      settings.by_port[port] = {
         octets = t.octets, tcp = setmetatable({ receive_buffer = t.window, send_buffer = t.window },
            { __index = settings.tcp }),
      }
   end
   local record = common.trial(plan, tester, session, {
      test = M.NAME, title = ("window of %.4g %% of the bandwidth-delay product"):format(share * 100),
      phase = "measure", direction = both and "both" or common.direction(plan, from[1]),
      seconds = o.duration * o.patience, interval = math.min(1, o.duration / INTERVALS),
      setting = { mtu = path.mtu, window_share = share, connections = o.connections, tcp = o.tcp },
      outcome = outcome,
   }, "TCP_STREAM", settings, function(sides)
      return sides[from[1]].apps[1].total.octets_out > 0
   end)
   return tables.map(from, function(port)
      return row_of(plan, tester, path, record, port, share, tasks[port], both)
   end)
end

return M
