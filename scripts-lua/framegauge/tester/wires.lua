-- SPDX-License-Identifier: BSD-3-Clause

--- The virtual wires of a plan: wire0 and wire1 are joined by the reference device, wire2 and wire3 by
-- another one just like it, and so on; or all by the reference switch.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local impairments = require "framegauge.tester.impairments"
local octets = require "framegauge.core.octets"
local switch = require "framegauge.tester.switch"

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

-- The device's own addresses on the side of a port are those the port has for gateways.
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
   set_direction(config.direction[0], device)
   set_direction(config.direction[1], device.reverse or device)
   for side = 0, 1 do
      if ports[side] then
         set_interface(config.interface[side], ports[side])
      end
   end
   return config
end

--- Join the plan's ports.
-- @param sizes  octets with FCS of all frames that may be sent
-- @return the wires: handles (list of struct fg_port *, in the plan's order), buffers (frames that can be
--         on their way), and the methods reset, outage, close
function M.open(plan, sizes)
   if plan.reference_switch then
      return switch.open(plan, sizes)
   end
   local self = setmetatable({ list = {}, handles = {}, buffers = 0 }, Wires)
   local by_number, err = {}, api.error()
   for i, port in ipairs(plan.ports) do
      by_number[tonumber(port.device:match("%d+$"))] = { index = i, port = port }
   end
   for number = 0, #plan.ports - 1, 2 do
      local ends = { [0] = by_number[number], by_number[number + 1] } -- a loopback may leave one open
      local config = device_config(plan.reference_device, {
         [0] = ends[0] and ends[0].port, ends[1] and ends[1].port },
         math.max(unpack(sizes)))
      local in_flight = switch.most_in_flight("reference_device", sizes, function(size)
         return C.fg_device_in_flight(config, size)
      end)
      local out = ffi.new("struct fg_device *[1]")
      api.check(C.fg_device_create(config, in_flight, out, err), err)
      self.list[#self.list + 1] = out[0]
      impairments.set_profiles(out[0], 0, plan.reference_device.profiles)
      impairments.set_profiles(out[0], 1, (plan.reference_device.reverse or plan.reference_device).profiles)
      self.buffers = math.max(self.buffers, in_flight)
      for side = 0, 1 do
         if ends[side] then
            self.handles[ends[side].index] = C.fg_device_port(out[0], side)
         end
      end
   end
   return self
end

--- Every trial finds an idle device.
-- @param trial  its number, from which and from the seed the random draws follow; default: 0
function Wires:reset(trial)
   for _, wire in ipairs(self.list) do
      C.fg_device_reset(wire, trial or 0)
   end
end

--- The devices will be out of order from a time to another, nanoseconds of the bench's time.
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
