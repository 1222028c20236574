-- SPDX-License-Identifier: BSD-3-Clause

--- The reference switch of a plan: its keys, and what must hold between them (lib/switch/fg_switch.h).
local failover = require "framegauge.plan.failover"
local ports = require "framegauge.plan.ports"
local snooping = require "framegauge.plan.snooping"
local tables = require "framegauge.core.tables"
local tunnels = require "framegauge.plan.tunnels"
local uplink = require "framegauge.plan.uplink"

local M = {}

--- The table of addresses, of a bridge with two sides too.
function M.mac_table(help)
   return {
      key = "mac_table", type = "group", optional = true, help = help,
      fields = {
         { key = "size", type = "integer", default = "8192", min = "1", max = "1000000",
           help = "addresses it holds" },
         { key = "ageing", type = "time", default = "300s", max = "1h",
           help = "an address is forgotten that was not heard for so long; 0: never" },
         { key = "learning_rate", type = "frame_rate", min = "1fps", default_help = "all that come",
           help = "new addresses that it can learn a second, written as a rate of frames; others are missed" },
         { key = "learning_queue", type = "integer", default = "0", min = "0", max = "1000000",
           help = "new addresses that may wait until they are learned" },
         { key = "skip_every", type = "integer", default = "0", min = "0", max = "4294967295",
           help = "a fault: it does not learn every n-th new address; 0: none" },
         { key = "buckets", type = "integer", default = "1", min = "1", max = "1000000",
           help = "with ways: the parts of the table; which one an address belongs to follows from a hash" },
         { key = "ways", type = "integer", default = "0", min = "0", max = "1000",
           help = "addresses that one bucket holds; 0: any number" },
      },
   }
end

local fields = {
   { key = "time", type = "enum", values = { "free", "real" }, default = "free",
     help = "as in the reference device" },
   { key = "rate", type = "bits", default = "1Gbps", min = "1Mbps", max = "800Gbps",
     help = "rate of the line of each port" },
   { key = "ports", type = "map", name = "name", least = 1, most = 64, optional = true,
     names = { longest = 31, match = "^%w[%w_-]*$", expected = "letters, digits, '_' and '-'" },
     expected = "ports of the plan by name, such as east: {rate: 10Gbps}",
     help = "ports whose line has another rate",
     of = { type = "group", fields = {
        { key = "rate", type = "bits", required = true, default = "1Gbps", min = "1Mbps", max = "800Gbps",
          help = "rate of its line" },
     } } },
   { key = "capacity", type = "frame_rate", min = "1fps", default_help = "no limit but the lines",
     help = "frames that its forwarding engine handles, all ports together" },
   { key = "replication", type = "enum", values = { "egress", "ingress" }, default = "egress",
     help = "what the engine handles of a broadcast or a flood: each copy, or the one frame" },
   { key = "drop_cost", type = "time", default = "0s", max = "1s",
     help = "time that the engine spends on a frame for which it has no place to wait" },
   { key = "queues", type = "enum", values = { "output", "shared", "input" }, default = "output",
     help = "where frames wait for a line that is busy: in a buffer for each egress, in one for all, or in one behind each ingress, whose first frame blocks those behind it" },
   { key = "arbitration", type = "enum", values = { "round-robin", "oldest", "priority" },
     default = "round-robin",
     help = "of input queues: whose frame is taken when the first ones of several are for one egress; priority: the port of the highest wire" },
   { key = "flow_control", type = "enum", values = { "none", "pause" }, default = "none",
     help = "whether it has ports pause (IEEE 802.3, annex 31B) whose frames wait inside it" },
   { key = "xoff", type = "size", default = "48KiB", min = "64", max = "1GiB",
     help = "of flow control: a port pauses when more than this many bytes of its frames wait" },
   { key = "xon", type = "size", default = "24KiB", min = "0", max = "1GiB",
     help = "of flow control: and goes on when fewer than this do" },
   { key = "pause_quanta", type = "integer", default = "65535", min = "1", max = "65535",
     help = "of flow control: after how many times of 512 bits a port goes on by itself" },
   { key = "buffer", type = "buffer", default = "512", min = "1",
     help = "what may wait in one of them, in frames or bytes; more is lost. The engine has one of that size, too" },
   { key = "reserve", type = "integer", default = "0", min = "0", max = "1000000000",
     help = "of a shared buffer: what only the frames for an egress may take, for each, in its unit" },
   { key = "alpha", type = "number", default = "1", min = "0", max = "1000",
     help = "of a shared buffer: the queue of an egress grows up to alpha times what is free; 0: no limit" },
   { key = "latency", type = "time", default = "20us", max = "10s",
     help = "time every frame spends in it besides waiting" },
   { key = "latency_per_byte", type = "time", default = "0s", max = "1ms",
     help = "further time for each byte of the frame" },
   { key = "switching", type = "enum", values = { "store-and-forward", "cut-through" },
     default = "store-and-forward",
     help = "whether it forwards when it has the whole frame or its header; a port that is slower than another one stores" },
   { key = "gap", type = "integer", default = "12", min = "1", max = "1000",
     help = "bytes from one frame to the next on a busy line; less than 12 is forward pressure" },
   { key = "ppm", type = "number", default = "0", min = "-1000", max = "1000",
     help = "by how many millionths its clock is fast" },
   { key = "min_frame", type = "size", default = "64", min = "14", max = "1518",
     help = "bytes with FCS of the shortest frame that it forwards" },
   { key = "max_frame", type = "size", default = "1518", min = "64", max = "16128",
     help = "bytes with FCS of the longest; VLAN tags come on top" },
   { key = "forwards_bad_fcs", type = "boolean", default = "false",
     help = "a fault: it forwards frames with a wrong FCS, with one that is right" },
   { key = "keeps_fcs", type = "boolean", default = "false",
     help = "with forwards_bad_fcs: it forwards them with the wrong FCS that they came with" },
   { key = "forwards_runts", type = "boolean", default = "false",
     help = "a fault: it forwards what is shorter than min_frame" },
   { key = "cell", type = "integer", default = "0", min = "0", max = "16128",
     help = "bytes of a cell of the buffer: before an egress a frame takes whole cells; 0: just its bytes" },
   failover.row,
   uplink.row,
   M.mac_table "as a learning bridge (IEEE 802.1D); the table outlives trials",
}
fields[#fields].optional = nil
fields[#fields + 1] = snooping.row
fields[#fields + 1] = tunnels.row

M.row = {
   key = "reference_switch", type = "group", optional = true, fields = fields,
   help = "one switch between all wires of the plan, in place of the reference device, which joins two",
}

local KEY = "reference_switch"

local function is_the_only_device(values, found)
   if values.reference_switch and found:given "reference_device" then
      found:add(KEY, "not together with reference_device", "one of them")
   end
   for _, port in ipairs(values.reference_switch and values.ports or {}) do
      if port.device and not ports.is_wire(port) then
         found:add(KEY, ("not there, for the port %s is not a wire"):format(port.name),
            "wires as devices, or no reference_switch")
         return
      end
   end
end

local function has_two_ports(values, found)
   if values.reference_switch and #values.ports < 2 and not found:has_below "ports" then
      found:add(KEY, "joins ports, and there is one", "at least 2 ports")
   end
end

local function names_are_those_of_ports(values, found)
   local names = {}
   for _, port in ipairs(values.ports) do
      names[port.name] = true
   end
   for _, one in ipairs(values.reference_switch and values.reference_switch.ports or {}) do
      if not names[one.name] then
         found:add(("%s.ports.%s"):format(KEY, one.name), "there is no such port", "the name of a port")
      end
   end
end

-- It has no address of its own but the ends of tunnels.
local function is_no_router(values, found)
   local s = values.reference_switch
   for _, port in ipairs(s and not s.tunnels and values.ports or {}) do
      if port.gateway or port.gateway6 then
         found:add(ports.path(port, port.gateway and "gateway" or "gateway6"),
            "the reference switch is no router", "ports without gateways")
      end
   end
end

local function keys_go_together(values, found)
   local s = values.reference_switch
   if not s then
      return
   elseif s.min_frame > s.max_frame then
      found:add(KEY .. ".min_frame", "longer than max_frame", "at most " .. s.max_frame)
   end
   if s.keeps_fcs and not s.forwards_bad_fcs then
      found:add(KEY .. ".keeps_fcs", "it forwards no frame with a wrong FCS", "forwards_bad_fcs in addition")
   end
   if s.cell > 0 and s.buffer and s.buffer.unit ~= "bytes" then
      found:add(KEY .. ".cell", "the buffer counts frames", "a buffer in bytes in addition")
   end
   if s.queues ~= "input" and found:given(KEY .. ".arbitration") then
      found:add(KEY .. ".arbitration", "no frame waits behind its ingress", "queues: input in addition")
   end
   if s.queues == "input" and s.failover then
      found:add(KEY .. ".failover", "with queues behind each ingress", "another place for the queues")
   end
   for _, key in ipairs { "xoff", "xon", "pause_quanta" } do
      if s.flow_control == "none" and found:given(KEY .. "." .. key) then
         found:add(KEY .. "." .. key, "no port is told to pause", "flow_control: pause in addition")
      end
   end
   if s.xon > s.xoff then
      found:add(KEY .. ".xon", "more than xoff", ("at most %d"):format(s.xoff))
   end
   if s.queues ~= "shared" and found:given(KEY .. ".reserve") then
      found:add(KEY .. ".reserve", "no buffer is shared", "queues: shared in addition")
   elseif s.queues ~= "shared" and found:given(KEY .. ".alpha") then
      found:add(KEY .. ".alpha", "no buffer is shared", "queues: shared in addition")
   elseif s.buffer and s.reserve * #values.ports > s.buffer.value then
      found:add(KEY .. ".reserve", "the reserves of all ports are more than the buffer",
         ("at most %d"):format(s.buffer.value / #values.ports))
   end
end

local function buckets_are_parts_of_a_table(values, found)
   for _, key in ipairs { "reference_device", KEY } do
      local t = values[key] and values[key].mac_table
      if t and t.ways == 0 and found:given(key .. ".mac_table.buckets") then
         found:add(key .. ".mac_table.buckets", "the size of one is unknown", "ways in addition")
      end
   end
end

M.rules = tables.joined({
   is_the_only_device, has_two_ports, names_are_those_of_ports, is_no_router, keys_go_together,
   buckets_are_parts_of_a_table,
}, failover.rules, snooping.rules, tunnels.rules, uplink.rules)

--- The final shape of the values; the plan's ports get the rates of their lines.
function M.shape(switch, plan_ports)
   local rates = {}
   for _, one in ipairs(switch.ports or {}) do
      rates[one.name] = one.rate
   end
   for _, port in ipairs(plan_ports) do
      port.line_rate = rates[port.name] or switch.rate
   end
   if switch.failover then
      failover.shape(switch.failover, plan_ports)
   end
   if switch.uplink then
      uplink.shape(switch.uplink, plan_ports)
   end
   switch.buffer, switch.buffer_unit = switch.buffer.value, switch.buffer.unit
   return switch
end

return M
