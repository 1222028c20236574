-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of a Y.1564 plan.
--
-- As in plan/rules.lua, each rule gets the values and the list of problems.
local line = require "framegauge.line"
local paths = require "framegauge.method.y1564.paths"
local ports = require "framegauge.plan.port_rules"
local units = require "framegauge.units"

local M = {}

local SHORTEST, TAG = { [4] = 64, [6] = 84 }, 4
local HIGHEST_PCP = 7

local function key_of(service, key)
   return ("y1564.services.%s.%s"):format(service.name, key)
end

local function there_are_services(_, found)
   if not found:given "y1564.services" then
      found:add("y1564.services", "missing", "services by name, such as voice: {cir: 2Mbps, cbs: 16KiB}")
   end
end

local function names_of(list)
   local names = {}
   for i, one in ipairs(list) do
      names[i] = one.name
   end
   return table.concat(names, ", ")
end

-- Wires are joined two by two.
local function joined(a, b)
   local function number(port)
      return math.floor(tonumber(port.device.name:match "%d+$") / 2)
   end
   return not ports.is_wire(a) or not ports.is_wire(b) or number(a) == number(b)
end

local function services_run_between_ports(values, found)
   local looped = values.y1564.topology == "loopback"
   for _, service in ipairs(values.y1564.services) do
      local from, to = paths.ends(service, values.ports, values.y1564)
      for key, index in pairs { from = from or false, to = to or false } do
         if not index and service[key] then
            found:add(key_of(service, key), ("there is no port %s"):format(service[key]),
               names_of(values.ports))
         end
      end
      if looped and service.to then
         found:add(key_of(service, "to"), "in a loopback a service comes back to where it starts", "no key")
      elseif not looped and from and from == to then
         found:add(key_of(service, "to"), "the port it starts from", "another port")
      elseif from and to and not joined(values.ports[from], values.ports[to]) then
         found:add(key_of(service, "to"), ("%s is not joined with %s"):format(
            values.ports[to].device.name, values.ports[from].device.name), "the other end of the wire")
      end
   end
end

local function outage_has_a_device(values, found)
   local o, key = values.y1564.performance, "y1564.performance.outage"
   local port = values.ports[1]
   if o.outage > 0 and port and not ports.is_wire(port) then
      found:add(key, "only the reference device can be put out of order",
         "ports that are wires, or no outage")
   elseif o.outage > 0 and o.outage_at + o.outage > o.duration then
      found:add(key, ("it ends after the test (%s)"):format(units.format_time(o.duration)))
   end
end

local function steps_go_up(values, found)
   local steps, key = values.y1564.configuration.steps, "y1564.configuration.steps"
   for i = 2, #steps do
      if steps[i] <= steps[i - 1] then
         found:add(found:item(key, i), ("%s is not above %s"):format(units.format_ratio(steps[i]),
            units.format_ratio(steps[i - 1])), "steps upwards")
         return
      end
   end
   if steps[#steps] and steps[#steps] ~= 1 then
      found:add(found:item(key, #steps), "the last step must be all of CIR", "100%")
   end
end

local function version_of(service, values)
   local from, to = paths.ends(service, values.ports, values.y1564)
   local a, b = values.ports[from or 1] or {}, values.ports[to or 2] or {}
   return a.ipv4 and b.ipv4 and 4 or 6
end

local function vlan_of(service, values)
   local from = paths.ends(service, values.ports, values.y1564)
   return service.vlan or values.ports[from or 1] and values.ports[from or 1].vlan
end

local function check_tags(service, values, found)
   local vlan = vlan_of(service, values)
   if service.outer_vlan and not vlan then
      found:add(key_of(service, "outer_vlan"), "there is no VLAN inside", "vlan beside it")
   end
   if service.pcp > 0 and not vlan then
      found:add(key_of(service, "pcp"), "a frame without a tag has no priority", "vlan beside it")
   end
   if (service.marking == "pcp" or service.marking == "dei") and not vlan then
      found:add(key_of(service, "marking"),
         ("a frame without a tag has no %s"):format(service.marking:upper()),
         "vlan beside it, or marking: dscp")
   end
end

-- What must arrive as it was sent must be sent.
local function check_preserved(service, values, found)
   for i, mark in ipairs(service.preserve) do
      if mark ~= "dscp" and not vlan_of(service, values) then
         found:add(found:item(key_of(service, "preserve"), i), ("a frame without a tag has no %s"):format(
            mark:upper()), "vlan beside it, or dscp")
      end
   end
end

-- What says green and yellow must be two things.
local function check_colours(service, found)
   local green = service.marking == "pcp" and service.pcp or service.dscp
   if service.colour == "aware" and service.marking == "none" then
      found:add(key_of(service, "colour"), "nothing says which frames are yellow",
         "marking: dscp, pcp or dei")
   elseif service.marking ~= "dscp" and service.marking ~= "pcp" then
      if service.yellow then
         found:add(key_of(service, "yellow"),
            ("no code point says so with marking: %s"):format(service.marking),
            "marking: dscp or marking: pcp")
      end
   elseif not service.yellow then
      found:add(key_of(service, "yellow"), "missing", ("the %s of its yellow frames"):format(
         service.marking:upper()))
   elseif service.yellow == green then
      found:add(key_of(service, "yellow"), ("%d is that of its green frames"):format(green), "another one")
   elseif service.marking == "pcp" and service.yellow > HIGHEST_PCP then
      found:add(key_of(service, "yellow"), ("there is no PCP %d"):format(service.yellow), "0 to 7")
   end
end

local function check_frame(service, values, found)
   local version, vlan = version_of(service, values), vlan_of(service, values)
   local tags = (vlan and 1 or 0) + (service.outer_vlan and 1 or 0)
   local shortest, size_key = SHORTEST[version] + TAG * tags, service.emix and "emix" or "frame_size"
   local smallest = math.min(unpack((paths.sizes(service))))
   if service.emix and found:given(key_of(service, "frame_size")) then
      found:add(key_of(service, "emix"), "frame_size is given as well", "one of both")
   elseif smallest < shortest then
      found:add(key_of(service, size_key), ("%d bytes do not hold an IPv%d test frame%s"):format(
         smallest, version, tags > 0 and (" with %d VLAN tag%s"):format(tags, tags > 1 and "s"
            or "")
         or ""), "at least " .. shortest)
   end
   for _, key in ipairs { "source", "destination" } do
      if service[key] and (service[key]:find(":", 1, true) ~= nil) ~= (version == 6) then
         found:add(key_of(service, key), ("%s is no IPv%d address, as those of the ports are"):format(
            service[key], version))
      end
   end
end

-- A bucket that holds no frame passes none.
local function check_buckets(service, way, key, found)
   local largest = math.max(unpack((paths.sizes(service))))
   for bucket, rate in pairs { cbs = "cir", ebs = "eir" } do
      if (way[rate] or 0) > 0 and (way[bucket] or 0) < largest and not found:has(key
         .. bucket) then
         found:add(key .. bucket, ("%s is less than one frame (%d bytes)"):format(
            units.format_count(way[bucket] or 0), largest), "at least " .. largest)
      end
   end
end

-- Rates that a load can be made of.
local function check_rates(service, found)
   if service.cir == 0 and service.eir == 0 then
      found:add(key_of(service, "cir"), "a service without a rate", "a cir or eir")
   elseif (service.cir or 0) > 0 and not service.cbs then
      found:add(key_of(service, "cbs"), "missing", "the octets of at least one frame")
   end
end

local function services_are_whole(values, found)
   for _, service in ipairs(values.y1564.services) do
      check_tags(service, values, found)
      check_colours(service, found)
      check_preserved(service, values, found)
      check_frame(service, values, found)
      check_rates(service, found)
      check_buckets(service, service, key_of(service, ""), found)
      local reverse = service.reverse
      if reverse then
         check_buckets(service, {
            cir = reverse.cir or service.cir, cbs = reverse.cbs or service.cbs, eir = reverse.eir
               or service.eir,
            ebs = reverse.ebs or service.ebs,
         }, key_of(service, "reverse."), found)
      end
   end
end

-- Bits per second of each port's line, nil where the plan does not say it.
local function rate_of(port, values)
   return ports.is_wire(port) and values.reference_device.rate or port.line_rate
end

local function committed_rates_fit_the_line(values, found)
   local sums = {}
   for _, service in ipairs(values.y1564.services) do
      local from, to = paths.ends(service, values.ports, values.y1564)
      local reachable = values.y1564.topology == "loopback" or to and from ~= to
      local sound = from and reachable and service.cir and (service.cbs or service.cir == 0)
      for _, path in ipairs(sound and paths.of_service(service, values.ports, values.y1564) or {}) do
         sums[path.from] = (sums[path.from] or 0) + paths.ulr(path.cir, path.frame_size)
      end
   end
   for i, port in ipairs(values.ports) do
      local rate = rate_of(port, values)
      if rate and (sums[i] or 0) > rate then
         found:add("y1564.services",
            ("the committed rates of all services from %s take %s of the line's %s"):format(
            port.name, units.format_bits(sums[i], 1), units.format_bits(rate)),
            ("at most the line rate, with %d octets of preamble and gap a frame"):format(line.OVERHEAD))
         return
      end
   end
end

M.rules = {
   there_are_services, outage_has_a_device, services_run_between_ports, steps_go_up,
   services_are_whole, committed_rates_fit_the_line,
}

return M
