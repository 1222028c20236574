-- SPDX-License-Identifier: BSD-3-Clause

--- What the two ends of iperf3 exchange in JSON: what the client asks for, and what each end has counted.
-- Keys that concern only the other end are passed over, as iperf3 does, so that all versions are served.
local json = require "framegauge.text.json"
local reports = require "framegauge.traffic.l4.iperf3_reports"

local M = {}

--- iperf3's numbers for what is wrong.
M.ERRORS = {
   duration = 5, streams = 6, mss = 10, sctp = 18, udp_length = 20, message = 110, params = 114,
   results = 117, busy = 121, congestion = 134,
}

local MOST_PARALLEL = 128
local MIN_UDP, TCP_LENGTH = 16, 131072
local MAX_TIME = 86400
local MIN_WINDOW, MAX_WINDOW = 2304, 2 ^ 30 -- bytes; Linux gives a socket no less
local MAX_OCTETS = 1e15

local CONGESTION = { reno = 1, cubic = 2 } -- 1 + enum fg_l4_congestion

local function within(value, low, high)
   return type(value) == "number" and value >= low and value <= high -- false also of NaN
end

local function object(text)
   local ok, value = pcall(json.decode, text)
   return ok and text:match "^%s*{" and value or nil
end

local function flag(value)
   return value == true or type(value) == "number" and value ~= 0
end

local function number_or(value, default)
   return type(value) == "number" and value or default
end

-- What the streams need to know, of values that are good.
local function test_of(asked, udp)
   local length = within(asked.len, 1, 1e9) and math.floor(asked.len) or TCP_LENGTH
   local octets = number_or(asked.blockcount, 0) > 0 and asked.blockcount * length or asked.num
   return {
      udp = udp, reverse = flag(asked.reverse), both = flag(asked.bidirectional),
      wide_counters = flag(asked.udp_counters_64bit), congestion = CONGESTION[asked.congestion] or 0,
      mss = number_or(asked.MSS, 0), parallel = math.floor(number_or(asked.parallel, 1)), length = length,
      window = within(asked.window, 1, math.huge)
         and math.max(MIN_WINDOW, math.min(math.floor(asked.window), MAX_WINDOW)) or 0,
      rate_bps = within(asked.bandwidth, 1, 1e15) and asked.bandwidth or 0,
      omit_s = number_or(asked.omit, 0), time_s = number_or(asked.time, 0),
      blocks = within(octets, 1, MAX_OCTETS) and math.ceil(octets / length) or 0,
   }
end

-- What is wrong; the first that fails decides.
local function refusal_of(asked, udp, longest)
   local E, parallel, mss = M.ERRORS, number_or(asked.parallel, 1), number_or(asked.MSS, 0)
   local checks = {
      { not flag(asked.sctp), E.sctp },
      { within(parallel, 1, MOST_PARALLEL), E.streams },
      { within(number_or(asked.time, 0), 0, MAX_TIME) and within(number_or(asked.omit, 0), 0, MAX_TIME),
        E.duration },
      { not udp or within(asked.len, MIN_UDP, longest), E.udp_length },
      { mss == 0 or within(mss, 88, 9216), E.mss },
      { type(asked.congestion) ~= "string" or CONGESTION[asked.congestion], E.congestion },
      { not (flag(asked.reverse) and flag(asked.bidirectional)), E.params },
   }
   for _, check in ipairs(checks) do
      if not check[1] then
         return check[2]
      end
   end
end

local function shown(value, most)
   return within(value, 0, most) and value or 0
end

--- What a client asks for.
-- @param text     JSON
-- @param longest  bytes of a datagram's payload that fit into the MTU
-- @return the test as its streams need it (struct fg_l4_iperf_test) or nil; what is reported of it; the
-- number of what is wrong or nil; whether the client wants our output
function M.read_params(text, longest)
   local asked = object(text)
   local said = asked or {}
   local udp = flag(said.udp)
   local refusal = not asked and M.ERRORS.params or refusal_of(said, udp, longest)
   local test = not refusal and test_of(said, udp) or nil
   local parallel, most = number_or(said.parallel, 1), 2 ^ 32 - 1
   return test, {
      kind = "test", udp = udp, reverse = flag(said.reverse), both = flag(said.bidirectional),
      parallel = math.floor(shown(parallel, most)),
      length = test and test.length or math.floor(shown(said.len, most)),
      omit = shown(said.omit, most), time = shown(said.time, most), rate = shown(said.bandwidth, 1e15),
   }, refusal, flag(said.get_server_output)
end

--- Number of a stream, from 1 on, in iperf3's messages: 1, 3, 4, 5 and so on.
function M.number(i)
   return i == 1 and 1 or i + 1
end

--- Our results, as the peer wants them. Our processors only poll: their load has no meaning.
-- @param counts       of all streams, as framegauge.tester.iperf3.control reads them
-- @param rows         our figures of each
-- @param wants_output whether the client prints what we counted in words
function M.results(counts, rows, udp, wants_output)
   local streams, sends, words = {}, false, { "Framegauge counted:\n" }
   for i, r in ipairs(rows) do
      local c, s, seconds = r.ours, counts[i], r.ours.to - r.ours.from
      sends = sends or s.sends
      -- of datagrams iperf3 reports all, and also how many of them came before the figures
      streams[i] = {
         id = M.number(i), bytes = c.octets, retransmits = s.sends and not udp and c.retransmits or -1,
         jitter = c.jitter_ms / 1e3, errors = s.all.lost, omitted_errors = s.omitted.lost,
         packets = s.all.datagrams, omitted_packets = s.omitted.datagrams, start_time = 0,
         end_time = seconds,
      }
      words[i + 1] = ("[%3d] %s %.0f bytes in %.6f s, %.6f Mbits/sec\n"):format(M.number(i),
         s.sends and "sent" or "received", c.octets, seconds,
         seconds > 0 and c.octets * 8e-6 / seconds or 0)
   end
   return json.encode {
      cpu_util_total = 0, cpu_util_user = 0, cpu_util_system = 0,
      sender_has_retransmits = udp and 0 or sends and 1 or -1,
      congestion_used = not udp and (counts.cubic and "cubic" or "reno") or nil, streams = streams,
      server_output_text = wants_output and table.concat(words) or nil,
   }
end

-- Datagrams and errors count the whole test, bytes the figures alone. Of the datagrams we leave out what we
-- know of the omitted time, so that both sides' have the same begin. Versions before 3.13 do not say what of
-- the errors was omitted: no more were lost than the bytes do not account for.
local function leave_out_omitted(c, said, omitted, length)
   c.datagrams = math.max(0, c.datagrams - omitted)
   if type(said.omitted_errors) == "number" then
      c.lost = math.max(0, c.lost - shown(said.omitted_errors, 1e18))
   else
      c.lost = math.min(c.lost, math.max(0, c.datagrams - math.floor(c.octets / length)))
   end
end

--- The peer's results.
-- @param text    JSON
-- @param counts  ours, for the omitted time
-- @param test    the test
-- @return the counts of each stream, by our number of it; nil: they cannot be read
function M.read_results(text, counts, test)
   local said = object(text)
   local by_id, out = {}, {}
   if not said or said.streams ~= nil and type(said.streams) ~= "table" then
      return nil
   end
   for _, s in ipairs(said.streams or {}) do
      if type(s) == "table" and within(s.id, 1, 1e6) then
         by_id[s.id] = s
      end
   end
   for i, ours in ipairs(counts) do
      local s, c = by_id[M.number(i)], reports.zero()
      out[i] = c
      if s then
         c.octets, c.datagrams, c.lost = shown(s.bytes, 1e18), shown(s.packets, 1e18), shown(s.errors, 1e18)
         c.retransmits = within(number_or(s.retransmits, 0), 0, 1e18) and number_or(s.retransmits, 0) or nil
         c.jitter_ms = shown(s.jitter, 1e6) * 1e3
         c.from, c.to = shown(s.start_time, 1e9), shown(s.end_time, 1e9)
         if test.udp and ours.omitted.datagrams > 0 then
            leave_out_omitted(c, s, ours.omitted.datagrams, test.length)
         end
      end
   end
   return out
end

-- iperf3 says -1 for what it does not know; versions before 3.14 write it without its sign, as 2^64 - 1.
local function without_unknown(value)
   if value == -1 or value == 2 ^ 64 then
      return json.null
   end
   for key, one in pairs(type(value) == "table" and value or {}) do
      value[key] = without_unknown(one)
   end
   return value
end

--- All that the peer says in its results; what it does not know is null. nil: it said nothing of use.
function M.peer_results(text)
   local said = object(text)
   return said and without_unknown(said) or nil
end

return M
