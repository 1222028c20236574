-- SPDX-License-Identifier: BSD-3-Clause

--- What a server of iperf3 tells (lib/apps/fg_l4_iperf.h), as plain tables.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"

local C = api.C
local M = {}

local ENDS = {
   [C.FG_L4_IPERF_DONE] = "done", [C.FG_L4_IPERF_REFUSED] = "refused",
   [C.FG_L4_IPERF_TERMINATED] = "terminated", [C.FG_L4_IPERF_GONE] = "gone",
   [C.FG_L4_IPERF_LATE] = "late", [C.FG_L4_IPERF_NONSENSE] = "nonsense", [C.FG_L4_IPERF_STOPPED] = "stopped",
}

local UNKNOWN = 2 ^ 64 -- UINT64_MAX, as a double

local function count_of(c)
   local retransmits = tonumber(c.retransmits)
   return {
      octets = tonumber(c.octets), datagrams = tonumber(c.datagrams), lost = tonumber(c.lost),
      out_of_order = tonumber(c.out_of_order), left_out = tonumber(c.left_out),
      retransmits = retransmits < UNKNOWN and retransmits or nil,
      jitter_ms = c.jitter_ns / 1e6, from = c.from_s, to = c.to_s,
   }
end

local OF_KIND = {
   [C.FG_L4_IPERF_TEST] = function(r)
      return {
         kind = "test", client = r.client, udp = r.udp, reverse = r.reverse, both = r.both,
         port = r.remote_port, address = octets.address_text(ffi.string(r.remote, 16)),
         parallel = r.parallel, length = r.length,
         omit = r.omit_s, time = r.time_s, rate = r.rate_bps,
      }
   end,
   [C.FG_L4_IPERF_INTERVAL] = function(r)
      return {
         kind = "interval", udp = r.udp, stream = r.stream, sent = r.sent, omitted = r.omitted,
         ours = count_of(r.ours),
      }
   end,
   [C.FG_L4_IPERF_RESULT] = function(r)
      return {
         kind = "result", udp = r.udp, stream = r.stream, sent = r.sent, ours = count_of(r.ours),
         theirs = count_of(r.theirs),
      }
   end,
   [C.FG_L4_IPERF_END] = function(r)
      return { kind = "end", ending = ENDS[r["end"]], refusal = r.refusal, missed = tonumber(r.missed) }
   end,
}

--- Of a worker, running or not: what its application number @p index (from 0) has told since.
-- @return a list: { kind = "test", … }, { kind = "interval", … }, { kind = "result", … }, { kind = "end", … }
function M.read(l4, index)
   local list, raw = {}, ffi.new "struct fg_l4_iperf_report"
   while C.fg_l4_iperf_next(l4, index, raw) do
      list[#list + 1] = OF_KIND[raw.kind](raw)
   end
   return list
end

local SUMS = { "octets", "datagrams", "lost", "out_of_order", "left_out", "retransmits", "jitter_ms" }

--- A count of nothing.
function M.zero()
   local c = { from = 0, to = 0 }
   for _, key in ipairs(SUMS) do
      c[key] = 0
   end
   return c
end

--- What was counted between two moments. What was late has not been lost: there may be less lost than before.
function M.difference(now, before)
   local c = M.zero()
   for _, key in ipairs { "octets", "datagrams", "lost", "out_of_order", "left_out" } do
      c[key] = math.max(0, now[key] - before[key])
   end
   return c
end

--- Counts of several streams together: jitter is their mean, times are the longest's. What is not
-- known of one of them is nil.
function M.sum(list)
   local sum = { octets = 0, datagrams = 0, lost = 0, out_of_order = 0, left_out = 0, retransmits = 0,
      jitter_ms = 0 }
   for _, one in ipairs(list) do
      for key, value in pairs(sum) do
         sum[key] = one[key] and value + one[key]
      end
   end
   sum.jitter_ms = #list > 0 and sum.jitter_ms / #list or 0
   sum.from, sum.to = math.huge, 0
   for _, one in ipairs(list) do
      sum.from, sum.to = math.min(sum.from, one.from), math.max(sum.to, one.to)
   end
   return sum
end

return M
