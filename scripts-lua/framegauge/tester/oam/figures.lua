-- SPDX-License-Identifier: BSD-3-Clause

--- What the records of a session's probes say: delays, losses by direction, and how far the peer's clock is
-- from ours.
--
-- T1 is when a probe was sent, T2 when it came there, T3 when its reply left there, T4 when that came back.
-- The round trip is (T4 - T1) - (T3 - T2), by whatever clocks. Forward is T2 - T1 and backward T4 - T3, which
-- need clocks that agree; variations and losses do not.
local api = require "framegauge.core.api"
local binomial = require "framegauge.core.binomial"
local bit = require "bit"
local tables = require "framegauge.core.tables"

local C = api.C
local M = {}

local SENT, ANSWERED, REORDERED = C.FG_OAM_PROBE_SENT, C.FG_OAM_PROBE_ANSWERED, C.FG_OAM_PROBE_REORDERED

local function is(probe, flag)
   return bit.band(probe.flags, flag) ~= 0
end

--- What there is to say of a list of times; nil of an empty one.
-- @usage figures.delay({ 30, 10, 20 }).p50_ns --> 20
function M.delay(list)
   if #list == 0 then
      return nil
   end
   local sum = 0
   table.sort(list)
   for _, value in ipairs(list) do
      sum = sum + value
   end
   local function share(p)
      return list[math.max(1, math.ceil(p * #list - 1e-9))]
   end
   return { min_ns = list[1], mean_ns = sum / #list, p50_ns = share(0.5), p99_ns = share(0.99),
      p999_ns = share(0.999), max_ns = list[#list] }
end

-- Losses by direction, from a reflector that counts its requests: the last count tells how many came there.
-- A session that was there before has a greater count than ours from its first reply on.
-- @param replies  list of { place = among the probes sent, from 0, count = by the reflector, from 0 }
local function by_direction(replies, in_time)
   local first, last, most = replies[1], replies[#replies], 0
   local base = math.max(0, first.count - first.place)
   for _, reply in ipairs(replies) do
      most = math.max(most, reply.count - base)
   end
   return { forward_lost = last.place - most, backward_lost = most + 1 - in_time }
end

-- Does the reflector count by itself? A number that was left out tells: behind it both differ.
local function counts_itself(replies)
   return tables.any(replies, function(reply) return reply.count ~= reply.number end)
end

-- Whether the peer's times cannot be: a time in the reflector below 0, or beyond what the probe was away.
local function contradict(probes, n)
   for i = 0, n - 1 do
      local p = probes[i]
      local stay = tonumber(p.t3 - p.t2)
      if is(p, ANSWERED) and p.t2 ~= 0 and (stay < 0 or stay > tonumber(p.t4 - p.t1)) then
         return true
      end
   end
   return false
end

-- Everything that one pass over the probes gives.
local function collect(probes, n, timeout_ns)
   local all = {
      trip = {}, forward = {}, backward = {}, turnaround = {}, replies = {}, sent = 0, received = 0, late = 0,
      reordered = 0, synchronised = true, peer_error_ns = 0,
      contradicts = contradict(probes, n),
   }
   for i = 0, n - 1 do
      local p = probes[i]
      if is(p, ANSWERED) then
         all.replies[#all.replies + 1] = { number = i, place = all.sent, count = p.reflected }
         M.add_reply(all, p, timeout_ns)
      end
      all.sent = all.sent + (is(p, SENT) and 1 or 0)
   end
   return all
end

-- One probe that was answered.
function M.add_reply(all, p, timeout_ns)
   local trip = tonumber(p.t4 - p.t1)
   all.reordered = all.reordered + (is(p, REORDERED) and 1 or 0)
   if trip > timeout_ns then
      all.late = all.late + 1
      return
   end
   all.received = all.received + 1
   local there, stay, back = tonumber(p.t2 - p.unix_t1), tonumber(p.t3 - p.t2), tonumber(p.unix_t4 - p.t3)
   if p.t2 == 0 or all.contradicts then
      table.insert(all.trip, trip)
      return
   end
   trip = trip - stay
   for key, value in pairs { trip = trip, forward = there, backward = back, turnaround = stay } do
      table.insert(all[key], value)
   end
   if trip < (all.least_trip or math.huge) then
      all.least_trip, all.offset = trip, (there - back) / 2
   end
   all.ttl_min, all.ttl_max = math.min(all.ttl_min or 255, p.ttl), math.max(all.ttl_max or 0, p.ttl)
   all.synchronised = all.synchronised and bit.band(p.estimate, C.FG_OAM_SYNCHRONISED) ~= 0
      and bit.band(p.estimate, 0xff) ~= 0
   all.peer_error_ns = math.max(all.peer_error_ns, C.fg_oam_estimate_ns(p.estimate))
end

-- The 99th percentile less the least: the same whatever the clocks differ by.
local function variation(list)
   local delay = M.delay(list)
   return delay and delay.p99_ns - delay.min_ns
end

-- Why one-way delays are withheld; nil: they are given, within @p error_ns.
local function problem(all, o, error_ns)
   if all.contradicts then
      return "by the reflector's own times a probe was there for less than no time, or longer than it was away"
   elseif #all.forward == 0 then
      return "the replies have no times of the peer"
   elseif o.one_clock then
      return nil
   elseif o.problem then
      return o.problem
   elseif o.told and not all.synchronised then
      return "the peer's error estimate says that its clock is not synchronised"
   elseif not o.told then
      return "the peer does not tell whether its clock is synchronised"
   end
   local least = math.min(all.forward[1], all.backward[1]) -- they are sorted
   if least < -error_ns then
      return ("a delay of one way is %.0f ns, less than 0 by more than the clocks admit (%.0f ns): one of them is wrong"):format(least, error_ns)
   end
end

local function add_one_way(row, all, o)
   local error_ns = o.one_clock and 2 * o.stamp_ns or o.own_error_ns + all.peer_error_ns + 2 * o.stamp_ns
   row.forward_variation_ns, row.backward_variation_ns = variation(all.forward), variation(all.backward)
   row.turnaround = M.delay(all.turnaround)
   row.one_way = problem(all, o, error_ns) or "measured"
   if row.one_way == "measured" then
      row.forward, row.backward = M.delay(all.forward), M.delay(all.backward)
      row.one_way_error_ns = error_ns
   end
   if all.offset and not o.one_clock then
      row.clock_offset_ns, row.clock_offset_error_ns = all.offset, math.abs(all.least_trip) / 2 + o.stamp_ns
   end
end

local function add_losses(row, all, o)
   row.lost = row.sent - row.received
   row.loss_ratio = row.sent > 0 and row.lost / row.sent or 0
   row.loss_lower_ratio, row.loss_upper_ratio = binomial.interval(row.lost, math.max(1, row.sent))
   if not o.numbers or #all.replies == 0 then
      return
   end
   row.stateful = o.numbers == "count" or counts_itself(all.replies)
   if row.stateful and row.duplicates == 0 then
      local ways = by_direction(all.replies, all.received)
      if ways.forward_lost >= 0 and ways.backward_lost >= 0 then -- else a request was duplicated on the way
         row.forward_lost, row.backward_lost = ways.forward_lost, ways.backward_lost
         row.undecided_lost = row.lost - ways.forward_lost - ways.backward_lost
      end
   end
end

-- By how much a counter of 32 bits went on; a step back is one below 0.
local function since(before, now)
   return bit.tobit(now - before)
end

local function add_way(service, name, sent, lost)
   service[name .. "_sent"] = service[name .. "_sent"] + sent
   service[name .. "_lost"] = service[name .. "_lost"] + lost
   service[name .. "_most_lost"] = math.max(service[name .. "_most_lost"] or lost, lost)
end

-- What became of a service's frames from each answered probe to the next. @return nil: less than two were
local function service_of(probes, n, between)
   local service = { forward_sent = 0, forward_lost = 0, backward_sent = 0, backward_lost = 0 }
   local last
   for i = 0, n - 1 do
      local p = probes[i]
      if is(p, ANSWERED) then
         if last then
            local before = probes[last]
            local sent, returned = (i - last) * between, since(before.returned, p.returned)
            add_way(service, "forward", sent, sent - since(before.reflected, p.reflected))
            add_way(service, "backward", returned, returned - since(before.came, p.came))
         end
         last = i
      end
   end
   for _, name in ipairs { "forward", "backward" } do
      local sent = service[name .. "_sent"]
      service[name .. "_loss_ratio"] = sent > 0 and service[name .. "_lost"] / sent or 0
   end
   return service.forward_most_lost and service
end

--- How late probes left.
-- @param probes, n    as of M.of
-- @param first_due    when the first was due, by the clock of their t1
-- @param interval_ns  from one to the next
-- @param step_ns      from one to the next frame, which may be of a service
-- @return how many left when the next frame was due or later, and so together with it; how late any left, ns
function M.lateness(probes, n, first_due, interval_ns, step_ns)
   local together, most = 0, 0
   for i = 0, n - 1 do
      if is(probes[i], SENT) then
         local late = tonumber(probes[i].t1 - first_due) - i * interval_ns
         together, most = together + (late >= step_ns and 1 or 0), math.max(most, late)
      end
   end
   return together, most
end

--- The figures of a session.
-- @param probes        struct fg_oam_probe *, or a list from 0 on with the same fields
-- @param n             how many
-- @param o.timeout_ns  a reply that comes later is lost
-- @param o.duplicates  further replies to a probe
-- @param o.numbers     "sequence": the reflector returns a number that is its own or the sender's (STAMP);
--                      "count": its own from 1 on (SLR); nil: none
-- @param o.between     frames of a service from one probe to the next; nil: it is not counted
-- @param o.one_clock   whether both ends have one clock
-- @param o.told        whether replies have an error estimate and the TTL of the request
-- @param o.problem     why our own clock does not allow one-way delays, or nil
-- @param o.own_error_ns, o.stamp_ns  bounds of our clock, and of a timestamp
function M.of(probes, n, o)
   local all = collect(probes, n, o.timeout_ns)
   if o.numbers == "count" then
      for _, reply in ipairs(all.replies) do
         reply.count = reply.count - 1
      end
   end
   local row = {
      sent = all.sent, received = all.received, late = all.late, reordered = all.reordered,
      duplicates = o.duplicates,
      ttl_min = o.told and all.ttl_min or nil, ttl_max = o.told and all.ttl_max or nil,
      stamp_error_ns = o.stamp_ns,
   }
   add_losses(row, all, o)
   row.service = o.between and service_of(probes, n, o.between) or nil
   row.round_trip = M.delay(all.trip)
   add_one_way(row, all, o)
   return row
end

return M
