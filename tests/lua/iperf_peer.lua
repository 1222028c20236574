-- SPDX-License-Identifier: BSD-3-Clause

-- A session of iperf3, in either role, with a peer that says what a test has it say. The lcore is a table,
-- and time is a number.
local session = require "framegauge.tester.iperf3.session"

local M = {}

M.COOKIE = "abcdefghijklmnopqrstuvwxyz2345672345"
local REMOTE = ("\0"):rep(10) .. "\255\255\198\18\0\1"

function M.text(t)
   return string.char(0, math.floor(#t / 65536), math.floor(#t / 256) % 256, #t % 256) .. t
end

function M.nothing()
   return { octets = 0, datagrams = 0, lost = 0, out_of_order = 0, left_out = 0 }
end

-- Either role and what the lcore does for it.
local Peer = {}
Peer.__index = Peer

-- Let time pass. Orders are done between two looks, as on the lcore.
function Peer:wait(seconds)
   self.now = self.now + (seconds or 0)
   for _ = 1, 4 do
      self.session:look(self.state, self.bytes, self.now)
      self.bytes = ""
      for _, r in ipairs(self.session:take()) do
         table.insert(self.reports, r)
      end
      for _, name in ipairs(self.awaited) do
         self.state.counted = self.state.counted + (name == "COUNT" and 1 or 0)
         self.state.halted = self.state.halted or name == "HALT"
      end
      self.awaited = {}
   end
end

function Peer:say(bytes)
   self.bytes = bytes
   self:wait()
end

function Peer:gone()
   self.state.gone = true
   self:wait()
end

-- Streams are there, with what has been counted of each: bytes, or a table.
function Peer:streams(...)
   for i, s in ipairs { ... } do
      local all = M.nothing()
      for key, value in pairs(type(s) == "table" and s.all or { octets = s }) do
         all[key] = value
      end
      self.counts[i] = { sends = type(s) == "table" and s.sends or false, open = true, all = all,
         omitted = type(s) == "table" and s.omitted or M.nothing(), jitter_ms = 0.5, to = 1 }
   end
   self.state.streams = #self.counts
   self:wait()
end

function Peer:last()
   local r = self.reports[#self.reports]
   return r and r.ending, r and r.refusal
end

function Peer:of_kind(kind)
   local list = {}
   for _, r in ipairs(self.reports) do
      list[#list + 1] = r.kind == kind and r or nil
   end
   return list
end

-- A session; @param client  what our client asks for, JSON; nil: our server
function M.new(client)
   local self = setmetatable({ said = "", orders = {}, awaited = {}, reports = {}, now = 1000, bytes = "",
      counts = { now = 1, from = 0, omitting = false, retransmits = 7, cubic = true },
      state = { streams = 0, counted = 0, connected = true, halted = false, gone = false, over = false,
         remote = REMOTE, remote_port = 40000 } }, Peer)
   local link = {
      send = function(bytes)
         self.said = self.said .. bytes
         return #self.said <= 131072
      end,
      order = function(names, test)
         for _, name in ipairs(names) do
            table.insert(self.orders, name)
            table.insert(self.awaited, name)
         end
         self.test = test or self.test
      end,
      counts = function()
         return self.counts
      end,
   }
   self.session = client and session.client(link, client, M.COOKIE) or session.server(link, 1472, self.now)
   self:wait()
   return self
end

-- A server with a client that has sent its parameters.
function M.served(params)
   local p = M.new()
   p:say(M.COOKIE .. "\0" .. M.text(params))
   return p
end

return M
