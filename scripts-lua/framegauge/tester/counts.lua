-- SPDX-License-Identifier: BSD-3-Clause

--- What the engine counted in a trial, as plain tables.
local tables = require "framegauge.core.tables"
local altered = require "framegauge.tester.altered"
local api = require "framegauge.core.api"
local delays = require "framegauge.tester.delays"
local faults = require "framegauge.traffic.faults"
local ffi = require "ffi"

local measures = require "framegauge.tester.measures"
local series = require "framegauge.tester.series"

local C = api.C
local M = {}

-- ours = the engine's
local STREAM = {
   tx = "tx", rx = "rx", duplicates = "duplicates", stale = "stale", reordered = "reordered",
   reordering_extent_max_frames = "max_extent", late = "late", unsent = "unsent", refused = "refused",
   no_mbuf = "no_mbuf",
   lag_max_ns = "worst_lag_ns", tx_duration_ns = "tx_duration_ns", tx_wait_ns = "tx_wait_ns",
   intended_frames = "intended",
   loss_bursts = "loss_bursts", loss_burst_max_frames = "max_loss_burst", excess = "excess",
   last_lost_ns = "last_lost_ns", gap_max_ns = "longest_gap_ns", gap_max_begin_ns = "gap_begin_ns",
   off_schedule = "off_schedule", tx_bytes = "octets", rx_bytes = "rx_octets",
   rx_duration_ns = "rx_duration_ns",
   expired = "expired", payload_checked = "payload_checked",
   first_arrival_ns = "first_arrival_ns", last_arrival_ns = "last_arrival_ns",
}
local PORT = {
   rx_missed = "rx_missed", rx_no_mbuf = "rx_no_mbuf", rx_overflow = "rx_overflow", rx_errors = "rx_errors",
   tx_errors = "tx_errors",
   link_changes = "link_changes", link_faults = "link_faults", link_down = "link_down",
   removed = "removed", intercepted = "intercepted", misdirected = "misdirected", unsolicited = "unsolicited",
   queries = "queries", replies = "replies", updates = "updates", rx_unstamped = "rx_unstamped",
   rx_stamp_jumps = "rx_stamp_jumps", rx_pause = "rx_pause", paused_ns = "paused_ns",
   tx_waiting = "tx_waiting",
}

local LCORE = {
   id = "lcore", polls = "polls", poll_gap_max_ns = "longest_gap_ns", stalled_ns = "stalled_ns",
   late_ns = "late_ns",
}

-- Only for ports whose card has exact counters.
local CARD = {
   tx = "tx_handed", card_tx = "tx_card", card_rx = "rx_card", rx = "rx_fetched", card_rx_total = "rx_total",
   tx_unaccounted = "tx_unaccounted", rx_unaccounted = "rx_unaccounted",
   rx_missed = "rx_missed", rx_no_mbuf = "rx_no_mbuf", rx_errors = "rx_errors",
}

local function port_result(engine, i)
   local result = ffi.new("struct fg_port_result")
   C.fg_engine_port_result(engine, i - 1, result)
   return result
end

--- Source and error bound of the time stamps that port i took of arrivals in the trial.
-- A stamp of the wire is exact but for rounding; a stamp of the TSC was taken at the receiver's next poll.
local function stamps(engine, i, on_wire)
   if on_wire then
      return "wire", 1
   end
   local result = port_result(engine, i)
   local card = tonumber(result.rx_stamp_error_ns)
   return card > 0 and "card" or "tsc", card > 0 and card or tonumber(result.rx_wait_ns)
end

local function tags(engine, stream, most)
   local kept, list = ffi.new("int64_t[?]", most), {}
   for i = 1, C.fg_engine_tags(engine, stream, kept, most) do
      list[i] = tonumber(kept[i - 1])
   end
   return list
end

--- Polls and poll gaps of every lcore.
function M.lcores(engine, n)
   local list = {}
   for i = 1, n do
      local result = ffi.new("struct fg_lcore_result")
      C.fg_engine_lcore_result(engine, i - 1, result)
      list[i] = api.numbers(result, LCORE)
   end
   return list
end

-- Counts of the stream that the engine has at this index.
local function direction_of(engine, i, stream, o)
   local result = ffi.new("struct fg_stream_result")
   C.fg_engine_stream_result(engine, i, result)
   local direction = api.numbers(result, STREAM)
   direction.name, direction.share = stream.name, stream.share
   direction.from = o.ports[stream.from].name
   -- the number of frames of a random process is known now
   direction.intended_fps = stream.by_count and direction.intended_frames / o.duration or stream.fps
   direction.sends_s, direction.exact = stream.sends_s, stream.exact
   direction.latency = delays.latency(result.latency, stamps(engine, stream.to, o.on_wire))
   local port = port_result(engine, stream.from)
   direction.stamp_held_ns = tonumber(port.tx_held_ns)
   direction.own_queue_max_ns = result.own_queue_max_ns > 0 and tonumber(result.own_queue_max_ns) or nil
   if direction.latency and not stream.sent_elsewhere then
      delays.add_sender_error(direction)
   end
   direction.delays = o.delays and direction.latency and delays.pack(engine, i) or nil
   direction.uneven, direction.negative = stream.uneven, tonumber(result.latency.negative)
   direction.substreams = result.parts > 1 and result.parts or nil
   direction.unordered = result.unordered or nil
   direction.tags_ns = o.tags > 0 and tags(engine, i, o.tags) or nil
   direction.wrong_tx, direction.wrong_rx = tonumber(result.wrong.sent), tonumber(result.wrong.received)
   direction.errors = stream.errors and faults.counts(stream.errors, result)
   if stream.over_time then
      local intervals, n = series.intervals(engine, i, o.duration, stream.over_time)
      direction.series = series.read(intervals, n, stream.over_time)
      direction.intervals = stream.kept and { list = intervals, n = n } or nil
      direction.series.reordered = not result.unordered and direction.series.reordered or nil
      direction.availability = series.availability(result.available)
   end
   direction.altered, direction.translated = altered.read(result), altered.translated(result)
   direction.reordering_extent_unknown_frames = tonumber(result.order.extent_beyond)
   direction.marks = stream.marks and measures.read_marks(engine, i) or nil
   if stream.measure then
      direction.measured = measures.read(engine, i, stream.measure, result, o.ports)
      direction.measured.outage_error_ns = direction.latency and direction.latency.error_bound_ns
   end
   return direction
end

--- Counts of every stream that is measured.
-- @param streams  in the engine's order: list of { place = the engine's number, where streams of other
--                 agents are between, name =, from =, to = (indexes of ports), sent_elsewhere = whether
--                 another tester sends it; fps = intended load, of its port where it takes turns,
--                 share = of that load, or nil; uneven = whether it sends now and then, and sends_s = the
--                 seconds in which it has to send all; by_count = whether the number of its frames says its
--                 load, exact = whether the plan says how many; over_time = seconds of an interval of the
--                 series that was kept, or nil; marks = whether those were counted; measure = what else was
--                 asked for (framegauge.tester.measures), or nil; errors = those on purpose, as the plan has
--                 them, or nil; kept = whether the intervals of the series are wanted, too; unmeasured =
--                 whether its frames bear no signature, so that nobody knows what became of them }
-- @param o.duration  of the trial, seconds
-- @param o.ports     of the tester
-- @param o.tags      tagged frames asked for, of each
-- @param o.on_wire   are the stamps the wire's?
-- @param o.delays    whether all delays are wanted, as framegauge.tester.delays packs them
function M.directions(engine, streams, o)
   local list = {}
   for i, stream in ipairs(streams) do
      if not stream.unmeasured then
         list[#list + 1] = direction_of(engine, (stream.place or i) - 1, stream, o)
      end
   end
   return list
end

local QUEUE = { "tx_lcore", "rx_lcore", "tx", "rx", "passed", "first_due_ns", "first_ns" }

--- What each queue did, of ports that have several; nil where no port has.
function M.queues(engine, ports)
   local list, result = {}, ffi.new("struct fg_queue_result")
   for i, port in ipairs(ports) do
      for queue = 0, (port.queues or 1) - 1 do
         if (port.queues or 1) > 1 then
            C.fg_engine_queue_result(engine, i - 1, queue, result)
            list[#list + 1] = api.numbers(result, QUEUE, { port = port.name, queue = queue })
         end
      end
   end
   return list[1] and list
end

--- Drops, errors and foreign frames of every port.
function M.ports(engine, ports)
   local list = {}
   for i, port in ipairs(ports) do
      local result = port_result(engine, i)
      list[i] = api.numbers(result, PORT)
      list[i].name, list[i].foreign_by_kind = port.name, measures.foreign(result)
      list[i].rx_ring = port.rx_ring
      if result.is_accounted > 0 then
         list[i].card = api.numbers(result, CARD)
         list[i].card.port = port.name
      end
   end
   return list
end

--- The card's own counters and ours, for ports that have some; nil where no port has.
-- @param ports  as M.ports gave them
function M.cards(ports)
   local list = tables.field(ports, "card")
   return list[1] and list
end

return M
