-- SPDX-License-Identifier: BSD-3-Clause

--- The way back of a flow between devices that is bidirectional: from its receivers to its senders, with MAC
-- and IP addresses and ports exchanged in all of its headers.
local tables = require "framegauge.core.tables"

local M = {}

local EXCHANGED = {
   ethernet = { "src", "dst" }, ipv4 = { "src", "dst" }, ipv6 = { "src", "dst" },
   tcp = { "src_port", "dst_port" }, udp = { "src_port", "dst_port" },
}

--- The ends of the way back.
-- @param ends  of framegauge.services.otg.devices
-- @return the same; or nil and a port behind which not all receivers are
function M.ends(ends)
   if ends.rx[2] then
      return nil, ends.rx[2]
   end
   return { tx = ends.rx[1], rx = { ends.tx }, pairs = tables.map(ends.pairs, function(pair)
      return { tx = pair.rx, rx = pair.tx }
   end) }
end

local function exchanged(header)
   local kind = header.choice
   local keys = EXCHANGED[kind]
   if not keys or not header[kind] then
      return header
   end
   local out, fields = tables.copy(header), tables.copy(header[kind])
   fields[keys[1]], fields[keys[2]] = fields[keys[2]], fields[keys[1]]
   out[kind] = fields
   return out
end

-- Where frames find their way by themselves, they come from who sends them now.
local function find_way(ethernet, pairs_back)
   ethernet.dst = { choice = "auto" }
   ethernet.src = { choice = "values", values = tables.map(pairs_back, function(pair)
      return pair.tx.interface.mac
   end) }
end

--- The flow back.
-- @param flow  Flow that was read
-- @param ends  of the way back
function M.flow(flow, ends)
   local out = tables.copy(flow)
   out.packet = tables.map(flow.packet, exchanged)
   local first = flow.packet[1] and flow.packet[1].ethernet
   if first and (not first.dst or first.dst.choice == "auto") then
      find_way(out.packet[1].ethernet, ends.pairs)
   end
   return out
end

--- A list of flows as they run, and of each that is bidirectional the way back, too.
function M.both_ways(flows)
   local list = {}
   for _, flow in ipairs(flows) do
      list[#list + 1] = flow
      list[#list + 1] = flow.back
   end
   return list
end

return M
