-- SPDX-License-Identifier: BSD-3-Clause

--- A trial of a stream in iperf3's JSON format, by iperf3's field names, for programs that read it. All
-- connections of a trial are one stream here. Values that iperf3 takes from the kernel (listening sockets,
-- the processor's load) are absent.
local json = require "framegauge.text.json"
local kinds = require "framegauge.methods.l4.plan.kinds"
local results = require "framegauge.tester.iperf3.results"
local tables = require "framegauge.core.tables"

local M = {}

local ORDER = {
   "start", "version", "system_info", "title", "test_start", "protocol", "num_streams", "blksize", "omit",
   "duration",
   "bytes", "blocks", "reverse", "bidir", "tcp_mss_default", "intervals", "end", "streams", "sender",
   "receiver", "udp",
   "sum", "sum_sent", "sum_received", "socket", "start_s", "seconds", "bits_per_second", "retransmits",
   "snd_cwnd",
   "snd_wnd", "rtt", "jitter_ms", "lost_packets", "packets", "lost_percent", "out_of_order", "max_snd_cwnd",
   "max_rtt",
   "min_rtt", "mean_rtt", "omitted",
}

local SOCKET = 1

local function span(from, to, bytes, sender)
   local seconds = to - from
   return {
      socket = SOCKET, start = from, ["end"] = to, seconds = seconds, bytes = bytes,
      bits_per_second = seconds > 0 and bytes * 8 / seconds or 0, omitted = false, sender = sender,
   }
end

local function with(t, more)
   for key, value in pairs(more) do
      t[key] = value
   end
   return t
end

-- A span without the fields of a single stream.
local function sum_of(stream)
   local sum = tables.copy(stream)
   sum.socket, sum.snd_cwnd, sum.snd_wnd, sum.rtt = nil, nil, nil, nil
   return sum
end

local function intervals_of(sender, udp, seconds, datagram)
   local list, series = {}, sender.series or {}
   for i, one in ipairs(series) do
      local from, to = (i - 1) * seconds / #series, i * seconds / #series
      local bytes = udp and one.datagrams_out * datagram or one.octets_out
      local stream = with(span(from, to, bytes, true), udp and { packets = one.datagrams_out }
         or { retransmits = one.retransmitted, snd_cwnd = one.cwnd, snd_wnd = one.window, rtt = one.rtt_us })
      list[i] = { streams = { stream }, sum = sum_of(stream) }
   end
   return list
end

local function udp_end(sender, receiver, seconds, datagram)
   local sent, received = sender.measured.datagrams_out, receiver.measured.datagrams_in
   local lost = math.max(0, sent - received)
   local one = with(span(0, seconds, sent * datagram, true), {
      jitter_ms = (receiver.jitter_ns or 0) / 1e6, lost_packets = lost, packets = sent,
      lost_percent = sent > 0 and 100 * lost / sent or 0, out_of_order = receiver.reordered,
   })
   return {
      streams = { { udp = one } }, sum = sum_of(one), sum_sent = sum_of(one),
      sum_received = with(sum_of(one), {
         bytes = receiver.measured.datagram_octets_in, packets = received, sender = false,
         bits_per_second = receiver.measured.datagram_octets_in * 8 / seconds,
      }),
   }
end

local function tcp_end(sender, receiver, seconds, side)
   local rtt = sender.rtt or {}
   local most = 0
   for _, interval in ipairs(sender.series or {}) do
      most = math.max(most, interval.cwnd)
   end
   local sent = with(span(0, seconds, sender.measured.octets_out, true), {
      retransmits = side.counters.segments_retransmitted or 0, max_snd_cwnd = most,
      max_rtt = rtt.max_ns and math.floor(rtt.max_ns / 1e3),
      min_rtt = rtt.min_ns and math.floor(rtt.min_ns / 1e3),
      mean_rtt = rtt.mean_ns and math.floor(rtt.mean_ns / 1e3),
   })
   local received = span(0, seconds, receiver.measured.octets_in, false)
   return {
      streams = { { sender = sent, receiver = received } },
      sum_sent = sum_of(sent), sum_received = sum_of(received),
   }
end

-- One trial.
local function text_of(trial, generator)
   local set, reverse = trial.setting, trial.test == "l4.TCP_MAERTS"
   local udp = trial.test == "l4.UDP_STREAM"
   local from, to = trial.sides[reverse and 2 or 1], trial.sides[reverse and 1 or 2]
   local sender, receiver = from.apps[1], to.apps[1]
   local seconds, block = receiver.measured_s, set.datagram or set.message or 0
   return json.encode({
      start = {
         version = "framegauge " .. generator.version, title = trial.title,
         test_start = {
            protocol = udp and "UDP" or "TCP", num_streams = set.connections,
            blksize = block,
            omit = set.omit_s, duration = set.duration_s, bytes = 0, blocks = 0, reverse = reverse and 1 or 0,
            bidir = 0,
         },
      },
      intervals = intervals_of(sender, udp, seconds, block),
      ["end"] = udp and udp_end(sender, receiver, seconds, block)
         or tcp_end(sender, receiver, seconds, from),
   }, { order = ORDER, pretty = true }) .. "\n"
end

-- A trial with a host that runs iperf3 has the reports of both sides; without a server there is no report.
local function text(trial, generator)
   local told = trial.sides[1].apps[1].iperf
   return told and results.text(told) .. "\n" or trial.sides[2] and text_of(trial, generator)
end

--- The files.
-- @return list of { name, text }, one for each trial of a stream
function M.iperf3(result)
   local list = {}
   for _, trial in ipairs(result.trials) do
      local kind = kinds.of(trial.test:match "^l4%.(.*)")
      local content = kind and kind.receiver and text(trial, result.generator)
      list[#list + 1] = content and { ("iperf3-%d.json"):format(trial.trial), content } or nil
   end
   return list
end

return M
