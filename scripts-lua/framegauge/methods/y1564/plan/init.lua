-- SPDX-License-Identifier: BSD-3-Clause

--- ITU-T Y.1564, service activation, in a plan: its keys, what must hold between them, and what it needs of
-- the tester. In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local ethernet = require "framegauge.core.ethernet"
local paths = require "framegauge.methods.y1564.plan.paths"
local shared = require "framegauge.plan.shared_rows"
local ports = require "framegauge.plan.ports"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local function acceptance(help, reverse)
   local function row(key, kind, default, max, text)
      return { key, kind, text,
         max = max, default = not reverse and default or nil,
         default_help = reverse and "as the other way" or nil }
   end
   return keys.group("acceptance", help, {
      row("flr", "ratio", "200ppm", "99%", "frame loss ratio"),
      row("ftd", "time", "26ms", "1h", "frame transfer delay, the statistic of ftd_statistic"),
      row("fdv", "time", "11ms", "1h", "frame delay variation, the statistic of fdv_statistic"),
      row("avail", "ratio", "99.9%", "100%", "availability, of the performance test"),
   }, { optional = reverse })
end

-- What may differ from one way to the other.
local one_way = keys.named {
   { "cir", "bits", "committed information rate, in the unit of rate_unit; 0: all of it is excess traffic",
     max = "800Gbps", required = true },
   { "cbs", "size", "committed burst size; at least the largest frame",
     min = "64", max = "1GiB", default_help = "none, which only a CIR of 0 can have" },
   { "eir", "bits", "excess information rate", default = "0bps", max = "800Gbps" },
   { "ebs", "size", "excess burst size; at least the largest frame where there is an excess rate",
     default = "0", max = "1GiB" },
}

local function reversed()
   local fields = {}
   for i, row in ipairs(one_way) do
      fields[i] = { row.key, row.type, row.help,
         min = row.min, max = row.max, default_help = "as the other way" }
   end
   fields[#fields + 1] = acceptance("what this way must reach", true)
   return fields
end

local service_row = keys.group(nil, nil, {
   { "from", "string", "port that it starts from", default_help = "the first port" },
   { "to", "string", "port that it goes to", default_help = "the second port" },
   { "directions", { "both", "forward", "backward" }, "which ways to test; each is tested and judged by itself",
     default = "both" },
   { "vlan", "integer", "VLAN of its frames; the tag is part of their size",
     min = "1", max = "4094", default_help = "the port's, or none" },
   shared.outer_vlan, shared.pcp, shared.dscp,
   { "source", "ip", "IP address it comes from", default_help = "the port's" },
   { "destination", "ip", "IP address it goes to; the other way these two change places",
     default_help = "the other port's" },
   { "source_port", "integer", "UDP port it comes from", min = "1", max = "65535", default = "49184" },
   { "destination_port", "integer", "UDP port it goes to", min = "1", max = "65535", default = "7" },
   { "frame_size", "size", "bytes from the destination address to the FCS",
     min = "64", max = "16128", default = "512" },
   { "emix", "string", "frames of several sizes in turn, in place of frame_size: a letter for each size (RFC 6985): a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, i 9000, j 16000; bits are evenly spaced",
     longest = 64, match = "^[a-j]+$", default_help = "none", expected = "letters a to j, such as abceg" },
   { "colour", { "blind", "aware" }, "whether the network is to heed the colours of its frames",
     default = "blind" },
   { "marking", { "none", "dscp", "pcp", "dei" }, "the mark of a yellow frame", default = "none" },
   { "yellow", "integer", "DSCP or PCP of its yellow frames; green ones have dscp or pcp",
     min = "0", max = "63", default_help = "none; with dei 1" },
   { "preserve", "list", "what of its marks must arrive as it was sent; what does not is counted in any case",
     unique = true, default = {}, default_help = "none",
     of = { type = "enum", values = { "pcp", "dei", "dscp" } } },
   { "coupling", "boolean", "the coupling flag of its profile: CIR that is not used becomes excess. The size of the excess bucket is inferred by it",
     default = "false" },
   one_way,
   acceptance "service acceptance criteria",
   keys.group("reverse", "keys that differ in the reverse direction", reversed(), { optional = true }),
})

local configuration = keys.group("configuration", "the service configuration test: every service by itself, the others silent, one way after the other", {
   { "tests", "list", "which of its tests to make. cir: A.1; step-load: A.2, which ends with A.1; eir: B, policing: C, cbs: D, ebs: E, each in the form for the service's colour. eir and ebs need an excess rate; cbs needs an excess rate of 0, because frames beyond the committed burst pass as excess otherwise",
     unique = true, least = 1, default = { "step-load", "eir", "policing", "cbs", "ebs" },
     of = { type = "enum", values = { "cir", "step-load", "eir", "policing", "cbs", "ebs" } } },
   { "steps", "list", "loads of step-load, shares of CIR, upwards; the last is 100%",
     of = { type = "ratio", min = "1%", max = "100%" }, unique = true, least = 1,
     default = { "25%", "50%", "75%", "100%" } },
   { "trial", "time", "length of a step", default = "30s", min = "100ms", max = "24h" },
   { "stop_at_failure", "boolean", "whether a service that fails a step is spared the rest",
     default = "false" },
   { "margin_mode", { "buckets", "percent" }, "what may pass beyond CIR + EIR in policing: what the buckets held at the start, 8 (CBS + EBS) / trial (M); or a share",
     default = "buckets" },
   { "margin", "ratio", "that share", default = "1%", max = "50%" },
   { "burst_cycles", "integer", "bursts of each burst test", default = "10", min = "1", max = "10000" },
   { "over_burst", "boolean", "whether to send twice the burst as well, which must not pass, and infer the bucket's size",
     default = "true" },
})

local performance = keys.group("performance", "the service performance test: all services at once, both ways, at CIR", {
   { "duration", "time", "how long; usual are 15min, 120min and 24h",
     default = "15min", min = "1s", max = "168h" },
   { "outage", "time", "how long the reference device is out of service during the event; 0: never",
     default = "0s", max = "24h" },
   { "outage_at", "time", "when, from the start", default = "60s", max = "168h" },
})

local row = keys.group("y1564", "service activation by ITU-T Y.1564; see docs/explanation/y1564.md", {
   { "tests", "list", "which of its two tests",
     unique = true, least = 1, default = { "configuration", "performance" },
     of = { type = "enum", values = { "configuration", "performance" } } },
   { "topology", { "two-ports", "loopback", "two-testers" }, "two-ports: each way by itself, one-way delays; loopback: a port receives its own frames, returned by 'framegauge reflect' at the far end: all figures are of the round trip; two-testers: each way by itself, between a port here and one of 'framegauge agent' elsewhere",
     default = "two-ports" },
   { "delays", "boolean", "two-testers: whether delays are measured, for which both clocks must agree; without them rate, loss and availability remain",
     default = "true" },
   { "clock_error", "ratio", "two-testers: how far the two clocks may be apart, as a share of the least acceptance.ftd",
     default = "10%", min = "0.01%", max = "100%" },
   { "rate_unit", { "ir", "ulr" }, "what cir and eir count: ir, bits of frames with FCS; ulr, bits of the line, with preamble and gap",
     default = "ir" },
   { "ftd_statistic", { "mean", "max" }, "which delay is held against acceptance.ftd", default = "mean" },
   { "fdv_statistic", { "p999", "range" }, "which variation is held against acceptance.fdv: the 99.9th percentile less the minimum, or the maximum less the minimum",
     default = "p999" },
   configuration, performance, shared.learning_wait "2s", shared.drain "3s", shared.settle "1s",
   shared.retries,
   { "services", "map", "the services, by names of your choice",
     of = service_row, name = "name", least = 1, most = 64,
     names = keys.NAMES,
     expected = "services by name, such as voice: {cir: 2Mbps, cbs: 16KiB}" },
})

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
   local names = tables.field(list, "name")
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
      found:add(key, "only the reference device can be put out of service",
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
   shared_rules.tags_are_whole(service, key_of(service, ""), vlan, "vlan in addition", found)
   if (service.marking == "pcp" or service.marking == "dei") and not vlan then
      found:add(key_of(service, "marking"),
         ("a frame without a tag has no %s"):format(service.marking:upper()),
         "vlan in addition, or marking: dscp")
   end
end

-- What must arrive as it was sent must be sent.
local function check_preserved(service, values, found)
   for i, mark in ipairs(service.preserve) do
      if mark ~= "dscp" and not vlan_of(service, values) then
         found:add(found:item(key_of(service, "preserve"), i), ("a frame without a tag has no %s"):format(
            mark:upper()), "vlan in addition, or dscp")
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
      found:add(key_of(service, "yellow"), ("%d is its green frames' value"):format(green), "another one")
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
         found:add(key_of(service, key), ("%s is no IPv%d address, as the ports' are"):format(
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
      found:add(key_of(service, "cbs"), "missing", "the bytes of at least one frame")
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
   return (ports.line_rate(values, port))
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
            ("at most the line rate, with %d bytes of preamble and gap a frame"):format(ethernet.OVERHEAD))
         return
      end
   end
end

local rules = {
   there_are_services, outage_has_a_device, services_run_between_ports, steps_go_up,
   services_are_whole, committed_rates_fit_the_line,
}

-- The sizes of all frames.
local function frame_sizes(plan)
   local sizes = {}
   for _, service in ipairs(plan.y1564.services) do
      tables.append(sizes, (paths.sizes(service)))
   end
   return sizes
end

-- Clocks may be apart by a share of the smallest delay criterion.
local function clocks(plan)
   local o, least = plan.y1564, math.huge
   if o.topology ~= "two-testers" then
      return nil
   end
   for _, service in ipairs(o.services) do
      local reverse = service.reverse and service.reverse.acceptance or {}
      least = math.min(least, service.acceptance.ftd, reverse.ftd or math.huge)
   end
   return {
      delays = o.delays, within_ns = o.clock_error * least * 1e9,
      share = ("%g %% of the smallest FTD"):format(o.clock_error * 100),
      otherwise = "set y1564.delays: false to measure only rates and loss",
   }
end

return {
   name = "y1564", fleet = true, clocks = clocks,
   row = row, rules = rules, frame_sizes = frame_sizes, topology_key = "y1564.topology",
   topology = function(values)
      return values.y1564.topology == "loopback" and "loopback" or "pairs"
   end,
   two_testers = function(values)
      return values.y1564.topology == "two-testers"
   end,
   quick = {
      "y1564.learning_wait=100ms", "y1564.drain=300ms", "y1564.settle=0s", "y1564.configuration.trial=1s",
      "y1564.configuration.burst_cycles=3", "y1564.performance.duration=30s",
   },
}
