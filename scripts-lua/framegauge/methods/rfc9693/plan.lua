-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9693 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"

local TESTS = { "connection_rate", "throughput", "latency", "pdv", "teardown", "capacity" }
local MOST = 4000000 -- connections: 100 bytes each for the tester
local FRAME = 64

local function range(key, first, last, help)
   return keys.group(key, help, {
      { "first", "integer", "the first", default = first, min = "1", max = "65535" },
      { "last", "integer", "the last", default = last, min = "1", max = "65535" },
   })
end

local function repetitions(n, help)
   return { "repetitions", "integer", help, default = n, min = "1", max = "1000" }
end

local function trial(length, help)
   return { "trial", "time", help, default = length, min = "1ms", max = "24h" }
end

local addresses = keys.group("addresses", "from the address of a port on", {
   { "source", "integer", "of the Initiator", default = "1", min = "1", max = "65536" },
   { "destination", "integer", "of the Responder", default = "1", min = "1", max = "65536" },
})

local capacity = keys.group("capacity", "of the test capacity: doubling until the rate collapses, then halving what is left", {
   { "start", "integer", "connections of the first search",
     default = "10000", min = "2", max = tostring(MOST) },
   { "error", "ratio", "the search ends when it knows the capacity this well",
     default = "1%", min = "0.0001%", max = "50%" },
   { "method", { "search", "fixed" }, "search: the rate is searched for again at each number of connections that passes, as in the RFC; fixed: gamma times the first rate decides, with the same result where the rate does not sink",
     default = "search" },
})

local row = keys.group("rfc9693", "benchmarking of stateful NAT44 gateways by RFC 9693, with UDP: the first port is the Initiator, the second the Responder", {
   { "tests", "list", "connection_rate: maximum connection establishment rate (4.5, 4.6); throughput, latency, pdv: as RFC 8219 has them, in established connections (4.7); teardown: connections that the command clear removes a second (4.8); capacity: of the connection tracking table (4.9)",
     unique = true, least = 1, of = { type = "enum", values = TESTS },
     default = { "connection_rate", "throughput", "latency", "pdv", "capacity" } },
   range("source_ports", "1024", "41023", "of the Initiator"),
   range("destination_ports", "1", "10", "of the Responder"),
   addresses,
   { "connections", "list", "of connection_rate and teardown: each is a row; the other tests are made with the first. As many four tuples are enumerated, destination ports first",
     unique = true, least = 1, of = { type = "integer", min = "2", max = tostring(MOST) },
     default_help = "all that ports and addresses give" },
   shared.frame_sizes( "of throughput, latency and pdv, bytes with FCS; connections are established with 64"),
   { "max", "rate", "the highest rate of connections, and of frames each way, that is tried",
     default = "100%", max = "100%" },
   { "resolution", "ratio", "searches for a rate of connections end when they know it this well",
     default = "1%", min = "0.01%", max = "50%" },
   { "validate", "boolean", "whether the Responder sends over every connection, and each frame has to arrive (4.6); without, a device that forwards and forgets passes (4.5)",
     default = "true" },
   { "alpha", "ratio", "rate of that, as a share of the rate at which the connections were established",
     default = "50%", min = "1%", max = "100%" },
   { "beta", "ratio", "of capacity: with twice the connections less than this share of the rate is a collapse",
     default = "10%", min = "0.1%", max = "99%" },
   { "gamma", "ratio", "the same between the last two numbers of connections",
     default = "50%", min = "0.1%", max = "99%" },
   repetitions("10", "of connection_rate: of them the median, the 1st and the 99th percentile"),
   { "establishment_rate", "frame_rate", "of throughput, latency, pdv and teardown: at which connections are established before; of capacity: its first rate, which is not sought then",
     min = "1fps", default_help = "half of what connection_rate found" },
   keys.group("throughput", "of the test throughput", {
      trial("60s", "length of the trials that decide"),
      shared.search_trial("1s", "and of those on the way", "300s"),
      { "resolution", "ratio", "the search ends when it knows the load this well; a share of max",
        default = "0.1%", min = "0.001%", max = "50%" },
   }),
   { "load", "rate", "of latency and pdv: frames each way", max = "100%", default_help = "the throughput" },
   keys.group("latency", "of the test latency (RFC 8219, 7.2)", {
      trial("120s", "length of a stream"),
      { "tag_after", "time", "from when on its frames are tagged", default = "60s", max = "24h" },
      { "tags", "integer", "how many", default = "500", min = "1", max = "50000" },
      repetitions("20", "streams"),
   }),
   keys.group("pdv", "of the test pdv (RFC 8219, 7.3.1)", {
      trial("60s", "length of a stream"),
      repetitions("20", "streams"),
   }),
   capacity,
   { "timeout", "time", "as set on the device: after which it forgets a UDP connection that is idle. All of an experiment has to happen before",
     default = "300s", min = "1ms", max = "24h" },
   shared.command("clear", "program and arguments that empty the table of the device, and return when that is done", "none: before each experiment timeout and a tenth more are waited"),
   { "gap", "time", "between establishing connections and using them", default = "1s", max = "10min" },
   { "order", { "random", "increasing" }, "in which four tuples are enumerated and read; random: a draw without repeats",
     default = "random" },
   shared.seed("1", "of that draw"),
   { "settings", "list", "for the report: how the device is set, such as nf_conntrack_max",
     of = { type = "string", longest = 200 }, default = {}, default_help = "none" },
   shared.learning_wait "100ms",
   shared.drain("500ms", "how long frames may still arrive after each of both phases"),
   shared.settle("0s", "rest for the device after an experiment"),
   shared.retries,
})

local function size_of(first_last)
   return math.max(0, first_last.last - first_last.first + 1)
end

-- How many four tuples there are.
local function tuples(o)
   return size_of(o.source_ports) * size_of(o.destination_ports) * o.addresses.source
      * o.addresses.destination
end

local function are_ranges(values, found)
   for _, key in ipairs { "source_ports", "destination_ports" } do
      if values.rfc9693[key].last < values.rfc9693[key].first then
         found:add("rfc9693." .. key .. ".last", ("%d is before %d"):format(values.rfc9693[key].last,
            values.rfc9693[key].first), "first or more")
      end
   end
end

local function there_are_tuples(values, found)
   local o = values.rfc9693
   local all = tuples(o)
   for i, n in ipairs(o.connections or {}) do
      if n > all then
         found:add(found:item("rfc9693.connections", i),
            ("ports and addresses give %d four tuples"):format(all), "no more than these")
      end
   end
   if all > 0 and all < 2 or not o.connections and all > MOST then
      found:add("rfc9693.source_ports", ("ports and addresses give %d four tuples"):format(all),
         "2 to " .. MOST)
   elseif tables.contains(o.tests, "capacity") and o.capacity.start > all and all > 0 then
      found:add("rfc9693.capacity.start", ("ports and addresses give %d four tuples"):format(all),
         "no more than these")
   end
end

local function two_ports_of_ipv4(values, found)
   if #values.ports > 2 then
      found:add("ports", "Initiator and Responder are two ports", "two ports")
   end
   for _, port in ipairs(values.ports) do
      if not port.ipv4 then
         found:add("ports." .. port.name, "the port has no IPv4 address", "ipv4: ADDRESS/LENGTH")
      end
   end
end

-- What a test stands on is found before, or given.
local function loads_are_known(values, found)
   local o = values.rfc9693
   local function needs(key, of, given)
      for _, test in ipairs(o.tests) do
         if not o[given] and tables.contains(of, test) and not tables.contains(o.tests, key) then
            found:add("rfc9693.tests", ("%s stands on %s, which is not among the tests"):format(test, key),
               ("%s, or rfc9693.%s"):format(key, given))
            return
         end
      end
   end
   needs("connection_rate", { "throughput", "latency", "pdv", "teardown" }, "establishment_rate")
   needs("throughput", { "latency", "pdv" }, "load")
   if tables.contains(o.tests, "teardown") and not o.clear and not values.reference_device then
      found:add("rfc9693.clear", "missing: teardown is about what it does", "a program and its arguments")
   elseif o.latency.tag_after >= o.latency.trial then
      found:add("rfc9693.latency.tag_after", "no frame comes after it", "less than trial")
   end
end

return {
   name = "rfc9693", row = row, one_queue = true,
   rules = { two_ports_of_ipv4, are_ranges, there_are_tuples, loads_are_known },
   frame_sizes = function(plan)
      return tables.joined({ FRAME }, plan.rfc9693.frame_sizes)
   end,
   shape = function(group)
      group.connections = group.connections or { tuples(group) }
      group.throughput.search_trial = math.min(group.throughput.search_trial, group.throughput.trial)
   end,
   tuples = tuples, FRAME = FRAME,
   quick = {
      "rfc9693.repetitions=1", "rfc9693.throughput.trial=200ms", "rfc9693.throughput.search_trial=100ms",
      "rfc9693.latency.trial=200ms", "rfc9693.latency.tag_after=100ms", "rfc9693.latency.repetitions=2",
      "rfc9693.pdv.trial=200ms", "rfc9693.pdv.repetitions=2", "rfc9693.capacity.method=fixed",
      "rfc9693.gap=10ms", "rfc9693.learning_wait=10ms", "rfc9693.drain=100ms",
   },
}
