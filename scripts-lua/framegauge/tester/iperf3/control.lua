-- SPDX-License-Identifier: BSD-3-Clause

--- Control of the applications of iperf3 of a running worker: sessions, and what passes between them and the
-- lcore (lib/apps/fg_l4_iperf.h).
local api = require "framegauge.core.api"
local bit = require "bit"
local ffi = require "ffi"
local session = require "framegauge.tester.iperf3.session"
local uv = require "luv"

local C = api.C
local M = {}

local HEADERS4, HEADERS6 = 28, 48 -- bytes of IP and UDP
local COUNTS = { "octets", "datagrams", "lost", "out_of_order", "left_out" }

local function count_of(raw)
   return api.numbers(raw, COUNTS)
end

local function counts_of(raw)
   local out = {
      now = raw.now_s, from = raw.from_s, omitting = raw.omitting, retransmits = tonumber(raw.retransmits),
      cubic = raw.cubic,
   }
   for i = 1, raw.streams do
      local s = raw.stream[i - 1]
      out[i] = { sends = s.sends, open = s.open, all = count_of(s.all), omitted = count_of(s.omitted),
         jitter_ms = s.jitter_ns / 1e6, to = s.to_s }
   end
   return out
end

local function raw_test(test)
   local raw = ffi.new "struct fg_l4_iperf_test"
   for key, value in pairs(test) do
      if key == "cookie" then
         ffi.copy(raw.cookie, value, C.FG_L4_IPERF_COOKIE)
      else
         raw[key] = value
      end
   end
   return raw
end

-- What a session sees of its application.
local function link_to(l4, index)
   return {
      send = function(bytes)
         return C.fg_l4_iperf_send(l4, index, bytes, #bytes)
      end,
      order = function(names, test)
         local orders = 0
         for _, name in ipairs(names) do
            orders = bit.bor(orders, C["FG_L4_IPERF_" .. name])
         end
         C.fg_l4_iperf_order(l4, index, orders, test and raw_test(test))
      end,
      counts = function()
         return counts_of(C.fg_l4_iperf_read(l4, index)[0])
      end,
   }
end

local Control = {}
Control.__index = Control

-- The session that the lcore has now; a server's begins when the one before is over.
local function current(self, now)
   local state = self.state
   if state.session ~= self.number and (self.client or not self:is_busy()) then
      self.number, self.seen = state.session, 0
      if not self.client then
         self.session = session.server(self.link, self.mtu - (state.ipv6 and HEADERS6 or HEADERS4), now)
      end
   end
   return self.session
end

--- Do what is to be done now. Call it often while the worker runs: a client waits for it.
-- @return what was reported since (Session:take())
function Control:look()
   local state, now = self.state, uv.hrtime() / 1e9
   C.fg_l4_iperf_look(self.l4, self.index, state)
   local one, bytes = current(self, now), ""
   if not one or one.over then
      return {}
   elseif state.session == self.number and state.received > self.seen then
      bytes = ffi.string(C.fg_l4_iperf_received(self.l4, self.index) + self.seen, state.received - self.seen)
      self.seen = state.received
   end
   one:look(state, bytes, now)
   return one:take()
end

--- Is there a session that has not ended?
function Control:is_busy()
   return self.session ~= nil and not self.session.over
end

--- Server: end the session, and begin no other one.
function Control:stop()
   C.fg_l4_iperf_order(self.l4, self.index, C.FG_L4_IPERF_STOP, nil)
   if self:is_busy() then
      self.session:stop()
   end
end

--- The worker runs no longer. @return what is still to be reported
function Control:close()
   local list = self:look()
   if self:is_busy() then
      self.session:close()
      for _, r in ipairs(self.session:take()) do
         list[#list + 1] = r
      end
   end
   return list
end

--- What the peer of our client said in its results, decoded; or nil.
function Control:peer_results()
   return self.session and self.session.peer
end

--- Control of an application, before its worker runs.
-- @param index  of the application, from 0; of servers for both IP versions, the first
-- @param o      the application, as framegauge.traffic.l4.app takes it
-- @param mtu    bytes
function M.new(l4, index, o, mtu)
   local self = setmetatable({ l4 = l4, index = index, mtu = mtu, client = not o.server, number = 0, seen = 0,
      state = ffi.new "struct fg_l4_iperf_state", link = link_to(l4, index) }, Control)
   self.session = self.client and session.client(self.link, o.params, o.host) or nil
   return self
end

return M
