-- SPDX-License-Identifier: BSD-3-Clause

--- The reference switch of a plan: its keys, and what must hold between them (lib/switch/fg_switch.h).
local keys = require "framegauge.plan.keys"
local failover = require "framegauge.plan.failover"
local ports = require "framegauge.plan.ports"
local snooping = require "framegauge.plan.snooping"
local tables = require "framegauge.core.tables"
local tunnels = require "framegauge.plan.tunnels"
local uplink = require "framegauge.plan.uplink"

local M = {}

--- The table of addresses, of a bridge with two sides too.
function M.mac_table(help, optional)
   return keys.group("mac_table", help, {
      { "size", "integer", "addresses it holds", default = "8192", min = "1", max = "1000000" },
      { "ageing", "time", "time after which an address without frames is forgotten; 0: never",
        default = "300s", max = "1h" },
      { "learning_rate", "frame_rate", "new addresses that it can learn a second, written as a rate of frames; others are missed",
        min = "1fps", default_help = "all that come" },
      { "learning_queue", "integer", "new addresses that may wait until they are learned",
        default = "0", min = "0", max = "1000000" },
      { "skip_every", "integer", "a fault: it does not learn every n-th new address; 0: none",
        default = "0", min = "0", max = "4294967295" },
      { "buckets", "integer", "with ways: the parts of the table; which one an address belongs to follows from a hash",
        default = "1", min = "1", max = "1000000" },
      { "ways", "integer", "addresses that one bucket holds; 0: any number",
        default = "0", min = "0", max = "1000" },
   }, { optional = optional })
end

M.row = keys.group("reference_switch", "one switch between all wires of the plan, in place of the reference device, which joins two", {
   { "time", { "free", "real" }, "as in the reference device", default = "free" },
   { "rate", "bits", "rate of the line of each port", default = "1Gbps", min = "1Mbps", max = "800Gbps" },
   { "ports", "map", "ports whose line has another rate",
     name = "name", least = 1, most = 64, optional = true, names = keys.NAMES,
     expected = "ports of the plan by name, such as east: {rate: 10Gbps}",
     of = keys.group(nil, nil, {
        { "rate", "bits", "rate of its line",
          required = true, default = "1Gbps", min = "1Mbps", max = "800Gbps" },
     }) },
   { "capacity", "frame_rate", "frames that its forwarding engine handles, all ports together",
     min = "1fps", default_help = "no limit but the lines" },
   { "replication", { "egress", "ingress" }, "what the engine handles of a broadcast or a flood: each copy, or the one frame",
     default = "egress" },
   { "drop_cost", "time", "time that the engine spends on a frame for which it has no place to wait",
     default = "0s", max = "1s" },
   { "queues", { "output", "shared", "input" }, "where frames wait for a line that is busy: in a buffer for each egress, in one for all, or in one behind each ingress, whose first frame blocks those behind it",
     default = "output" },
   { "arbitration", { "round-robin", "oldest", "priority" }, "of input queues: whose frame is taken when the first ones of several are for one egress; priority: the port of the highest wire",
     default = "round-robin" },
   { "flow_control", { "none", "pause" }, "whether it has ports pause (IEEE 802.3, annex 31B) whose frames wait inside it",
     default = "none" },
   { "xoff", "size", "of flow control: a port pauses when more than this many bytes of its frames wait",
     default = "48KiB", min = "64", max = "1GiB" },
   { "xon", "size", "of flow control: and goes on when fewer than this do",
     default = "24KiB", min = "0", max = "1GiB" },
   { "pause_quanta", "integer", "of flow control: after how many times of 512 bits a port goes on by itself",
     default = "65535", min = "1", max = "65535" },
   { "buffer", "buffer", "capacity of one of them, in frames or bytes; further frames are lost. The engine has one of that size, too",
     default = "512", min = "1" },
   { "reserve", "integer", "of a shared buffer: what only the frames for an egress may take, for each, in its unit",
     default = "0", min = "0", max = "1000000000" },
   { "alpha", "number", "of a shared buffer: the queue of an egress may grow to alpha times the free room; 0: no limit",
     default = "1", min = "0", max = "1000" },
   { "latency", "time", "time that every frame spends in it, without waiting", default = "20us", max = "10s" },
   { "latency_per_byte", "time", "further time for each byte of the frame", default = "0s", max = "1ms" },
   { "switching", { "store-and-forward", "cut-through" }, "whether it forwards when it has the whole frame or its header; a port that is slower than another one stores",
     default = "store-and-forward" },
   { "gap", "integer", "bytes from one frame to the next on a busy line; less than 12 is forward pressure",
     default = "12", min = "1", max = "1000" },
   { "ppm", "number", "by how many millionths its clock is fast",
     default = "0", min = "-1000", max = "1000" },
   { "min_frame", "size", "bytes with FCS of the shortest frame that it forwards",
     default = "64", min = "14", max = "1518" },
   { "max_frame", "size", "bytes with FCS of the longest; VLAN tags come on top",
     default = "1518", min = "64", max = "16128" },
   { "forwards_bad_fcs", "boolean", "a fault: it forwards frames with a wrong FCS, with one that is right",
     default = "false" },
   { "keeps_fcs", "boolean", "with forwards_bad_fcs: it forwards them with the wrong FCS that they came with",
     default = "false" },
   { "forwards_runts", "boolean", "a fault: it forwards frames that are shorter than min_frame", default = "false" },
   { "cell", "integer", "bytes of a cell of the buffer: before an egress a frame takes whole cells; 0: just its bytes",
     default = "0", min = "0", max = "16128" },
   failover.row,
   uplink.row,
   M.mac_table "as a learning bridge (IEEE 802.1D); the table outlives trials",
   snooping.row, tunnels.row,
}, { optional = true })

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

-- The ends of tunnels are its only addresses.
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
