-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold for the streams of a plan: their ports are there, and their frames can be built.
--
-- As in plan/rules.lua, each rule gets the values and the list of problems.
local api = require "framegauge.api"
local faults = require "framegauge.plan.fault_rules"
local loads = require "framegauge.traffic.loads"
local ports_rules = require "framegauge.plan.port_rules"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local wanted = require "framegauge.traffic.wanted"

local M = {}

local function path(stream, key)
   return "streams." .. stream.name .. (key and "." .. key or "")
end

local function port_names(values)
   local names = {}
   for i, port in ipairs(values.ports) do
      names[i] = port.name
   end
   return table.concat(names, ", ")
end

local function ports_are_there(values, found)
   for _, stream in ipairs(values.streams) do
      local from, to = stack.ends(values.ports, stream)
      for key, index in pairs { from = from or false, to = to or false } do
         if stream[key] and not index then
            found:add(path(stream, key), ("there is no port %s"):format(stream[key]), port_names(values))
         end
      end
      if from and from == to and #values.ports > 1 then
         found:add(path(stream, stream.to and "to" or "from"), "a port cannot send to itself",
            "another port")
      end
   end
end

-- Ports as traffic/stack.lua takes them.
local function plain_ports(values)
   local list = {}
   for i, port in ipairs(values.ports) do
      list[i] = {
         name = port.name, mac = port.mac, vlan = port.vlan,
         gateway4 = port.gateway, gateway6 = port.gateway6, gateway_mac = port.gateway_mac,
         ipv4 = port.ipv4 and port.ipv4.address, ipv6 = port.ipv6 and port.ipv6.address,
      }
   end
   return list
end

-- Where in the plan a layer of the stack stands.
local function layer_path(stream, layer)
   for i, one in ipairs(stream.frame or {}) do
      if one == layer.origin then
         return ("%s[%d]"):format(path(stream, "frame"), i)
      end
   end
   return path(stream, "frame")
end

-- Errors of a stream whose frames are right.
local function check_errors(values, stream, make, found)
   local from = stack.ends(values.ports, stream)
   local fps = wanted.fps(values.ports, stream, ports_rules.line_rate(values, values.ports[from]))
   faults.check(stream, path(stream, "errors"), values.ports[from], fps or 0, make, found)
end

-- The least of a stream's sizes, and one for each remainder of the others: packets may be whole words.
local function samples(stream)
   local _, size = sizes.of(stream)
   local list, seen = { size.least }, { [size.least % 4] = true }
   for _, octets in ipairs(size.kinds) do
      list[#list + 1], seen[octets % 4] = not seen[octets % 4] and octets or nil, true
   end
   return list
end

local function check_frame(values, stream, ports, found)
   local macs = stack.placeholders(ports)
   local layers, problem = stack.layers(ports, stream, macs)
   if not layers then
      found:add(layer_path(stream, problem.layer), problem.field .. ": " .. problem.message, problem.expected)
      return
   end
   local function make(octets)
      return stack.template(ports, stream, macs, octets)
   end
   local ok, err
   for _, octets in ipairs(samples(stream)) do
      ok, err = pcall(make, octets)
      if not ok then
         break
      end
   end
   if ok and stream.errors then
      check_errors(values, stream, make, found)
   elseif not ok and type(err) ~= "table" then
      error(err, 0)
   elseif not ok then
      api.raise_refused(err)
      found:add(path(stream, err.where == "frame_size" and "size" or "frame"),
         err.where == "frame_size" and err.message or tostring(err))
   end
end

local function sizes_and_loads_are_some(values, found)
   for _, stream in ipairs(values.streams) do
      for _, part in ipairs(stream.size.mix or {}) do
         if tonumber(part.size) < 64 or tonumber(part.size) > 16128 then
            found:add(path(stream, "size.mix." .. part.size), "out of range", "64 to 16128")
         end
      end
      local _, problem = sizes.cycle(stream.size)
      if problem then
         found:add(path(stream, "size." .. problem.key), problem.message, problem.expected)
      end
      if stream.payload.octets and stream.payload.text then
         found:add(path(stream, "payload.text"), "not beside octets", "one of both")
      end
      problem = loads.problem(stream.rate)
      if problem then
         found:add(path(stream, "rate." .. problem.key), problem.message, problem.expected)
      end
   end
end

local function frames_can_be_built(values, found)
   local ports = plain_ports(values)
   for _, stream in ipairs(values.streams) do
      local from, to = stack.ends(values.ports, stream)
      if from and to and not found:has_below(path(stream)) then
         check_frame(values, stream, ports, found)
      end
   end
end

--- All of them, in order.
M.rules = { ports_are_there, sizes_and_loads_are_some, frames_can_be_built }

return M
