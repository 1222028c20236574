-- SPDX-License-Identifier: BSD-3-Clause

--- A test of iperf3, told by either of our roles, in JSON by iperf3's field names. What iperf3 takes
-- from its kernel (sockets, the processor's load, congestion windows) is not there.
local json = require "framegauge.text.json"
local reports = require "framegauge.traffic.l4.iperf3_reports"
local tables = require "framegauge.core.tables"
local words = require "framegauge.tester.iperf3.output"

local M = {}

local ORDER = {
   "start", "intervals", "end", "connected", "test_start", "remote_host", "remote_port", "protocol",
   "num_streams", "blksize", "omit", "duration", "reverse", "bidir", "target_bitrate", "streams", "sum",
   "sum_bidir_reverse", "sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse",
   "sender", "receiver", "socket", "seconds", "bytes", "bits_per_second", "retransmits", "jitter_ms",
   "lost_packets", "packets", "lost_percent", "out_of_order", "not_sent", "omitted", "error",
}

-- One count as iperf3 has it. @param sender  whether it is of who sends
local function fields(c, udp, sender)
   local seconds = c.to - c.from
   local out = {
      start = c.from, ["end"] = c.to, seconds = seconds, bytes = c.octets,
      bits_per_second = seconds > 0 and c.octets * 8 / seconds or 0, sender = sender,
   }
   if udp then
      out.packets = c.datagrams
      out.not_sent = sender and (c.left_out or 0) > 0 and c.left_out or nil
   elseif sender then
      out.retransmits = c.retransmits
   end
   if udp and not sender then
      out.jitter_ms, out.lost_packets, out.out_of_order = c.jitter_ms, c.lost, c.out_of_order
      out.lost_percent = c.datagrams > 0 and 100 * c.lost / c.datagrams or 0
   end
   return out
end

local function with(t, key, value)
   t[key] = value
   return t
end

local function counts(list, side, sent)
   local out = {}
   for _, r in ipairs(list) do
      if r.sent == sent then
         out[#out + 1] = r[side]
      end
   end
   return out
end

-- Intervals of the same second stand together: a stream that is there already begins the next one.
local function seconds_of(list)
   local seconds, seen = {}, {}
   for _, r in ipairs(list) do
      if r.kind == "interval" then
         if not seconds[1] or seen[r.stream] then
            seconds[#seconds + 1], seen = {}, {}
         end
         seen[r.stream] = true
         table.insert(seconds[#seconds], r)
      end
   end
   return seconds
end

local function interval(list, first)
   local out = { streams = {} }
   for i, r in ipairs(list) do
      out.streams[i] = with(with(fields(r.ours, r.udp, r.sent), "socket", r.stream), "omitted", r.omitted)
   end
   for sent, key in pairs { [first] = "sum", [not first] = "sum_bidir_reverse" } do
      local of = counts(list, "ours", sent)
      out[key] = of[1] and with(fields(reports.sum(of), list[1].udp, sent), "omitted", list[1].omitted) or nil
   end
   return out
end

local function of_kind(list, kind)
   return tables.map(list, function(r) return r.kind == kind and r or nil end)
end

-- Of each direction what its sender and what its receiver counted, whichever of the two we are.
local function sums(out, list, udp, sent, suffix)
   if counts(list, "ours", sent)[1] then
      local ours, theirs = reports.sum(counts(list, "ours", sent)), reports.sum(counts(list, "theirs", sent))
      theirs.from, theirs.to = ours.from, ours.from + theirs.to - theirs.from
      out["sum_sent" .. suffix] = fields(sent and ours or theirs, udp, true)
      out["sum_received" .. suffix] = fields(sent and theirs or ours, udp, false)
   end
end

local function ending(list, first)
   local out = { streams = {} }
   for i, r in ipairs(list) do
      local sender, receiver = r.sent and r.ours or r.theirs, r.sent and r.theirs or r.ours
      out.streams[i] = {
         sender = with(fields(sender, r.udp, true), "socket", r.stream),
         receiver = with(fields(receiver, r.udp, false), "socket", r.stream),
      }
   end
   sums(out, list, list[1] and list[1].udp, first, "")
   sums(out, list, list[1] and list[1].udp, not first, "_bidir_reverse")
   return out
end

--- Text of a test.
-- @param list  its reports (framegauge.tester.iperf3.session), from the first to the last
function M.text(list)
   local test, last = list[1], list[#list]
   local first = test.reverse ~= (test.client == true) -- we send in the direction that counts first
   local out = { intervals = {}, ["end"] = ending(of_kind(list, "result"), first) }
   out.start = test.kind == "test" and {
      connected = { { remote_host = test.address, remote_port = test.port } },
      test_start = {
         protocol = test.udp and "UDP" or "TCP", num_streams = test.parallel, blksize = test.length,
         omit = test.omit, duration = test.time, reverse = test.reverse and 1 or 0,
         bidir = test.both and 1 or 0, target_bitrate = test.rate,
      },
   } or json.object {}
   for i, second in ipairs(seconds_of(list)) do
      out.intervals[i] = interval(second, first)
   end
   out.error = last.ending ~= "done" and words[test.client and "ending_of_client" or "ending"](last) or nil
   return json.encode(out, { order = ORDER, pretty = true })
end

return M
