-- SPDX-License-Identifier: BSD-3-Clause

--- The virtual wires of a plan with a reference switch, which joins all of them (lib/switch/fg_switch.h).
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

local Switch = {}
Switch.__index = Switch

local REPLICATION = { egress = C.FG_SWITCH_BY_EGRESS, ingress = C.FG_SWITCH_BY_INGRESS }
local QUEUES = { output = C.FG_SWITCH_OUTPUT, shared = C.FG_SWITCH_SHARED, input = C.FG_SWITCH_INPUT }
local ARBITRATION = {
   ["round-robin"] = C.FG_SWITCH_ROUND_ROBIN, oldest = C.FG_SWITCH_OLDEST, priority = C.FG_SWITCH_PRIORITY,
}
local FLOW_CONTROL = { none = C.FG_SWITCH_NO_FLOW_CONTROL, pause = C.FG_SWITCH_PAUSE }

--- Fill in a table of addresses.
-- @param out  struct fg_device_table
-- @param t    the plan's mac_table
function M.fill_table(out, t)
   out.size, out.ageing_ns, out.skip_every = t.size, t.ageing * 1e9, t.skip_every
   out.learning_rate, out.learning_queue = t.learning_rate or 0, t.learning_queue
   out.buckets, out.ways = t.buckets, t.ways
end

local ORDER = { linear = C.FG_SWITCH_LINEAR, reverse = C.FG_SWITCH_REVERSE, random = C.FG_SWITCH_RANDOM }

-- wireN is port N.
local function number_of(port)
   return tonumber(port.device:match "%d+$")
end

-- @param out  struct fg_switch_snooping
-- @param s    the plan's snooping
local function fill_snooping(out, s, ports)
   out.groups, out.by_mac, out.drops_unregistered = s.groups, s.key == "mac", s.unregistered == "drop"
   out.join_delay_ns, out.leave_delay_ns = s.join_delay * 1e9, s.leave_delay * 1e9
   out.new_group_delay_ns, out.group_cost_ns = s.new_group_delay * 1e9, s.group_cost * 1e9
   out.control_rate, out.control_queue = s.control_rate or 0, s.control_queue
   out.fast_leave, out.last_member_count = s.fast_leave, s.last_member_count
   out.last_member_interval_ns = s.last_member_interval * 1e9
   out.querier, out.query_interval_ns = s.querier, s.query_interval * 1e9
   out.membership_ns = s.membership_time * 1e9
   for _, port in ipairs(ports) do
      if tables.contains(s.router_ports, port.name) then
         out.router_ports = bit.bor(out.router_ports, bit.lshift(1ULL, number_of(port)))
      end
   end
end

local WRAP = {
   none = C.FG_SWITCH_NOT_WRAPPED, ipip = C.FG_SWITCH_IP_IN_IP, gre = C.FG_SWITCH_GRE,
   ["gre-key"] = C.FG_SWITCH_GRE_WITH_KEY,
}
local OWN_MAC = "\2\0\0\255\0\1"

-- The far ends are the ports' addresses, and the switch has their gateways' addresses.
local function fill_tunnels(out, t, ports)
   out.on, out["in"], out.out, out.key = true, WRAP[t.ingress], WRAP[t.egress], t.key
   for _, port in ipairs(ports) do
      local tunnel = out.port[number_of(port)]
      ffi.copy(tunnel.near.mac, OWN_MAC, #OWN_MAC)
      for _, family in ipairs { { "ipv4", "gateway4" }, { "ipv6", "gateway6" } } do
         local version, gateway = family[1], port[family[2]]
         if gateway then
            local near, far = octets[version](gateway), octets[version](port[version])
            tunnel.near["has_" .. version] = true
            ffi.copy(tunnel.near[version], near, #near)
            ffi.copy(tunnel["far_" .. version], far, #far)
         end
      end
   end
end

local function fill_failover(out, f, ports)
   for _, port in ipairs(ports) do
      if port.name == f.preferred then
         out.preferred = number_of(port)
      elseif port.name == f.next_best then
         out.next_best = number_of(port)
      end
   end
   out.on, out.balance, out.order, out.seed = true, f.balance, ORDER[f.order], f.seed
   out.graceful, out.undetected = f.graceful, f.undetected
   out.away = { f.detect * 1e9, f.compute * 1e9, f.per_route * 1e9 }
   out.back = { f.revert_detect * 1e9, f.revert_compute * 1e9, f.revert_per_route * 1e9 }
   out.preferred_ns, out.next_best_ns = f.preferred_latency * 1e9, f.next_best_latency * 1e9
end

local function fill_uplink(config, uplink, ports)
   config.uplink_bps = uplink.rate
   for _, port in ipairs(ports) do
      if tables.contains(uplink.ports, port.name) then
         config.second = bit.bor(config.second, bit.lshift(1ULL, number_of(port)))
      end
   end
end

local function config_of(s, ports)
   local config = ffi.new("struct fg_switch_config", {
      ports = #ports, cut_through = s.switching == "cut-through", latency_ns = s.latency * 1e9,
      latency_ns_per_octet = s.latency_per_byte * 1e9, capacity_fps = s.capacity or 0,
      drop_cost_ns = s.drop_cost * 1e9, replication = REPLICATION[s.replication],
      queues = QUEUES[s.queues], buffer = s.buffer, buffer_octets = s.buffer_unit == "bytes",
      reserve = s.reserve, alpha = s.alpha, gap = s.gap, ppm = s.ppm, min_frame = s.min_frame,
      max_frame = s.max_frame, forwards_bad_fcs = s.forwards_bad_fcs, forwards_runts = s.forwards_runts,
      keeps_fcs = s.keeps_fcs, arbitration = ARBITRATION[s.arbitration],
      flow_control = FLOW_CONTROL[s.flow_control], xoff = s.xoff, xon = s.xon, pause_quanta = s.pause_quanta,
      cell = s.cell,
   })
   for _, port in ipairs(ports) do
      config.rate_bps[number_of(port)] = port.line_rate
   end
   M.fill_table(config.table, s.mac_table)
   if s.snooping then
      fill_snooping(config.snooping, s.snooping, ports)
   end
   if s.tunnels then
      fill_tunnels(config.tunnels, s.tunnels, ports)
   end
   if s.uplink then
      fill_uplink(config, s.uplink, ports)
   end
   if s.failover then
      fill_failover(config.failover, s.failover, ports)
   end
   return config
end

--- Frames that can be inside at the same time.
-- @param key      of the device in a plan, for the message
-- @param sizes    bytes with FCS of all frames
-- @param of_size  function(size) -> frames, 0: too many
function M.most_in_flight(key, sizes, of_size)
   local most = 0
   for _, size in ipairs(sizes) do
      local frames = of_size(size)
      if frames == 0 then
         user_error.raise("run", 2, "%s: with frames of %d bytes more than %d of them would be on their way at a time; lower its latency, buffer or rate", key, size, 2 ^ 20)
      end
      most = math.max(most, frames)
   end
   return most
end

--- Join the plan's ports.
-- @param sizes  bytes with FCS of all frames that may be sent
-- @return the wires, as framegauge.tester.wires has them
function M.open(plan, sizes)
   local self = setmetatable({ handles = {}, number = {} }, Switch)
   local config, err, out = config_of(plan.reference_switch, plan.ports), api.error(),
      ffi.new("struct fg_switch *[1]")
   self.buffers = M.most_in_flight("reference_switch", sizes, function(size)
      return C.fg_switch_in_flight(config, size)
   end)
   api.check(C.fg_switch_create(config, self.buffers, tables.max(sizes), out, err), err)
   self.switch, self.failover = out[0], plan.reference_switch.failover
   for i, port in ipairs(plan.ports) do
      self.number[port.name] = number_of(port)
      self.handles[i] = C.fg_switch_port(self.switch, number_of(port))
   end
   return self
end

function Switch:reset()
   C.fg_switch_reset(self.switch)
end

--- Out of service for a while: the whole switch, or with a fail-over only the link of the preferred port.
function Switch:outage(from, to)
   if self.failover then
      C.fg_switch_link(self.switch, from, to)
   else
      C.fg_switch_outage(self.switch, from, to)
   end
end

--- The routes of the last trial, in the order in which the switch saw them: list of { moves_ns =, returns_ns
-- =, lost = } in times of the wire (struct fg_switch_route). Empty without a fail-over.
function Switch:routes()
   local n = C.fg_switch_routes(self.switch, nil, 0)
   local out, list = ffi.new("struct fg_switch_route[?]", n), {}
   C.fg_switch_routes(self.switch, out, n)
   for i = 1, n do
      local one = out[i - 1]
      list[i] = { moves_ns = tonumber(one.moves_ns), returns_ns = tonumber(one.returns_ns),
         lost = tonumber(one.lost) }
   end
   return list
end

--- The ports leave this many bytes between frames, until the next reset.
function Switch:set_gap(bytes)
   C.fg_switch_set_gap(self.switch, bytes)
end

--- What the switch itself counted at a port in the last trial (struct fg_switch_counters).
function Switch:counters(name)
   local out = ffi.new("struct fg_switch_counters")
   C.fg_switch_read_counters(self.switch, self.number[name], out)
   return out
end

function Switch:close()
   if self.switch then
      C.fg_switch_free(self.switch)
   end
   self.switch, self.handles = nil, {}
end

return M
