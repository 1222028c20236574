-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of RFC 2544. As in plan/rules.lua, each rule gets the values and the list
-- of problems.
local ethernet = require "framegauge.core.ethernet"
local mixes = require "framegauge.core.mixes"
local ports = require "framegauge.plan.ports"
local presets = require "framegauge.search.mlr.presets"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local linked, is_wire = ports.linked, ports.is_wire

-- Ethernet, IP and UDP headers, the signature and the FCS.
local SHORTEST = { IPv4 = 64, IPv6 = 84 }
local TAG = 4

-- The VLANs of the ports that have one.
local function vlans(values)
   return tables.map(values.ports, function(port) return port.vlan end)
end

local function frames_hold_their_headers(values, found)
   local version, tags = "IPv4", math.min(1, #vlans(values)) + (values.rfc2544.outer_vlan and 1 or 0)
   for _, two in ipairs(linked(values)) do
      local a, b = two[1], two[2]
      version = a.ipv6 and b.ipv6 and not (a.ipv4 and b.ipv4) and "IPv6" or version
   end
   local shortest = SHORTEST[version] + tags * TAG
   local kind = version .. " test frame" .. (tags == 2 and " with two VLAN tags" or tags == 1
      and " with a VLAN tag" or "")
   for i, size in ipairs(values.rfc2544.frame_sizes) do
      local least = math.min(unpack(mixes.cycle(size)))
      if least < shortest then
         found:add(found:item("rfc2544.frame_sizes", i),
            ("%s%d bytes do not hold an %s"):format(least ~= size and size .. ": " or "", least, kind),
            tags > 0 and ("at least %d: a tag counts as part of the frame (IEEE 802.3, 3.2.7), and an untagged frame of %d with its tags has %d"):format(shortest, SHORTEST[version], shortest)
               or "at least " .. shortest)
      end
   end
end

-- The rate of the slowest line, nil when the plan does not say it.
-- @return bits per second, and the key that says it
local function slowest_line(values)
   local slowest, key
   for _, port in ipairs(values.ports) do
      local rate, its_key = ports.line_rate(values, port)
      if rate and (not slowest or rate < slowest) then
         slowest, key = rate, its_key
      end
   end
   return slowest, key
end

-- Frames per second of a load at one frame size.
local function load_fps(rate, size, line_rate)
   if rate.unit == "ratio" then
      return rate.value * ethernet.max_fps(line_rate, size)
   end
   return rate.unit == "fps" and rate.value or ethernet.fps(rate.value, rate.layer, size)
end

-- Shared memory and files have no line to take a share of.
local function has_line(port)
   return port.line_rate ~= nil or (port.device.kind ~= "memif" and port.device.kind ~= "pcap")
end

local function shares_have_a_line(values, found)
   for _, port in ipairs(values.ports) do
      if not port.device or has_line(port) then
         return
      end
   end
   if values.ports[1] and values.rfc2544.throughput.max.unit == "ratio" then
      found:add("rfc2544.throughput.max",
         ("a share (%s) of no line: %s has no rate of its own"):format(values.rfc2544.throughput.max.text,
            values.ports[1].device.name),
         "a load such as 5Mfps, or the line_rate of a port")
   end
end

-- Loads that say at most: the line bounds them at each frame size.
local CAPS = { max = true, initial = true }

-- The frame sizes at which the line cannot carry this load.
local function too_large_for(values, rate, line_rate)
   return tables.map(rate and values.rfc2544.frame_sizes or {}, function(size)
      return load_fps(rate, size, line_rate) > line_rate / ethernet.l1_bps(1, size) and size or nil
   end)
end

local TESTS = { "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset" }

local LOADS = {
   throughput = { "min", "max", "initial" }, latency = { "rate" }, frame_loss = { "max" },
   back_to_back = { "rate" }, system_recovery = { "rate" }, reset = { "rate" },
}

local function check_loads(values, group, line_rate, says, found)
   for _, key in ipairs(LOADS[group]) do
      local rate = values.rfc2544[group][key]
      local sizes = too_large_for(values, rate, line_rate)
      local size = (not CAPS[key] or #sizes == #values.rfc2544.frame_sizes) and sizes[1]
      if size then
         found:add(("rfc2544.%s.%s"):format(group, key),
            ("%s is more than the line carries in frames of %s (%s: %s)"):format(rate.text,
               mixes.text(size), says, units.format_bits(line_rate)),
            ("at most %s fps"):format(units.format_count(ethernet.max_fps(line_rate, size))))
      end
   end
end

local function loads_fit_the_line(values, found)
   local line_rate, says = slowest_line(values)
   for _, group in ipairs(line_rate and TESTS or {}) do
      check_loads(values, group, line_rate, says, found)
   end
end

-- One load below another at every frame size. Without the line's rate only like can be compared with like.
local function check_order(values, found, low, high, may_be_equal)
   local t, line_rate = values.rfc2544.throughput, slowest_line(values)
   local low_key, high_key = "rfc2544.throughput." .. low, "rfc2544.throughput." .. high
   local a, b = t[low], t[high]
   if not a or not b or found:has(low_key) or found:has(high_key)
      or not (line_rate or (a.unit == b.unit and a.layer == b.layer)) then
      return
   end
   for _, size in ipairs(values.rfc2544.frame_sizes) do
      local less, more = load_fps(a, size, line_rate or 1e9), load_fps(b, size, line_rate or 1e9)
      if line_rate then
         local most = ethernet.max_fps(line_rate, size)
         less, more = low == "initial" and math.min(less, most) or less, math.min(more, most)
      end
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
      found:add(GOALS, ("not for the search %s"):format(t.search), "search: mlr in addition, or no goals")
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
      return
   end
   local line_rate = slowest_line(values)
   local known = o.rate and (line_rate or o.rate.unit ~= "ratio")
   for _, size in ipairs(known and values.rfc2544.frame_sizes or {}) do
      local later = (math.min(o.repetitions, #mixes.cycle(size)) - 1) / load_fps(o.rate, size, line_rate)
      if later > 0 and later >= (o.trial - o.tag_after) / o.tags then
         found:add("rfc2544.latency.tag_after", ("each repetition of %s tags the next frame, up to %s later: beyond the trial (%s)"):format(size,
            units.format_time(later), units.format_time(o.trial)))
         return
      end
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
            "rfc2544.reset.outage, how long it is out of service")
         return
      end
   end
end

-- Whether any port, whether every port sends through a router, and whether every port does so over IPv4.
local function routed(values)
   local any, all, all4 = false, true, true
   for _, port in ipairs(values.ports) do
      local gateway = port.gateway or port.gateway6
      any, all = any or gateway ~= nil, all and gateway ~= nil
      all4 = all4 and port.gateway ~= nil
   end
   return any, all, all4
end

-- What cannot be done with a mix: function(values) -> whether it is asked for; why not; what can be.
local NOT_MIXED = {
   { function(values) return values.topology == "partial-mesh" and #values.ports > 2 end,
      "in a partial mesh ports send to several others in turn", "topology: pairs" },
   { function(values) return tables.contains(values.rfc2544.modifiers, "broadcast") end,
      "broadcasts take turns with the other frames", "other modifiers" },
   { function(values) return tables.contains(values.rfc2544.tests, "bursty_traffic") end,
      "bursty_traffic counts pauses in frame times, and a mix has several", "the tests without it" },
   { function(values) return tables.contains(values.rfc2544.tests, "reset") end,
      "reset counts time in gaps between frames, and a mix has several", "the tests without it" },
   { function(values)
      return values.rfc2544.latency.definition == "lifo" and tables.contains(values.rfc2544.tests, "latency")
   end, "lifo takes off the time of a frame, and a mix has several", "rfc2544.latency.definition: fifo" },
}

local function mixes_are_possible(values, found)
   for i, size in ipairs(values.rfc2544.frame_sizes) do
      for _, one in ipairs(mixes.CYCLES[size] and NOT_MIXED or {}) do
         if one[1](values) then
            found:add(found:item("rfc2544.frame_sizes", i), ("not %s: %s"):format(size, one[2]), one[3])
            break
         end
      end
   end
end

local SPOKEN_TO = {
   ["management-frames"] = "no address of the device to ask: it is asked over IPv4, at the gateway",
   ["routing-updates"] = "no router to inform: it is informed over IPv4, at the gateway",
}

local function modifiers_suit_the_ports(values, found)
   local any, all, all4 = routed(values)
   if values.topology == "loopback" and #values.rfc2544.modifiers > 0 then
      found:add("rfc2544.modifiers", "not with a loopback", "topology: pairs")
   end
   for i, modifier in ipairs(values.rfc2544.modifiers) do
      local key = found:item("rfc2544.modifiers", i)
      if modifier == "random-networks" and not all then
         found:add(key, "networks behind a router, and the ports have none", "a gateway for every port")
      elseif SPOKEN_TO[modifier] and not all4 then
         found:add(key, SPOKEN_TO[modifier], "an IPv4 gateway for every port")
      elseif modifier == "random-macs" and any then
         found:add(key, "a router takes only what is sent to its own address", "ports without gateways")
      elseif modifier == "broadcast" and values.topology == "partial-mesh" and #values.ports > 2 then
         found:add(key, "not in a partial mesh, where streams take turns already", "topology: pairs")
      end
   end
end

return {
   frames_hold_their_headers, shares_have_a_line, loads_fit_the_line, loads_are_in_order,
   tags_are_in_the_stream, reset_has_a_device, goals_can_be_reached, modifiers_suit_the_ports,
   mixes_are_possible,
   function(values, found)
      shared_rules.tags_are_whole(values.rfc2544, "rfc2544.", #vlans(values) == #values.ports,
         "a vlan at every port", found)
   end,
}
