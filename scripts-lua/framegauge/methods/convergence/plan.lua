-- SPDX-License-Identifier: BSD-3-Clause

--- The test `convergence` in a plan: its keys, what must hold between them, and what it needs of the tester.
-- In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local address = require "framegauge.plan.address"
local ethernet = require "framegauge.core.ethernet"
local failover = require "framegauge.plan.failover"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"
local ports = require "framegauge.plan.ports"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local MOST_CELLS = 2000000 -- intervals of all routes that are counted; 64 bytes each

local routes = keys.group("routes", "what moves: routes by their destinations, or flows", {
   { "first", "ip", "a destination in the first route",
     default_help = "none: flows to the receiving port's own address, told apart by their UDP source ports" },
   { "count", "integer", "routes or flows; their frames leave in turn, evenly spaced",
     default = "100", min = "1", max = "4096" },
   { "prefix", "integer", "length of each prefix: the destinations are one such network apart",
     min = "1", max = "128", default_help = "24, of IPv6 64" },
})

local row = keys.group("convergence", "how long routes or flows are without traffic when a device fails over (RFC 6412 and 6413, from the data plane alone)", {
   { "case", { "local-link", "remote-link", "ecmp-member", "parallel-link", "cost", "maintenance" }, "which case it is; for the report, the procedure is one",
     default = "local-link" },
   { "timers", "list", "timers of the device as it is set up, for the report",
     of = { type = "string", longest = 200 }, default = {}, default_help = "none" },
   { "from", "string", "the port that sends", default_help = "the first port" },
   { "preferred", "string", "the port at the preferred egress", default_help = "the second port" },
   { "next_best", "string", "the port at the next-best egress",
     default_help = "none: traffic returns to the preferred port" },
   routes,
   { "size", "size", "bytes of the frames with FCS", default = "128", min = "64", max = "16128" },
   { "rate", "rate", "the load of all routes together", default = "100kfps" },
   { "resolution", "time", "most time between two frames of one route; no figure is finer",
     default = "1ms", min = "1us", max = "10s" },
   { "sampling", "time", "interval of the figures that are derived from the rate",
     default = "10ms", min = "1ms", max = "10s" },
   { "t_max", "time", "a frame that arrives so long after it was sent is lost",
     default = "3s", min = "1us", max = "1h" },
   { "at", "time", "when the event comes, from the start of the load; nothing may be lost before",
     default = "5s", min = "1ms", max = "1h" },
   { "watch", "time", "by when after the event all routes must be back",
     default = "10s", min = "1ms", max = "1h" },
   { "validation", "time", "how long they must then stay without loss (sustained convergence validation time)",
     default = "5s", min = "1ms", max = "1h" },
   shared.command("command", "causes the failure: a program and its arguments", "none: link, the reference device's outage, or the person at the terminal"),
   shared.command("revert_command", "undoes it; measured, too, as the reversion", "none"),
   { "link", "string", "or a port of the tester, an interface of the kernel, whose link is taken down, and up again as the reversion",
     default_help = "none", does = "takes down the link of port" },
   { "outage", "time", "how long the reference device is out of service; a fail-over of the reference switch has no such time: the link stays down, and is up again as the reversion",
     default = "50ms", min = "1us", max = "1h" },
   shared.repetitions("10", "how often, a row for each event", "1000"),
   keys.group("limit", "what the device must keep to", {
      { "loss_of_connectivity", "time", "longest loss of connectivity of any route",
        min = "1us", max = "1h", default_help = "none" },
   }),
   shared.learning_wait "1s", shared.drain "1s", shared.settle "1s", shared.retries,
})

local KEY = "convergence."

local function port_of(values, name)
   return values.ports[tables.index_of(values.ports, name)]
end

-- The ports by their roles; nil for a role without a port.
local function ends_of(values)
   local o, list = values.convergence, values.ports
   return {
      from = o.from and port_of(values, o.from) or not o.from and list[1] or nil,
      preferred = o.preferred and port_of(values, o.preferred) or not o.preferred and list[2] or nil,
      next_best = o.next_best and port_of(values, o.next_best),
   }
end

local function ports_are_there(values, found)
   local ends, seen = ends_of(values), {}
   for _, key in ipairs { "from", "preferred", "next_best" } do
      local name, port = values.convergence[key], ends[key]
      if name and not port then
         found:add(KEY .. key, ("there is no port '%s'"):format(name), "one of the names in ports")
      elseif port and seen[port] then
         found:add(KEY .. key, ("%s is also %s"):format(port.name, seen[port]), "another port")
      elseif port then
         seen[port] = key
      elseif key ~= "next_best" and not found:has_below "ports" then
         found:add(KEY .. key, "there is no port for it", "at least 2 ports")
      end
   end
end

-- The cause of the event.
local function event_is_one(values, found)
   local o, wire = values.convergence, values.ports[1] and ports.is_wire(values.ports[1])
   local device = values.reference_switch or values.reference_device
   if o.command and o.link then
      found:add(KEY .. "link", "not together with command", "one of them")
   elseif wire and o.link then
      found:add(KEY .. "link", "a wire has no link to take down", "the reference device's outage")
   elseif wire and o.command and device and device.time == "free" then
      found:add(KEY .. "command", "no program can meet time that runs free",
         "outage, or time: real of the reference device")
   elseif not wire and found:given(KEY .. "outage") then
      found:add(KEY .. "outage", "these ports have no reference device", "command or link")
   elseif (o.command or o.link) and found:given(KEY .. "outage") then
      found:add(KEY .. "outage", "not together with another event", "one of them")
   elseif o.revert_command and not o.command then
      found:add(KEY .. "revert_command", "there is no command whose failure it undoes", "command in addition")
   end
end

-- The ports must take part in the reference switch's fail-over.
local function fails_over_like_the_switch(values, found)
   local f, ends = values.reference_switch and values.reference_switch.failover, ends_of(values)
   local preferred, next_best = nil, nil
   if f then
      preferred, next_best = failover.ends(f, values.ports)
   end
   if not next_best or found:has_below "reference_switch" then
      return
   elseif ends.preferred and ends.preferred.name ~= preferred then
      found:add(KEY .. "preferred", "of the reference switch the link of another port fails", preferred)
   elseif not ends.next_best or ends.next_best.name ~= next_best then
      found:add(KEY .. "next_best", "not where the reference switch fails over to", next_best)
   elseif found:given(KEY .. "outage") then
      found:add(KEY .. "outage", "not with a fail-over, in which the link stays down", "no such key")
   end
end

local function link_is_an_interface(values, found)
   local name = values.convergence.link
   local port = name and port_of(values, name)
   if name and not port then
      found:add(KEY .. "link", ("there is no port '%s'"):format(name), "one of the names in ports")
   elseif port and port.device and port.device.kind ~= "kernel" and not ports.is_wire(port) then
      found:add(KEY .. "link", ("%s is no interface of the kernel"):format(port.device.name),
         "a port whose device is kernel:IF, or command")
   elseif port and port == ends_of(values).from then
      found:add(KEY .. "link", "the port that sends must stay up", "a port that receives")
   end
end

local BITS = { [4] = 32, [6] = 128 }

-- How many of the routes have destinations that a host may have.
local function usable_routes(o, prefix)
   local first = address.bytes(o.first)
   for i = 1, o.count do
      local bytes = address.after(first, i - 1, prefix)
      if not bytes or address.unusable(bytes, 32) then
         return i - 1
      end
   end
   return o.count
end

local function routes_are_addresses(values, found)
   local o, ends = values.convergence.routes, ends_of(values)
   local version = o.first and (o.first:find(":", 1, true) and 6 or 4)
   local prefix = o.prefix or version == 6 and 64 or 24
   if not o.first then
      if found:given(KEY .. "routes.prefix") then
         found:add(KEY .. "routes.prefix", "flows have no prefixes", "first in addition")
      end
      return
   elseif prefix > BITS[version] then
      found:add(KEY .. "routes.prefix", ("longer than the %d bits of %s"):format(BITS[version], o.first),
         "at most " .. BITS[version])
   elseif prefix < 31 and o.count > 2 ^ prefix then
      found:add(KEY .. "routes.count", ("more than there are networks of /%d"):format(prefix),
         ("at most %d"):format(2 ^ prefix))
   elseif address.unusable(o.first, 32) then
      found:add(KEY .. "routes.first", ("%s %s"):format(o.first, address.unusable(o.first, 32)),
         "a host's address")
   elseif ends.from and not ends.from["ipv" .. version] then
      found:add(KEY .. "routes.first", ("the port %s has no IPv%d address"):format(ends.from.name, version),
         "an address of a family that it has")
   elseif usable_routes(o, prefix) < o.count then
      found:add(KEY .. "routes.count", ("only %s of /%d from %s on can have addresses of hosts"):format(
         format.plural(usable_routes(o, prefix), "network"), prefix, o.first),
         ("at most %d, or a lower first address"):format(usable_routes(o, prefix)))
   end
end

-- The load is known if the line's rate is, or if the load is no share of it.
local function load_is_fine_enough(values, found)
   local o, from = values.convergence, ends_of(values).from
   local line = from and ports.line_rate(values, from)
   local line_fps = line and ethernet.max_fps(line, o.size)
   local fps = loads.of_rate(o.rate, o.size, line_fps)
   local tau = fps and o.routes.count / fps
   if not fps then
      return
   elseif line_fps and fps > line_fps * (1 + 1e-9) then
      found:add(KEY .. "rate", ("more than the line of %s carries (%d fps)"):format(from.name, line_fps))
   elseif tau > o.resolution * (1 + 1e-9) then
      local text = "each of %d routes has a frame every %s only, and the resolution is %s"
      found:add(KEY .. "rate", text:format(o.routes.count, units.format_time(tau),
         units.format_time(o.resolution)), ("at least %dfps, or fewer routes"):format(
         math.ceil(o.routes.count / o.resolution)))
   elseif o.sampling < tau then
      found:add(KEY .. "sampling", ("shorter than the %s between two frames of a route"):format(
         units.format_time(tau)), "at least that")
   end
end

local function intervals_fit_memory(values, found)
   local o = values.convergence
   local cells = (o.at + o.watch + o.validation) / o.sampling * o.routes.count
   if cells > MOST_CELLS then
      found:add(KEY .. "sampling", ("%d routes with this sampling need %s counters"):format(o.routes.count,
         format.count(math.floor(cells))), ("at most %s: fewer routes, a shorter watch, or a longer interval"):format(format.count(MOST_CELLS)))
   end
end

return {
   name = "convergence", row = row,
   rules = {
      ports_are_there, event_is_one, fails_over_like_the_switch, link_is_an_interface, routes_are_addresses,
      load_is_fine_enough, intervals_fit_memory,
   },
   one_way = function() return true end,
   topology = function(values) -- with a next-best egress one port sends to several
      return #values.ports > 2 and "one-to-many" or "pairs"
   end,
   frame_sizes = function(plan)
      return { plan.convergence.size }
   end,
   shape = function(o)
      if o.routes.first and not o.routes.prefix then
         o.routes.prefix = o.routes.first:find(":", 1, true) and 64 or 24
      end
      return o
   end,
   quick = {
      "convergence.at=200ms", "convergence.watch=500ms", "convergence.validation=300ms",
      "convergence.repetitions=1", "convergence.learning_wait=10ms", "convergence.drain=100ms",
      "convergence.settle=0s",
   },
}
