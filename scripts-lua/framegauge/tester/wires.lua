-- SPDX-License-Identifier: BSD-3-Clause

--- The virtual wires of a plan: wire0 and wire1 are joined by the reference device, wire2 and wire3 by a
-- second identical one, and so on; or all by the reference switch.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local impairments = require "framegauge.tester.impairments"
local octets = require "framegauge.core.octets"
local registry = require "framegauge.plan.registry"
local switch = require "framegauge.tester.switch"
local tables = require "framegauge.core.tables"

local C = api.C
local M = {}

local Wires = {}
Wires.__index = Wires

local function set_direction(out, d)
   local values = {
      capacity_fps = d.capacity or 0,
      capacity_bps = d.bandwidth or 0,
      buffer = d.buffer,
      buffer_octets = d.buffer_unit == "bytes",
      cut_through = d.switching == "cut-through",
      latency_ns = d.latency * 1e9,
      latency_ns_per_octet = d.latency_per_byte * 1e9,
      recovery_ns = (d.recovery or 0) * 1e9,
   }
   for key, value in pairs(values) do
      out[key] = value
   end
   impairments.fill(out.impair, d)
end

-- The device's own addresses at a port are the port's gateway addresses.
local function set_interface(interface, port)
   if port.gateway4 then
      interface.has_ipv4 = true
      ffi.copy(interface.ipv4, octets.ipv4(port.gateway4), 4)
   end
   if port.gateway6 then
      interface.has_ipv6 = true
      ffi.copy(interface.ipv6, octets.ipv6(port.gateway6), 16)
   end
end

local function device_config(device, ports, max_frame)
   local config = ffi.new("struct fg_device_config", {
      rate_bps = device.rate, seed = device.seed, reflect = device.reflect == true, max_frame = max_frame,
      forwards_up_to = device.max_frame or 0,
   })
   local t = device.mac_table
   if t then
      switch.fill_table(config.table, t)
   end
   if device.firewall then
      impairments.fill_firewall(config.firewall, device.firewall)
   end
   if device.nat then
      impairments.fill_nat(config.nat, device.nat)
   end
   set_direction(config.direction[0], device)
   set_direction(config.direction[1], device.reverse or device)
   for side = 0, 1 do
      if ports[side] then
         set_interface(config.interface[side], ports[side])
      end
   end
   return config
end

-- The device that joins the ports of a wire, as in a plan.
-- @param wire  { ends = by side }
function Wires:config(device, wire)
   local ends = wire.ends
   return device_config(device, {
      [0] = ends[0] and ends[0].port, ends[1] and ends[1].port }, tables.max(self.sizes))
end

-- Frames on their way at most, with any of several devices.
local function most_in_flight(devices, sizes)
   local most = 0
   for _, device in ipairs(devices) do
      local config = device_config(device, {}, tables.max(sizes))
      most = math.max(most, switch.most_in_flight("reference_device", sizes, function(size)
         return C.fg_device_in_flight(config, size)
      end))
   end
   return most
end

local function set_profiles(handle, device)
   impairments.set_profiles(handle, 0, device.profiles)
   impairments.set_profiles(handle, 1, (device.reverse or device).profiles)
end

--- Join the plan's ports.
-- @param sizes  bytes with FCS of all frames that may be sent
-- @return the wires: handles (list of struct fg_port *, in the plan's order), buffers (frames that can be
--         on their way), and the methods change, reset, outage, close
function M.open(plan, sizes)
   if plan.reference_switch then
      return switch.open(plan, sizes)
   end
   local self = setmetatable({ list = {}, handles = {}, wires = {}, sizes = sizes }, Wires)
   local by_number, err = {}, api.error()
   self.buffers = most_in_flight(registry.devices(plan), sizes)
   for i, port in ipairs(plan.ports) do
      by_number[tonumber(port.device:match("%d+$"))] = { index = i, port = port }
   end
   for number = 0, #plan.ports - 1, 2 do
      local ends = { [0] = by_number[number], by_number[number + 1] } -- a loopback may leave one open
      local wire, out = { ends = ends }, ffi.new("struct fg_device *[1]")
      api.check(C.fg_device_create(self:config(plan.reference_device, wire), self.buffers, out, err), err)
      self.list[#self.list + 1], self.wires[#self.wires + 1] = out[0], wire
      set_profiles(out[0], plan.reference_device)
      for side = 0, 1 do
         if ends[side] then
            self.handles[ends[side].index] = C.fg_device_port(out[0], side)
         end
      end
   end
   return self
end

--- Put other devices between the ports from the next trial on.
-- @param device  as the plan's reference_device; one that the method has named
function Wires:change(device)
   local err = api.error()
   for i, handle in ipairs(self.list) do
      api.check(C.fg_device_change(handle, self:config(device, self.wires[i]), self.buffers, err), err)
      set_profiles(handle, device)
   end
end

-- The counters of a stateful device, as a table.
local function counters_of(read, kind, wire, names)
   local raw = ffi.new(kind)
   read(wire, raw)
   return api.numbers(raw, names)
end

--- The counters of the first device's firewall since the last reset.
function Wires:firewall()
   return counters_of(C.fg_device_read_firewall, "struct fg_firewall_counters", self.list[1], {
      "created", "closed", "expired", "refused", "setup_full", "engine_full", "unknown", "resets", "most",
      "now" })
end

--- The counters of its NAT.
function Wires:nat()
   return counters_of(C.fg_device_read_nat, "struct fg_nat_counters", self.list[1], {
      "created", "closed", "expired", "refused", "replaced", "no_port", "setup_full", "unsolicited", "most",
      "now" })
end

--- Clear all sessions of the first device's NAT.
-- @param now  nanoseconds of the tester's time
-- @return seconds that it takes
function Wires:clear_nat(now)
   return tonumber(C.fg_device_clear_nat(self.list[1], now)) / 1e9
end

--- Every trial finds an idle device.
-- @param trial  its number; the random draws follow from it and the seed; default: 0
function Wires:reset(trial)
   for _, wire in ipairs(self.list) do
      C.fg_device_reset(wire, trial or 0)
   end
end

--- The devices will be out of service between two times, nanoseconds of the tester's time.
function Wires:outage(from, to)
   for _, wire in ipairs(self.list) do
      C.fg_device_outage(wire, from, to)
   end
end

function Wires:close()
   for _, wire in ipairs(self.list) do
      C.fg_device_free(wire)
   end
   self.list, self.handles = {}, {}
end

return M
