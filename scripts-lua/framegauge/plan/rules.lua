-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of a plan.
--
-- Each rule gets the values as the rows read them and the list of problems. A value that was bad has its
-- default or is nil by now; its own problem is already in the list.
local address = require "framegauge.plan.address"
local line = require "framegauge.line"
local presets = require "framegauge.search.mlr.presets"
local units = require "framegauge.units"

local M = {}

local families = {
   { own = "ipv4", gateway = "gateway" },
   { own = "ipv6", gateway = "gateway6" },
}

local function path(port, key)
   return "ports." .. port.name .. "." .. key
end

-- The two ports, once both have the value a rule is about.
local function pair(values, key)
   local a, b = values.ports[1], values.ports[2]
   if #values.ports == 2 and a[key] and b[key] then
      return a, b
   end
   return nil
end

local function is_wire(port)
   return port.device ~= nil and port.device.kind == "wire"
end

local function devices_differ(values, found)
   local a, b = pair(values, "device")
   if a and a.device.id == b.device.id then
      found:add(path(b, "device"), ("%s is used by the port %s already"):format(b.device.name, a.name),
         "a device of its own")
   end
end

local function wires_are_a_pair(values, found)
   local a, b = pair(values, "device")
   if a and is_wire(a) ~= is_wire(b) then
      local other = is_wire(a) and b or a
      found:add(path(other, "device"), ("%s cannot be joined with a wire"):format(other.device.name),
         "wire0 and wire1, or two other devices")
   end
   for _, port in ipairs(values.ports) do
      if is_wire(port) and port.device.name ~= "wire0" and port.device.name ~= "wire1" then
         found:add(path(port, "device"), port.device.name .. " does not exist", "wire0 or wire1")
      end
   end
end

local function reference_device_needs_wires(values, found)
   for _, port in ipairs(values.ports) do
      if port.device and not is_wire(port) and found:given("reference_device") then
         found:add("reference_device", ("not there, for the port %s is not a wire"):format(port.name),
            "wire0 and wire1 as devices, or no reference_device")
         return
      elseif is_wire(port) and port.line_rate then
         found:add(path(port, "line_rate"), "a wire has the rate of the reference device",
            "reference_device.rate instead")
      end
   end
end

local MAY_REACH = " may reach a network in use, and RFC 2544 tests must not be run on a production network "
   .. "(RFC 6815)"
local ISOLATED = "'isolated_network: true' in the plan, once nothing is connected but the device under test"

local function network_is_isolated(values, found)
   for _, port in ipairs(values.ports) do
      if port.device and port.device.physical and not values.isolated_network then
         found:add(path(port, "device"), port.device.name .. MAY_REACH, ISOLATED)
      end
   end
end

-- One port's address and gateway in one family.
local function check_address(port, family, found)
   local own, gateway = port[family.own], port[family.gateway]
   local own_key, gateway_key = path(port, family.own), path(port, family.gateway)
   local why = own and address.unusable(own.address, own.prefix)
   if why then
      found:add(own_key, own.address .. " " .. why, "the address of a host")
   end
   if not gateway or found:has(own_key) then
      return
   elseif not own then
      found:add(gateway_key, "a gateway without an address to reach it from", own_key .. " beside it")
   elseif not address.same_network(gateway, own.address, own.prefix) then
      found:add(gateway_key, gateway .. " is outside the port's network",
         ("an address in the network of %s/%d"):format(own.address, own.prefix))
   elseif address.equal(gateway, own.address) then
      found:add(gateway_key, gateway .. " is the port's own address", "the router's address")
   elseif address.unusable(gateway, own.prefix) then
      found:add(gateway_key, gateway .. " " .. address.unusable(gateway, own.prefix), "a router's address")
   end
end

-- Both ports' networks: the same one with no router between, or two that do not overlap.
local function check_networks(a, b, family, found)
   local key, one, other = path(b, family.own), a[family.own], b[family.own]
   local written = ("%s/%d"):format(other.address, other.prefix)
   if address.equal(one.address, other.address) then
      found:add(key, ("%s is the address of the port %s already"):format(other.address, a.name),
         "an address of its own")
   elseif not address.same_network(one.address, other.address, math.min(one.prefix, other.prefix)) then
      return
   elseif one.prefix ~= other.prefix then
      found:add(key, ("%s overlaps with %s/%d of the port %s"):format(written, one.address, one.prefix,
         a.name), "the same network (a bridge) or another one (a router)")
   elseif a[family.gateway] or b[family.gateway] then
      found:add(key, ("%s is the network of the port %s too, yet a gateway is given"):format(written, a.name),
         "a network of its own for each port, or no gateways")
   end
end

-- A router is between both ports or there is none.
local function check_gateways(a, b, family, found)
   local without = not a[family.gateway] and a or b
   local with = without == a and b or a
   local key = path(without, family.gateway)
   if with[family.gateway] and not without[family.gateway] and not found:has(key) then
      found:add(key, ("missing, while the port %s has one"):format(with.name),
         "a gateway for both ports or for none")
   end
end

local function addresses_fit(values, found)
   local a, b = values.ports[1], values.ports[2]
   local common, doubtful = false, false
   for _, family in ipairs(families) do
      for _, port in ipairs(values.ports) do
         check_address(port, family, found)
         doubtful = doubtful or found:has(path(port, family.own))
      end
      if pair(values, family.own) then
         common = true
         check_networks(a, b, family, found)
         check_gateways(a, b, family, found)
      end
   end
   if #values.ports == 2 and not common and not doubtful then
      found:add("ports", "one port has only IPv4, the other only IPv6", "addresses of one family on both")
   end
end

-- Ethernet, IP and UDP headers, the signature and the FCS.
local SHORTEST = { IPv4 = 64, IPv6 = 84 }
local TAG = 4

local function frames_hold_their_headers(values, found)
   local version = pair(values, "ipv6") and not pair(values, "ipv4") and "IPv6" or "IPv4"
   local tagged = false
   for _, port in ipairs(values.ports) do
      tagged = tagged or port.vlan ~= nil
   end
   local shortest = SHORTEST[version] + (tagged and TAG or 0)
   local kind = tagged and version .. " test frame with a VLAN tag" or version .. " test frame"
   for i, size in ipairs(values.rfc2544.frame_sizes) do
      if size < shortest then
         found:add(found:item("rfc2544.frame_sizes", i),
            ("%d bytes do not hold an %s"):format(size, kind), "at least " .. shortest)
      end
   end
end

--- The rate of the slowest line, nil when the plan does not say it.
-- @return bits per second, and the key that says it
function M.line_rate(values)
   local slowest, key
   for _, port in ipairs(values.ports) do
      local rate = is_wire(port) and values.reference_device.rate or port.line_rate
      if rate and (not slowest or rate < slowest) then
         slowest, key = rate, is_wire(port) and "reference_device.rate" or path(port, "line_rate")
      end
   end
   return slowest, key
end

-- Frames per second of a load at one frame size.
local function load_fps(rate, size, line_rate)
   if rate.unit == "ratio" then
      return rate.value * line.max_fps(line_rate, size)
   end
   return rate.unit == "fps" and rate.value or line.fps(rate.value, rate.layer, size)
end

-- Shared memory and files have no line to take a share of.
local function has_line(port)
   return port.line_rate ~= nil or (port.device.kind ~= "memif" and port.device.kind ~= "pcap")
end

local function shares_have_a_line(values, found)
   local a, b = pair(values, "device")
   if a and not has_line(a) and not has_line(b) and values.rfc2544.throughput.max.unit == "ratio" then
      found:add("rfc2544.throughput.max",
         ("a share (%s) of no line: %s has no rate of its own"):format(values.rfc2544.throughput.max.text,
            a.device.name),
         "a load such as 5Mfps, or the line_rate of a port")
   end
end

-- The first frame size of which the line cannot carry this load, nil when it carries all.
local function too_large_for(values, rate, line_rate)
   for _, size in ipairs(values.rfc2544.frame_sizes) do
      if load_fps(rate, size, line_rate) > line_rate / line.l1_bps(1, size) then
         return size
      end
   end
   return nil
end

local TESTS = { "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset" }

local LOADS = {
   throughput = { "min", "max", "initial" }, latency = { "rate" }, frame_loss = { "max" },
   back_to_back = { "rate" }, system_recovery = { "rate" }, reset = { "rate" },
}

local function check_loads(values, group, line_rate, says, found)
   for _, key in ipairs(LOADS[group]) do
      local rate = values.rfc2544[group][key]
      local size = rate and too_large_for(values, rate, line_rate)
      if size then
         found:add(("rfc2544.%s.%s"):format(group, key),
            ("%s is more than the line carries in frames of %d bytes (%s: %s)"):format(rate.text, size, says,
               units.format_bits(line_rate)),
            ("at most %s fps"):format(units.format_count(line.max_fps(line_rate, size))))
      end
   end
end

local function loads_fit_the_line(values, found)
   local line_rate, says = M.line_rate(values)
   for _, group in ipairs(line_rate and TESTS or {}) do
      check_loads(values, group, line_rate, says, found)
   end
end

-- One load below another at every frame size. Without the line's rate only like can be compared with like.
local function check_order(values, found, low, high, may_be_equal)
   local t, line_rate = values.rfc2544.throughput, M.line_rate(values)
   local low_key, high_key = "rfc2544.throughput." .. low, "rfc2544.throughput." .. high
   local a, b = t[low], t[high]
   if not a or not b or found:has(low_key) or found:has(high_key)
      or not (line_rate or (a.unit == b.unit and a.layer == b.layer)) then
      return
   end
   for _, size in ipairs(values.rfc2544.frame_sizes) do
      local less, more = load_fps(a, size, line_rate or 1e9), load_fps(b, size, line_rate or 1e9)
      if less > more or (less == more and not may_be_equal) then
         if found:given(high_key) then
            found:add(high_key, ("%s is not above %s (%s)"):format(b.text, low, a.text))
         else
            found:add(low_key, ("%s is not below %s (%s)"):format(a.text, high, b.text))
         end
         return
      end
   end
end

local function loads_are_in_order(values, found)
   check_order(values, found, "min", "max", false)
   check_order(values, found, "min", "initial", true)
   check_order(values, found, "initial", "max", true)
end

local GOALS = "rfc2544.throughput.goals"

-- One goal with what its preset adds.
local function check_goal(goal, key, found)
   if goal.initial_trial > goal.final_trial then
      found:add(key .. ".initial_trial", ("%s is longer than final_trial (%s)"):format(
         units.format_time(goal.initial_trial), units.format_time(goal.final_trial)))
   elseif goal.duration_sum < goal.final_trial then
      found:add(key .. ".duration_sum", ("%s is shorter than one final_trial (%s)"):format(
         units.format_time(goal.duration_sum), units.format_time(goal.final_trial)))
   end
end

local function goals_can_be_reached(values, found)
   local t, names = values.rfc2544.throughput, {}
   if t.goals and t.search ~= "mlr" then
      found:add(GOALS, ("not for the search %s"):format(t.search), "search: mlr beside it, or no goals")
   end
   for i, goal in ipairs(t.goals or {}) do
      local key = found:item(GOALS, i)
      if names[goal.name] then
         found:add(key, ("there is a goal %s already"):format(goal.name), "a name of its own")
      end
      names[goal.name or ""] = true
      check_goal(presets.complete(goal, t), key, found)
   end
end

local function tags_are_in_the_stream(values, found)
   local o = values.rfc2544.latency
   if o.tag_after >= o.trial then
      found:add("rfc2544.latency.tag_after", ("%s is not within the trial (%s)"):format(
         units.format_time(o.tag_after), units.format_time(o.trial)))
   end
end

local function reset_has_a_device(values, found)
   local o = values.rfc2544.reset
   if o.outage >= o.watch then
      found:add("rfc2544.reset.outage", ("%s is not shorter than watch (%s)"):format(
         units.format_time(o.outage), units.format_time(o.watch)))
   end
   for _, port in ipairs(values.ports) do
      if port.device and is_wire(port) and found:given("rfc2544.reset.command") then
         found:add("rfc2544.reset.command", "the reference device resets itself",
            "rfc2544.reset.outage, how long it is out of order")
         return
      end
   end
end

local rules = {
   devices_differ, wires_are_a_pair, reference_device_needs_wires, network_is_isolated, addresses_fit,
   frames_hold_their_headers, shares_have_a_line, loads_fit_the_line, loads_are_in_order,
   tags_are_in_the_stream, reset_has_a_device,
   goals_can_be_reached,
}

--- Apply every rule.
-- @param values  of the whole plan
-- @param found   takes the problems (plan/problems.lua)
function M.check(values, found)
   for _, rule in ipairs(rules) do
      rule(values, found)
   end
end

return M
