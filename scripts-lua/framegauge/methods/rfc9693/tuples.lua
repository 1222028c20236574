-- SPDX-License-Identifier: BSD-3-Clause

--- The four tuples of an experiment (RFC 9693, 4.4): the Initiator enumerates them, each in a frame of its
-- own; the Responder's state table has them as they arrived, and it sends to these alone.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local random = require "framegauge.core.random"

local C = api.C
local M = {}

--- Numbers from 0 on in an order that has each once (Durstenfeld, 1964).
-- @param order  random or increasing
-- @return array of int32_t
function M.order(n, order, seed)
   local list, draw = ffi.new("int32_t[?]", n), random.sequence(seed)
   for i = 0, n - 1 do
      list[i] = i
   end
   for i = order == "random" and n - 1 or 0, 1, -1 do
      local j = tonumber(draw() % (i + 1))
      list[i], list[j] = list[j], list[i]
   end
   return list
end

--- The four tuple of a number, destination ports first.
-- @param plan  its addresses and ranges
-- @return function(number from 0 on) -> source address, source port, destination address, destination port
function M.of(plan)
   local o = plan.rfc9693
   local sources, destinations = o.source_ports, o.destination_ports
   local S, D = sources.last - sources.first + 1, destinations.last - destinations.first + 1
   local from = tonumber(octets.number(octets.ipv4(plan.ports[1].ipv4)))
   local to = tonumber(octets.number(octets.ipv4(plan.ports[2].ipv4)))
   return function(i)
      local pair = math.floor(i / D)
      local address = math.floor(pair / S)
      return from + address % o.addresses.source, sources.first + pair % S,
         to + math.floor(address / o.addresses.source), destinations.first + i % D
   end
end

-- The four fields of frames, an array of values for each.
-- @param of  function(number of the frame) -> the four
local function fields(n, of)
   local lists = {}
   for k = 1, 4 do
      lists[k] = ffi.new("uint64_t[?]", n)
   end
   local a, b, c, d = unpack(lists)
   for i = 0, n - 1 do
      a[i], b[i], c[i], d[i] = of(i)
   end
   return lists
end

-- How a field changes; nil where it does not.
local function vary(values, n)
   for i = 1, n - 1 do
      if values[i] ~= values[0] then
         return { values = values, count = n }
      end
   end
end

-- Frames from a port to the other, one four tuple after the other. The checksum of UDP is computed: a gateway
-- need not translate a frame without.
local function template(tester, from, size, n, of)
   local port, lists, first = tester.plan.ports[from], fields(n, of), {}
   for k = 1, 4 do
      first[k] = tonumber(lists[k][0])
   end
   local stack = {
      { "ethernet", source = octets.mac(tester.ports[from].mac),
        destination = tester:gateway_mac(from, 4) or octets.mac(tester.ports[3 - from].mac) },
      { "ipv4", source = first[1], destination = first[3], flags = frame.DONT_FRAGMENT,
        vary = { source = vary(lists[1], n), destination = vary(lists[3], n) } },
      { "udp", source = first[2], destination = first[4],
        vary = { source = vary(lists[2], n), destination = vary(lists[4], n) } },
   }
   if port.vlan then
      table.insert(stack, 2, { "vlan", id = port.vlan })
   end
   return frame.build(size, stack)
end

--- Frames of the Initiator.
-- @param order  of M.order()
function M.initiator(tester, size, n, order)
   local tuple = M.of(tester.plan)
   return template(tester, 1, size, n, function(i) return tuple(order[i]) end)
end

local Table = {}
Table.__index = Table

--- An empty state table. @param n  connections
function M.table(n)
   local err, out = api.error(), ffi.new("struct fg_state_table *[1]")
   api.check(C.fg_state_table_create(n, out, err), err)
   local handle = ffi.gc(out[0], C.fg_state_table_free)
   return setmetatable({ n = n, handle = handle, tap = C.fg_state_table_tap(handle),
      entry = C.fg_state_table_entries(handle) }, Table)
end

--- How many connections are in it.
function Table:known()
   local known = 0
   for i = 0, self.n - 1 do
      known = known + (self.entry[i].known and 1 or 0)
   end
   return known
end

--- Frames of the Responder, of a table in which all are known. @param order  in which it is read
function Table:responder(tester, size, order)
   return template(tester, 2, size, self.n, function(i)
      local e = self.entry[order[i]]
      return e.destination, e.destination_port, e.source, e.source_port
   end)
end

--- What the gateway made of the four tuples; two that arrived as one are a collision.
-- @param order  in which they were sent
function Table:translation(plan, order)
   local tuple, seen, addresses = M.of(plan), {}, {}
   local out = { external_addresses = 0, ports_min = 65535, ports_max = 0, collisions = 0 }
   local kept = 0
   for i = 0, self.n - 1 do
      local e, _, port = self.entry[i], tuple(order[i])
      local to = e.destination * 65536 + e.destination_port
      local from = e.source * 65536 + e.source_port
      seen[to] = seen[to] or {}
      out.collisions = out.collisions + (seen[to][from] and 1 or 0)
      seen[to][from] = true
      out.external_addresses = out.external_addresses + (addresses[e.source] and 0 or 1)
      addresses[e.source] = true
      out.ports_min, out.ports_max = math.min(out.ports_min, e.source_port),
         math.max(out.ports_max, e.source_port)
      kept = kept + (e.source_port == port and 1 or 0)
   end
   out.preserved_ports_percent = 100 * kept / self.n
   return out
end

return M
