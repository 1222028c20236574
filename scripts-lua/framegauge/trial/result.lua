-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of what a trial of frames measures: latency, counts by direction, evidence (framegauge.text.rows).
local measured = require "framegauge.trial.measured"
local mixes = require "framegauge.core.mixes"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

local list, record = rows.list, rows.record

M.CALIBRATION = { "current", "stale", "missing", "not-needed" }
M.MODIFIERS = {
   "broadcast", "management-frames", "routing-updates", "random-networks", "random-ports", "random-macs",
}

local CORRECTED = record("corrected", "the same figures less the tester's own least latency", {
   { "min_ns", "signed", "minimum" },
   { "mean_ns", "signed", "mean", col = "Corrected", unit = "mean, µs", at = "latency", optional = true,
      n = "count" },
   { "p50_ns", "signed", "median", n = "count" }, { "p99_ns", "signed", "99 %", n = "count" },
   { "p999_ns", "signed", "99.9 %", n = "count" },
   { "max_ns", "signed", "maximum" },
})

-- A definition other than first bit to first bit may make a latency negative.
local function latency(name, type)
   return record(name, "a latency of frames", {
      { "count", "count", "frames measured: every test frame received", col = "Frames", unit = "measured",
         at = "latency" },
      { "min_ns", type, "exact over all of them", col = "Min", at = "latency" },
      { "mean_ns", type, "exact over all of them", col = "Mean", at = "latency", main = true,
         n = "count" },
      { "p50_ns", type, "median; percentiles (RFC 2330) are the least value that this share of the frames did not exceed, over several directions of all their frames, over several trials the largest of theirs", col = "Median", at = "latency", n = "count" },
      { "p99_ns", type, "99 %", col = "p99", at = "latency", n = "count" },
      { "p999_ns", type, "99.9 %", col = "p99.9", at = "latency", n = "count" },
      { "max_ns", type, "exact over all of them", col = "Max", at = "latency", n = "count" },
      { "source", { "wire", "tsc", "card", "testers" }, "what stamped the frames: the virtual wire, the processor's clock (TSC) around the burst call, the card as they arrived (at departure as `tsc`)" },
      { "error_bound_ns", "number", "how far a timestamp may be off, and where frames left off schedule the greatest lag: they wait for each other in the device" },
      { "clock_error_ns", "number", "between two testers: how far their clocks may have been apart",
         optional = true },
      { "definition", "text", "which bits the interval lies between (RFC 1242)" },
      { "calibration", M.CALIBRATION, "in rows of results: what is known of the tester's own latency",
         optional = true },
      { "tester_min_ns", "signed", "with a current calibration: the minimum time a frame of this size takes through the tester alone", optional = true },
      { "corrected", CORRECTED, "with a current calibration: the same figures less that", optional = true },
   })
end

M.LATENCY = latency("latency", "number")
M.SIGNED_LATENCY = latency("signed_latency", "signed")

M.DELAY = record("delay", "a delay from the first bit in to the last bit out", {
   { "min_ns", "signed", "minimum" }, { "mean_ns", "signed", "mean" }, { "max_ns", "signed", "maximum" },
})

M.MARKS = list(record("mark", "a marking with which frames arrived", {
   { "pcp", "count", "priority of the VLAN tag", optional = true },
   { "dei", "count", "drop eligible indicator", optional = true },
   { "dscp", "count", "DiffServ codepoint", optional = true }, { "frames", "ordinal", "how many" },
}))

M.ALTERED = record("altered", "frames that arrived with the signature of a test frame and were not that frame", {
   { "quoted", "ordinal", "quoted in an ICMP error", optional = true },
   { "fragments", "ordinal", "last fragments", optional = true },
   { "wrong_length", "ordinal", "cut, or joined with others", optional = true },
   { "wrong_protocol", "ordinal", "with another protocol in IP", optional = true },
   { "wrong_payload", "ordinal", "with another payload, of those that were compared", optional = true },
})

M.TRANSLATED = record("translated", "address and port with which the first frame arrived, where a device changed them", {
   { "source", "text", "source address and port", optional = true },
   { "destination", "text", "destination address and port", optional = true },
})

M.ERROR = record("injected_error", "frames with one kind of error that the sender makes on purpose", {
   { "kind", { "skip", "duplicate", "reorder", "delay", "ip_checksum", "l4_checksum", "ip_length",
      "l4_length", "payload", "fcs", "runt", "oversize" }, "kind of error", col = "Error", at = "errors" },
   { "sent", "count", "frames sent with it", col = "Sent", unit = "frames", at = "errors" },
   { "received", "count", "frames of these that arrived", optional = true, col = "Arrived", unit = "frames",
      at = "errors" },
})

M.AVAILABILITY = record("availability", "availability by the ten-second rule (ITU-T Y.1563)", {
   { "percent", "number", "share of the seconds that were available" }, { "seconds", "count", "seconds in all" },
   { "unavailable_s", "count", "seconds that were not" },
   { "severely_errored_s", "count", "seconds in which more than half of the frames were lost, those in available time included" },
   { "tx", "count", "frames sent in available time" }, { "rx", "count", "frames received in available time" },
   { "ftd", record("available_delay", "a delay in available time, first bit to first bit",
      tables.joined(M.DELAY.rows, {
      { "p999_ns", "signed", "99.9 %" },
   })), "delay in available time", optional = true },
})

-- Lists of a stream over time; least, mean and greatest are taken over the intervals of a point.
local function points(key, help)
   return { key, list("signed", { most = 900 }), help }
end

M.SERIES = record("series", "a stream over time: lists with an entry for each point. A frame counts in the interval in which it was sent, however late it came", {
   { "interval_s", "positive", "time of a point: one second (or tenth) in trials of up to 900 of them, several in longer ones" },
   points("tx", "frames sent"), points("rx", "frames received"),
   points("ir_min_bps", "minimum rate of an interval"), points("ir_mean_bps", "mean rate"),
   points("ir_max_bps", "maximum rate of an interval"),
   points("ftd_min_ns", "minimum delay, first bit to first bit; 0 where nothing arrived"),
   points("ftd_mean_ns", "mean delay"), points("ftd_max_ns", "maximum delay"),
   points("fdv_max_ns", "maximum variation of an interval (99.9th percentile less minimum)"),
   { "reordered", list("count", { most = 900 }), "frames out of order", optional = true },
   points("duplicates", "further copies"),
})
M.SERIES.is_even = true

local LOST_MIN = { "lost_min", "count", "the fewest frames that may be lost, where frames came so late that they are not told from further copies (`stale`): the loss is between this and `lost`", optional = true,
   col = "At least", unit = "lost" }

local PAYLOAD_CHECKED = { "payload_checked", "count", "frames whose payload was compared with what was sent: one of 64, and from the first that differs on all; those that differ are in `altered` and are not received. 0 where all are compared (`measure: [payload]`) or frames have none",
   optional = true }

--- Counts that a stream and a direction of a trial have in common.
M.COUNTS = {
   PAYLOAD_CHECKED,
   rows.with({ LOST_MIN }, { lost_min = { at = "terminal summary loss" } })[1],
   { "expired", "count", "frames that came later than `traffic.t_max` after they were sent: lost (RFC 7680), or further copies", optional = true, col = "Too late", unit = "frames", at = "loss" },
   { "loss_bursts", "count", "runs of frames lost in a row", col = "Bursts", unit = "of loss", at = "loss" },
   { "loss_burst_max_frames", "count", "the longest of them", col = "Longest", unit = "frames", at = "loss" },
   { "duplicates", "count", "further copies received", col = "Duplicates", unit = "frames", at = "order" },
   { "reordered", "count", "frames out of order by RFC 4737; null where frames came over several queues of a port, whose order is not known", null = true, col = "Reordered", unit = "frames", at = "order" },
   { "reordering_extent_max_frames", "count", "largest reordering extent (RFC 4737, 4.2); null as `reordered`", null = true },
   { "stale", "count", "frames too far out of order to tell first copies from further ones: later than the waiting time, or than the memory of the tester reaches" },
   { "own_queue_max_ns", "number", "longest wait of a frame in the tester's own port", optional = true,
      col = "Own queue", unit = "longest", as = "time", at = "order", better = false },
   { "gap_max_ns", "number", "longest time between two arrivals", null = true, col = "Longest gap",
      at = "loss" },
   { "wrong_tx", "count", "frames with errors made on purpose, sent", optional = true, better = false },
   { "wrong_rx", "count", "frames with errors made on purpose, received", optional = true },
   { "altered", M.ALTERED, "what arrived with the signature of a test frame and was not that frame, by kind",
      optional = true },
   { "translated", M.TRANSLATED, "address and port with which the first frame arrived, if a device had changed them (NAT)", optional = true },
   { "errors", list(M.ERROR), "errors made on purpose, by kind", optional = true },
   { "measured", measured, "further figures", optional = true },
}

M.DIRECTION = record("direction", "counts of one direction of a trial", {
   { "direction", "text", "`from->to`, or the name of a stream" },
   { "share", "positive", "of the frames of its port, where it does not send all of them; `offered_fps` is the load of the whole port", optional = true },
   { "intended_frames", "count", "frames the schedule held" },
   { "intended_fps", "number", "its own load, where streams have loads of their own", optional = true },
   { "offered_fps", "number", "the load really sent, by the first and the last departure" },
   { "tx", "count", "test frames sent" }, { "rx", "count", "different test frames received" },
   { "tx_bytes", "count", "their bytes with FCS", optional = true }, { "rx_bytes", "count", "the same",
      optional = true },
   { "lost", "count", "frames lost" }, { "loss_ratio", "ratio", "their share of those sent",
      n = "tx" },
   { "rx_duration_ns", "count", "from the first arrival to the last, where the gap between frames was not the standard's", optional = true },
}, M.COUNTS, {
   { "reordering_extent_unknown_frames", "ordinal", "late frames whose extent is not known: the maximum is then a lower bound", optional = true },
   { "substreams", "integer", "queues that share in sending the stream", optional = true },
   { "excess", "count", "how far the highest sequence number received lies beyond the last one sent" },
   { "late", "count", "frames that came due so late that they were given up; never sent" },
   { "off_schedule", "count", "frames that left so long after they were due that the device saw them closer together than intended" },
   { "unsent", "count", "frames that were still due when the trial ended; never sent" },
   { "refused", "count", "frames the port did not take at once" },
   { "no_mbuf", "count", "times no buffer was left for a frame that was due" },
   { "lag_max_ns", "number", "how long after it was due a frame left, at most", null = true },
   { "last_lost_ns", "number", "when the last lost frame was due, from the start of traffic; null when none was lost", null = true },
   { "gap_max_begin_ns", "number", "when the longest gap between two arrivals began", null = true },
   { "first_arrival_ns", "count", "when the first frame arrived, from the start of traffic",
      optional = true },
   { "last_arrival_ns", "count", "arrival of the last one", optional = true },
   { "tags_ns", list "signed", "delays of the tagged frames, first bit to first bit", optional = true },
   { "latency", M.LATENCY, "of this direction; null when nothing was measured", null = true },
   { "no_latency", "text", "between agents on several machines: why their clocks give no delays",
     optional = true },
   { "availability", M.AVAILABILITY, "of a service or a stream that is kept over time", optional = true },
   { "series", M.SERIES, "the same second by second", optional = true },
   { "marks", M.MARKS, "of a service: with which marks frames arrived", optional = true },
})

M.MEMBERS = record("members", "memberships of multicast groups in a trial", {
   { "queries", "count", "of routers that the ports heard" },
   { "answers", "count", "groups that they reported because of these" },
   { "ports", list(record("member_times", "when a port joined its first group, and when it left that", {
      { "port", "text", "its name" },
      { "joined_ns", "number", "when the report left, from the start of traffic", optional = true },
      { "left_ns", "number", "when the leave left", optional = true },
   })), "each port" },
})

M.QUEUE = record("queue", "a queue of a port that has several", {
   { "port", "text", "its port", col = "Port", at = "queues" }, { "queue", "count", "its number",
      col = "Queue", at = "queues" },
   { "tx_lcore", "count", "lcore that sends", col = "Sends", unit = "lcore", at = "queues" },
   { "rx_lcore", "count", "lcore that receives", col = "Receives", unit = "lcore", at = "queues" },
   { "tx", "count", "test frames sent over it", col = "Sent", unit = "frames", at = "queues" },
   { "rx", "count", "test frames received over it", col = "Received", unit = "frames", at = "queues" },
   { "passed", "count", "of these, frames that another lcore measures", col = "Passed on", unit = "frames",
      at = "queues" },
   { "first_due_ns", "count", "its first departure since the start, as scheduled", col = "First",
      unit = "due", as = "time", at = "queues" },
   { "first_ns", "count", "and as it was" },
   { of = function(queue) return queue.first_ns - queue.first_due_ns end, col = "late by", as = "time",
      at = "queues" },
})

M.CARD = record("card", "the counters of a port's card and the tester's own, of a whole trial with learning and drain", {
   { "port", "text", "its port", col = "Port", at = "cards" },
   { "tx", "count", "frames handed to the card, test frames and others", col = "Handed over", unit = "frames",
      at = "cards" },
   { "card_tx", "count", "frames that the card counted as sent", col = "Sent", unit = "by the card",
      at = "cards" },
   { "card_rx_total", "count", "frames that its MAC received, pause frames aside; 0 where it does not tell",
      col = "Received", unit = "by its MAC", at = "cards" },
   { "card_rx", "count", "frames that its queues received", col = "Received", unit = "by its queues",
      at = "cards" },
   { "rx", "count", "frames that the tester fetched", col = "Fetched", unit = "frames", at = "cards" },
   { "rx_missed", "count", "frames for which it had no descriptor (imissed)", col = "Missed", unit = "frames",
      at = "cards" },
   { "rx_no_mbuf", "count", "times that its driver found no buffer (rx_nombuf)", col = "No buffer",
      unit = "times", at = "cards" },
   { "rx_errors", "count", "frames that arrived damaged (ierrors)", col = "Damaged", unit = "frames",
      at = "cards" },
   { "tx_unaccounted", "integer", "frames that the card counted as sent beyond those handed to it; negative where it sent fewer. Other than 0 makes the trial invalid", col = "Unaccounted", unit = "sent",
      at = "cards" },
   { "rx_unaccounted", "integer", "the same for received frames", col = "", unit = "received",
      at = "cards" },
})

--- In trials of every kind.
M.CARDS = { "cards", list(M.CARD), "of ports whose cards count exactly (net_ixgbe)", optional = true }

-- "1,937 + 1,937": what each direction lost.
local MAX_PARTS = 4

-- Of many directions a line has no room for all: how many lost frames, and how many at most.
local function lost_by_direction(trial)
   local parts, n, most = {}, 0, 0
   for i, direction in ipairs(trial.directions) do
      parts[i] = ("%d"):format(direction.lost)
      n, most = n + (direction.lost > 0 and 1 or 0), math.max(most, direction.lost)
   end
   if #parts < 2 or trial.lost <= 0 then
      return nil
   end
   return #parts <= MAX_PARTS and table.concat(parts, " + ")
      or ("%d of %d, at most %d"):format(n, #parts, most)
end

--- Frames that were never sent, of all directions.
function M.unsent(trial)
   local sum = trial.unsent or 0 -- a line of several trials has it already
   for _, direction in ipairs(trial.directions or {}) do
      sum = sum + direction.unsent
   end
   return sum
end

-- "3 of 4": of the management queries.
local function answered(trial)
   local management = trial.management
   return management and ("%d of %d"):format(management.replies, management.queries) or nil
end

local MIXES = tables.keys(mixes.CYCLES)

--- The type of a frame size: a number, or the name of a mix.
M.SIZE = rows.forms(function(value)
   return type(value) == "number" and "ordinal" or MIXES
end, "ordinal", MIXES)

--- What every trial has, of whatever method.
M.HEAD = {
   { "trial", "ordinal", "number", col = "Trial", at = "trials" },
   { "test", "text", "its test: `rfc2544.throughput`, `l4.TCP_STREAM` and so on" },
   { "title", "text", "of TCP, UDP and replay: what is tried, in words", optional = true, col = "Case",
      at = "trials" },
   { "phase", "text", "`search` (looking for the load, or the length or interval of bursts), `confirm` (the full-length trial that decides) or `measure`; of Y.1564 the service and its step", col = "Phase",
      at = "trials" },
   { "frame_size", M.SIZE, "of the frames, with FCS, or the name of a mix; null where they differ",
      null = true, col = "Frame", unit = "bytes", at = "trials" },
   { "direction", "text", "which way", col = "Direction", at = "trials" },
   { "modifier", M.MODIFIERS, "where the stream was not the plain one: its type", optional = true },
   { "duration_s", "positive", "for how long frames were sent", col = "Length", at = "trials" },
   { "time", { "wire-free", "wire-real", "tsc" }, "the clock it was measured by: `tsc` real time, taken from CLOCK_MONOTONIC_RAW, reckoned from the processor's time stamp counter, whose frequency is measured anew for each trial; `wire-real` the wire's time in step with real time; `wire-free` the wire's time, as fast as the processor goes" },
}

--- The record of trials that are not of test frames.
M.HEAD_WITHOUT_SIZE = {}
for _, row in ipairs(M.HEAD) do
   local is_of_frames = row[1] == "frame_size" or row[1] == "modifier"
   M.HEAD_WITHOUT_SIZE[#M.HEAD_WITHOUT_SIZE + 1] = not is_of_frames and row or nil
end

M.TRIAL = record("trial", "one trial of frames, also one line of trials.jsonl", M.HEAD, verdict.OF_TRIAL, {
   { "intended_fps", "number", "the load asked for", col = "Intended", at = "trials" },
   { "intended_percent", "number", "its share of the line", null = true, col = "Load", unit = "% of line",
      at = "trials" },
   { "offered_fps", "number", "the load really sent, by the first and the last departure, of the slower direction", col = "Offered", at = "trials" },
   { "tx", "count", "test frames sent", col = "Sent", unit = "frames", at = "trials" },
   { "rx", "count", "different test frames received", col = "Received", unit = "frames", at = "trials" },
   { "lost", "count", "`tx` - `rx`", col = "Lost", unit = "frames", at = "trials" },
   rows.with({ LOST_MIN }, { lost_min = { at = "trials" } })[1],
   { of = lost_by_direction, col = "by direction", unit = "frames", hidden = true, at = "trials" },
   { of = answered, col = "Queries", unit = "answered", hidden = true, at = "trials" },
   { "loss_ratio", "ratio", "share of `tx` that was lost", n = "tx" },
   { "duplicates", "count", "further copies received", col = "Duplicates", unit = "frames", at = "trials" },
   { "reordered", "count", "frames out of order by RFC 4737; null where frames came over several queues of a port, whose order is not known", null = true, col = "Reord.", unit = "frames", at = "trials" },
   { "late", "count", "frames that came due so late that they were given up; never sent", col = "Late",
      unit = "frames", at = "trials deciding overall" },
   { of = M.unsent, col = "Unsent", unit = "frames", as = "count", at = "trials deciding overall" },
   { "off_schedule", "count", "frames that left so long after they were due that the device saw them closer together than intended: later than the next frame of the port was due, than 32 of them where those are close together, and than 0.1 ms", col = "Off schedule", unit = "frames",
      at = "deciding overall" },
   { "refused", "count", "frames the port did not take at once; they were sent a moment later",
      col = "Refused", unit = "frames", at = "trials deciding overall" },
   { "tester_drops", "count", "frames that arrived and were dropped by the tester's ports (ring full or no buffer), or came over another queue than the one whose lcore measures the stream and found no room on the way there", col = "Dropped", unit = "frames", at = "trials deciding overall" },
   { "rx_errors", "count", "frames that arrived damaged" },
   { "misdirected", "count", "test frames that arrived at another port than the one they were meant for" },
   { "unsolicited", "count", "frames received that are no test frames of this trial" },
   { "altered", M.ALTERED, "what arrived with the signature of a test frame and was not that frame, by kind",
      optional = true },
   PAYLOAD_CHECKED,
   { "lag_max_ns", "number", "how long after it was due a frame left, at most", null = true,
      col = "Lag", unit = "max", as = "time", at = "trials deciding overall" },
   { "poll_gap_max_ns", "number", "longest time between two polls of any worker; null when not measured",
      null = true, col = "Poll gap", unit = "longest", as = "time", at = "trials deciding overall" },
   { "start_skew_ns", "number", "with ports of several agents: how far their first departures were apart beyond what their schedules say", optional = true },
   { "latency", M.LATENCY, "of all directions; null when not measured", null = true },
   { "pauses", list(record("pause", "a port that the device paused (IEEE 802.3, annex 31B)", {
      { "port", "text", "its name" },
      { "times", "count", "how often it was told to" },
      { "waited_ns", "count", "how long frames that were due waited for the end of a pause, in all" },
      { "unsent_frames", "count", "frames that had not left it when the trial ended" },
   })), "where the device paused a port", optional = true },
   { "loads", list(record("load", "a load after another one", {
      { "fps", "positive", "load" }, { "seconds", "positive", "for how long" },
   })), "where one load followed another; `intended_fps` is then their mean", optional = true },
   { "burst", record("burst", "bursts of a trial", {
      { "frames", "ordinal", "of a burst" },
      { "interval_frames", "ordinal", "from one to the next, in frame times of the line" },
   }), "where bursts were sent; `intended_fps` is the mean load", optional = true },
   { "tunnelled", "boolean", "whether frames were to arrive in a tunnel, or without the one in which they left", optional = true },
   { "outage", record("outage", "an outage of the reference device", {
      { "at", "number", "from when, seconds from the start" }, { "seconds", "positive", "for how long" },
   }), "where the reference device was out of service", optional = true },
   { "management", record("management", "management queries of a trial", {
      { "queries", "count", "sent" }, { "replies", "count", "verified, of all ports" },
   }), "with the modifier `management-frames`", optional = true },
   { "routing_updates", "count", "with the modifier `routing-updates`: how many were sent, by all ports",
      optional = true },
   { "reset", record("device_reset", "a reset of the device in a trial", {
      { "by", { "command", "person" }, "who reset the device" },
      { "status", "integer", "exit status of the command", optional = true },
      { "problem", "text", "what went wrong", optional = true },
   }), "where a device was reset", optional = true },
   { "members", M.MEMBERS, "where ports were members of multicast groups", optional = true },
   { "queues", list(M.QUEUE), "of ports with several queues", optional = true },
   M.CARDS,
   { "directions", list(M.DIRECTION, { least = 1 }), "the same counts for each direction, and more" },
}, {
   { col = "Verdict", as = "quiet", at = "trials", of = function(trial) return trial.validity end },
   { col = "Verdict", as = "validity", at = "deciding", of = function(trial) return trial.validity end },
})

return M
