-- SPDX-License-Identifier: BSD-3-Clause

--- Agents of LACP (IEEE 802.1AX) for framegauge.link, one for each port of a link aggregation group. They
-- agree with the other end on the ports that frames may be distributed over.
--
-- The machines are the standard's, with independent control: receive, periodic transmission, selection
-- and mux. A group takes the partner of one of its ports, and ports with another partner stay out.
local lacp = require "framegauge.traffic.lacp"

local M = {}

local FAST, SLOW, SHORT, LONG = 1, 30, 3, 90 -- seconds of periods and timeouts, the standard's
local WAIT = 2 -- seconds before a port is attached
local MAX_A_SECOND = 3 -- LACPDUs

local NOBODY = { system_priority = 0, system = "00:00:00:00:00:00", key = 0, port_priority = 0, port = 0 }
local IDENTITY = { "system_priority", "system", "key", "port_priority", "port", "aggregation" }
local SEEN = { "activity", "timeout", "synchronization" }

local Agent = {}
Agent.__index = Agent

-- The state without a partner.
local function reset(self)
   self.partner, self.mux, self.hears, self.sent_at, self.answers = NOBODY, "detached", "disabled", {}, {}
   self.due, self.selected, self.must_send = -math.huge, false, false
   for _, key in ipairs { "synchronization", "collecting", "distributing", "expired" } do
      self.actor[key] = false
   end
   self.actor.defaulted = true
end

--- Make the agent of a port.
-- @param o  { source = MAC address of its frames, system = MAC address of this end (default: source),
--           system_priority, key, port_priority = numbers (default: 0, 1, 1), port = its number (default: 1),
--           passive = whether it waits for the other end to speak, interval = seconds between LACPDUs
--           (default: as the other end asks for), timeout = seconds after which the other end is gone; below
--           90 it is asked for a LACPDU a second (default: 3 if interval is 1, else 90),
--           group = agents of one group: give all of them the same table (default: alone) }
-- @return the agent: its `counts` are tx, rx and errors, `actor` and `partner` what is known of the two ends
-- @usage lacp.agent { source = "02:00:00:00:01:01" }.ethertype --> 34825
function M.agent(o)
   local timeout = o.timeout or o.interval == FAST and SHORT or LONG
   local self = setmetatable({
      ethertype = lacp.ETHERTYPE, source = o.source, interval = o.interval, timeout = timeout,
      group = o.group or {}, counts = { tx = 0, rx = 0, errors = 0 }, admitted = true, speaks = true,
      actor = {
         system = o.system or o.source, system_priority = o.system_priority or 0, key = o.key or 1,
         port_priority = o.port_priority or 1, port = o.port or 1, activity = not o.passive,
         timeout = timeout < LONG, aggregation = true,
      },
   }, Agent)
   table.insert(self.group, self)
   reset(self)
   return self
end

--- May frames be distributed over its port?
-- @usage lacp.agent { source = "02:00:00:00:01:01" }:is_distributing() --> false
function Agent:is_distributing()
   return self.actor.distributing
end

--- Admit its port to the group, or keep it out: then it signals to the other end that it is not in sync.
-- @usage lacp.agent { source = "02:00:00:00:01:01" }:admit(false)
function Agent:admit(yes)
   self.admitted = yes
end

--- Let it send, or be silent like a port without LACP.
-- @usage lacp.agent { source = "02:00:00:00:01:01" }:let_speak(false)
function Agent:let_speak(yes)
   self.speaks = yes
end

local function same(one, other, keys)
   for _, key in ipairs(keys) do
      if (one[key] or false) ~= (other[key] or false) then
         return false
      end
   end
   return true
end

-- What the mux machine does on entering a state.
local BITS = {
   detached = {}, waiting = {}, attached = { true }, collecting = { true, true },
   distributing = { true, true, true },
}

local function enter(self, state)
   local bits, actor = BITS[state], self.actor
   self.must_send = self.must_send or #bits ~= #BITS[self.mux]
   self.mux = state
   actor.synchronization, actor.collecting, actor.distributing = bits[1] or false, bits[2] or false,
      bits[3] or false
end

-- The next state of the mux machine; the same state where it stays.
local function next_state(self, now)
   local state, partner = self.mux, self.partner
   if not self.selected then
      return "detached"
   elseif state == "detached" then
      self.attaches = now + WAIT
      return "waiting"
   elseif state == "waiting" then
      return now >= self.attaches and "attached" or state
   elseif not partner.synchronization then
      return "attached"
   elseif state == "attached" then
      return "collecting"
   end
   return partner.collecting and "distributing" or "collecting"
end

local function run_mux(self, now)
   local state = next_state(self, now)
   while state ~= self.mux do
      enter(self, state)
      state = next_state(self, now)
   end
end

local function lag_of(agent)
   local partner = agent.partner
   return ("%d %s %d"):format(partner.system_priority, partner.system, partner.key)
end

local function is_usable(agent)
   return agent.admitted and agent.hears ~= "disabled" and not agent.actor.defaulted
      and agent.partner.aggregation
end

-- The partner of a group: the present one, if any port still has it; else the partner of the port with the
-- best priority.
local function partner_of(group)
   local best
   for _, one in ipairs(group) do
      local actor, other = one.actor, best and best.actor
      if is_usable(one) then
         if lag_of(one) == group.partner then
            return group.partner
         elseif not best or actor.port_priority < other.port_priority
            or actor.port_priority == other.port_priority and actor.port < other.port then
            best = one
         end
      end
   end
   return best and lag_of(best)
end

local function select(self)
   self.group.partner = partner_of(self.group)
   self.selected = is_usable(self) and lag_of(self) == self.group.partner
end

local function expire(self, now)
   self.hears, self.expires, self.actor.expired = "expired", now + SHORT, true
   local partner = {}
   for key, value in pairs(self.partner) do
      partner[key] = value
   end
   partner.synchronization, partner.timeout = false, true
   self.partner = partner
end

-- The receive machine, except for received LACPDUs.
local function run_receive(self, now, up)
   if not up then
      self.hears, self.actor.expired = "disabled", false
   elseif self.hears == "disabled" then
      expire(self, now)
   elseif self.hears == "current" and now >= self.expires then
      expire(self, now)
   elseif self.hears == "expired" and now >= self.expires then
      self.hears, self.partner = "defaulted", NOBODY
      self.actor.defaulted, self.actor.expired = true, false
   end
end

-- Is it time to send? Two passive ends never send.
local function run_periodic(self, now)
   if not self.actor.activity and not self.partner.activity then
      self.must_send = false
   elseif now >= self.due or now >= self.last + (self.partner.timeout and FAST or SLOW)
      and not self.interval then
      self.must_send = true
   end
end

local function send(self, now)
   self.last, self.must_send = now, false
   self.due = now + (self.interval or self.partner.timeout and FAST or SLOW)
   table.insert(self.sent_at, 1, now)
   self.sent_at[MAX_A_SECOND + 1] = nil
   self.counts.tx = self.counts.tx + 1
   return lacp.build(self.source, self.actor, self.partner)
end

--- Begin without a partner. framegauge.link calls this and the next functions.
-- @param now  seconds of any clock
-- @param up   whether the link is up
-- @return list of frames to be sent, bytes without FCS
-- @usage #lacp.agent { source = "02:00:00:00:01:01" }:start(0, true) --> 1
function Agent:start(now, up)
   reset(self)
   return self:turn(now, up)
end

--- End. @return list of frames to be sent, which inform the other end
-- @usage #lacp.agent { source = "02:00:00:00:01:01" }:stop(0) --> 0
function Agent:stop(now)
   local known = self.hears == "current"
   enter(self, "detached")
   local frames = known and { send(self, now) } or {}
   reset(self)
   return frames
end

--- Continue. @return list of frames to be sent now
-- @usage local one = lacp.agent { source = "02:00:00:00:01:01", interval = 10 }
-- one:start(0, true)
-- return #one:turn(9, true), #one:turn(10, true), #one:turn(20, false) --> 0 1 0
function Agent:turn(now, up)
   if not self.speaks then
      return self.hears ~= "disabled" and self:stop(now) or {}
   end
   run_receive(self, now, up)
   select(self)
   run_mux(self, now)
   run_periodic(self, now)
   local out = self.answers
   self.answers = {}
   local full = self.sent_at[MAX_A_SECOND] and now < self.sent_at[MAX_A_SECOND] + FAST
   if self.must_send and self.hears ~= "disabled" and not full then
      out[#out + 1] = send(self, now)
   end
   return out
end

-- Process a received LACPDU.
local function record(self, pdu, now)
   local actor, theirs = self.actor, pdu.actor
   if not same(self.partner, theirs, IDENTITY) then -- the group has lost its partner
      self.selected = false
      run_mux(self, now)
   end
   if not (same(pdu.partner, actor, IDENTITY) and same(pdu.partner, actor, SEEN)) then
      self.must_send = true
   end
   theirs.synchronization = theirs.synchronization
      and (same(pdu.partner, actor, IDENTITY) or not theirs.aggregation)
      and (theirs.activity or actor.activity and pdu.partner.activity) or false
   self.partner, self.hears, self.expires = theirs, "current", now + self.timeout
   actor.defaulted, actor.expired = false, false
end

--- Take a frame that the port has received.
-- @usage local one = lacp.agent { source = "02:00:00:00:01:01" }
-- local other = lacp.agent { source = "02:00:00:00:01:02" }
-- one:start(0, true)
-- one:hear(other:start(0, true)[1], 1)
-- return one.partner.system --> 02:00:00:00:01:02
function Agent:hear(frame, now)
   local pdu = lacp.read(frame, self.source)
   if pdu == nil then
      self.counts.errors = self.counts.errors + 1
   elseif pdu and pdu.answer then
      self.answers[1] = pdu.answer
   elseif pdu then
      self.counts.rx = self.counts.rx + 1
      if self.hears ~= "disabled" then
         record(self, pdu, now)
      end
   end
end

return M
