-- SPDX-License-Identifier: BSD-3-Clause

--- Emulated hosts behind the ports of a tester: addresses that answer ARP, Neighbor Discovery and ping, and
-- know the MAC of their gateway.
--
-- A tester has one set of hosts, which a new set replaces. They are idle until started, and stay active from
-- trial to trial, on real ports also between trials. The time of the virtual wire passes in trials only, so a
-- caller that waits for a host there runs a trial without streams meanwhile (pass).
local address = require "framegauge.plan.address"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local pass = require "framegauge.tester.pass"

local C = api.C

local PING_SECONDS = 1.2 -- longer than a host waits for a reply

local Hosts = {}
Hosts.__index = Hosts

-- Bytes at the start of a field of the engine.
local function put(field, text)
   local value = address.bytes(text)
   ffi.copy(field, value, #value)
   return #value == 4
end

local function fill(c, one)
   ffi.copy(c.host.mac, octets.mac(one.mac), 6)
   if one.address:find(":", 1, true) then
      c.host.has_ipv6 = true
      put(c.host.ipv6, one.address)
   else
      c.host.has_ipv4 = true
      put(c.host.ipv4, one.address)
   end
   for i, tag in ipairs(one.tags or {}) do
      c.tag[i - 1] = (tag.type or 0x8100) * 65536 + (tag.priority or 0) * 8192 + tag.id
   end
   if one.gateway then
      c.has_gateway = true
      put(c.gateway, one.gateway)
   end
end

--- Put hosts behind the ports of a tester, in place of the present ones. No trial may be running.
-- @param tester  the open tester
-- @param list    of { port = its number, mac =, address = of either version, gateway = address or nil,
--                tags = list of { id =, priority =, type = EtherType }, outermost first, or nil }; a MAC may
--                be there several times
-- @usage local two = hosts.new(tester, {
--    { port = 1, mac = "02:00:00:00:01:01", address = "198.18.1.9", gateway = "198.18.1.10" },
--    { port = 2, mac = "02:00:00:00:01:02", address = "198.18.1.10" },
-- })
-- two:start()
-- two:pass(1, function() return two:gateway_mac(1) ~= nil end)
-- return two:gateway_mac(1) --> 02:00:00:00:01:02
function Hosts.new(tester, list)
   local self = setmetatable({ tester = tester, list = list, at = {} }, Hosts)
   local of_port, err = {}, api.error()
   for i, one in ipairs(list) do
      local hosts = of_port[one.port] or {}
      of_port[one.port], hosts[#hosts + 1] = hosts, one
      self.at[i] = #hosts - 1
   end
   for port = 1, #tester.ports do
      local hosts = of_port[port] or {}
      local array = ffi.new("struct fg_emulated_host[?]", #hosts)
      for i, one in ipairs(hosts) do
         fill(array[i - 1], one)
      end
      api.check(C.fg_engine_hosts(tester.engine, port - 1, array, #hosts, err), err)
   end
   return self
end

local function run(self, speak)
   self.running = speak
   for port = 1, #self.tester.ports do
      C.fg_engine_hosts_run(self.tester.engine, port - 1, speak)
   end
end

--- Activate them; they resolve their gateways first.
-- @usage local one = hosts.new(tester, { { port = 1, mac = "02:00:00:00:01:01", address = "198.18.1.9" } })
-- one:start()
function Hosts:start()
   run(self, true)
end

--- Deactivate them: they reply to nobody, and know no gateway.
-- @usage local one = hosts.new(tester, { { port = 1, mac = "02:00:00:00:01:01", address = "198.18.1.9" } })
-- one:stop()
function Hosts:stop()
   run(self, false)
end

--- MAC of the gateway of a host, text; nil while the gateway has not replied.
-- @param i  its place in the list
-- @usage local one = hosts.new(tester, { { port = 1, mac = "02:00:00:00:01:01", address = "198.18.1.9" } })
-- one:start()
-- return one:gateway_mac(1) --> nil
function Hosts:gateway_mac(i)
   local mac = ffi.new("uint8_t[6]")
   return C.fg_engine_host_gateway(self.tester.engine, self.list[i].port - 1, self.at[i], mac)
      and octets.mac_text(ffi.string(mac, 6)) or nil
end

--- Let time of the tester pass, with the hosts active. Call it inside a job.
-- @param seconds  at most
-- @param done     function() that ends it by returning true
-- @return what done() returned last
-- @usage local one = hosts.new(tester, { { port = 1, mac = "02:00:00:00:01:01", address = "198.18.1.9" } })
-- return one:pass(0.01, function() return true end) --> true
function Hosts:pass(seconds, done)
   return pass(self.tester, seconds, done)
end

--- Send a ping from several hosts, all at once, and wait a second for replies. Call it inside a job.
-- @param requests  list of { host = its place in the list, to = address, hop = address of the gateway, or
--                  nil: the request goes to the address itself }; a host has one at a time
-- @return list of booleans: whether a reply came
-- @usage local two = hosts.new(tester, {
--    { port = 1, mac = "02:00:00:00:01:01", address = "2001:2::9" },
--    { port = 2, mac = "02:00:00:00:01:02", address = "2001:2::a" },
-- })
-- two:start()
-- two:pass(0.1, function() return false end)
-- local answered = two:ping { { host = 1, to = "2001:2::a" }, { host = 2, to = "2001:2::b" } }
-- two:stop()
-- return answered[1], answered[2] --> true false
function Hosts:ping(requests)
   local engine, sent = self.tester.engine, {}
   for i, one in ipairs(requests) do
      local to, hop = ffi.new("uint8_t[16]"), ffi.new("uint8_t[16]")
      put(to, one.to)
      put(hop, one.hop or one.to)
      sent[i] = C.fg_engine_host_ping(engine, self.list[one.host].port - 1, self.at[one.host], hop, to) == 0
   end
   local results = {}
   self:pass(PING_SECONDS, function()
      local waiting = false
      for i, one in ipairs(requests) do
         local state = sent[i] and C.fg_engine_host_pinged(engine, self.list[one.host].port - 1,
            self.at[one.host])
         results[i] = state == C.FG_PING_ANSWERED
         waiting = waiting or state == C.FG_PING_WAITING
      end
      return not waiting
   end)
   return results
end

return Hosts
