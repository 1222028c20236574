-- SPDX-License-Identifier: BSD-3-Clause

--- An agent of LLDP (IEEE 802.1AB) for framegauge.link: it announces a port periodically, and keeps the
-- announcements of neighbours for their time to live.
local lldp = require "framegauge.traffic.lldp"

local M = {}

local INTERVAL, HOLD = 30, 120 -- seconds, the standard's
local MAX_NEIGHBOURS = 64

local Agent = {}
Agent.__index = Agent

--- Make one.
-- @param o  { source = MAC address of its frames, name = of its port, or chassis =, port = identities
--           { type =, text = }, system_name = text or nil, organisations = list of { oui = 3 bytes,
--           subtype =, octets = } or nil, interval = seconds between frames (default: 30),
--           hold = seconds for which they hold (default: 120) }
-- @return the agent: its `counts` are frames_tx, frames_rx, frames_error_rx, frames_discard, tlvs_discard and
--         tlvs_unknown; nil and why not
-- @usage lldp.agent { source = "02:00:00:00:01:01" }.ethertype --> 35020
function M.agent(o)
   local announced = {
      source = o.source, chassis = o.chassis or { type = "mac_address", text = o.source },
      port = o.port or { type = "interface_name", text = o.name or "port" }, system_name = o.system_name,
      organisations = o.organisations, ttl = o.hold or HOLD,
   }
   local frame, why = lldp.build(announced)
   if not frame then
      return nil, why
   end
   announced.ttl = 0
   return setmetatable({
      ethertype = lldp.ETHERTYPE, frame = frame, last = lldp.build(announced),
      interval = o.interval or INTERVAL,
      counts = { frames_tx = 0, frames_rx = 0, frames_error_rx = 0, frames_discard = 0, tlvs_discard = 0,
         tlvs_unknown = 0 },
      known = {},
   }, Agent)
end

local function sent(self, frame)
   self.counts.frames_tx = self.counts.frames_tx + 1
   return { frame }
end

--- Begin without neighbours. framegauge.link calls this and the next functions.
-- @param now  seconds of any clock
-- @return list of frames to be sent, bytes without FCS
-- @usage #lldp.agent { source = "02:00:00:00:01:01" }:start(0) --> 1
function Agent:start(now)
   self.known, self.due = {}, now + self.interval
   return sent(self, self.frame)
end

--- End. @return list of frames to be sent, which make the neighbours forget it
-- @usage #lldp.agent { source = "02:00:00:00:01:01" }:stop() --> 1
function Agent:stop()
   self.known = {}
   return sent(self, self.last)
end

--- Continue. @return list of frames to be sent now
-- @usage local one = lldp.agent { source = "02:00:00:00:01:01" }
-- one:start(0)
-- return #one:turn(29), #one:turn(30) --> 0 1
function Agent:turn(now)
   if now < self.due then
      return {}
   end
   local due = self.due + self.interval
   self.due = due > now and due or now + self.interval
   return sent(self, self.frame)
end

local function forget_old(self, now)
   for i = #self.known, 1, -1 do
      if now >= self.known[i].expires then
         table.remove(self.known, i)
      end
   end
end

-- Index of a neighbour in the list, nil if it is new.
local function place_of(self, heard)
   for i, one in ipairs(self.known) do
      if one.chassis.type == heard.chassis.type and one.chassis.text == heard.chassis.text
         and one.port.type == heard.port.type and one.port.text == heard.port.text then
         return i
      end
   end
   return nil
end

--- Take a frame that the port has received.
-- @usage local one = lldp.agent { source = "02:00:00:00:01:01" }
-- local other = lldp.agent { source = "02:00:00:00:01:02" }
-- one:start(0)
-- one:hear(other:start(0)[1], 1)
-- return #one:neighbours(120), #one:neighbours(121) --> 1 0
function Agent:hear(frame, now)
   local counts, heard = self.counts, lldp.read(frame)
   if heard == false then
      return
   end
   counts.frames_rx = counts.frames_rx + 1
   if not heard then
      counts.frames_error_rx, counts.frames_discard = counts.frames_error_rx + 1, counts.frames_discard + 1
      return
   end
   counts.frames_error_rx = counts.frames_error_rx + (heard.dropped > 0 and 1 or 0)
   counts.tlvs_discard, counts.tlvs_unknown = counts.tlvs_discard + heard.dropped,
      counts.tlvs_unknown + heard.unknown
   forget_old(self, now)
   local i = place_of(self, heard)
   if heard.ttl == 0 then
      table.remove(self.known, i or #self.known + 1)
      return
   elseif not i and #self.known >= MAX_NEIGHBOURS then
      counts.frames_discard = counts.frames_discard + 1
      return
   end
   heard.first, heard.updated, heard.expires = i and self.known[i].first or now, now, now + heard.ttl
   self.known[i or #self.known + 1] = heard
end

--- The neighbours that an agent knows now.
-- @param now  seconds of the clock that it was started with; nil: as of the last frame
-- @return list of what they announced: { source =, chassis =, port = identities, ttl =, port_description =,
--         system_name =, system_description =, capabilities = list of { name =, enabled = },
--         management = { type =, text = }, organisations =, first = time of its first frame, updated = last }
-- @usage #lldp.agent { source = "02:00:00:00:01:01" }:neighbours() --> 0
function Agent:neighbours(now)
   if now then
      forget_old(self, now)
   end
   return self.known
end

return M
