-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9411 in a plan: its keys, what must hold between them, and what it needs of the tester. In the
-- notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local octets = require "framegauge.core.octets"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"
local units = require "framegauge.text.units"

local TESTS = { "connections", "http_throughput", "latency", "concurrent" }

-- TCP as section 4.3.1 has it.
local DEFAULTS = { receive_buffer = "65535", timestamps = "false", window_scaling = "false" }

local function tcp()
   local fields = {}
   for i, row in ipairs(shared.tcp.fields) do
      fields[i] = DEFAULTS[row.key] and tables.copy(row) or row
      fields[i].default = DEFAULTS[row.key] or fields[i].default
   end
   return keys.group("tcp", "how both ends' TCP behaves (RFC 9411, 4.3.1.1)", fields)
end

local target = keys.group("target", "what the device is to reach (its data sheet, say): the search begins there and goes no further", {
   { "connections", "number", "of connections: a second",
     min = "1", max = "100000000", default_help = "what the line allows" },
   { "transactions", "number", "of http_throughput: a second",
     min = "1", max = "100000000", default_help = "what the line allows" },
   { "concurrent", "integer", "of concurrent: connections open at a time",
     min = "10", max = "4000000", default = "100000" },
})

local row = keys.group("rfc9411", "benchmarking of network security devices by RFC 9411, between the first port (clients) and the second (servers), with HTTP over TCP or over TLS", {
   { "over", { "http", "https" }, "http: HTTP/1.1 over TCP (sections 7.2 to 7.5); https: over TLS (7.6 to 7.9), where a connection counts with its handshake",
     default = "http" },
   { "tests", "list", "connections: TCP connections a second (section 7.2); http_throughput: inspected throughput (7.3); latency: to the first and the last byte, at half of both (7.4); concurrent: connections open at a time (7.5)",
     unique = true, least = 1, default = TESTS, of = { type = "enum", values = TESTS } },
   { "objects", "list", "bytes of a response's body; of concurrent it is 1KiB",
     unique = true, least = 1, of = { type = "size", min = "1", max = "1GiB" },
     default_help = "of connections 1, 2, 4, 16 and 64KiB; of http_throughput 1, 16, 64 and 256KiB; of latency 1, 16 and 64KiB" },
   target,
   { "sustain", "time", "length of the phase that figures are of, in the trials that decide",
     default = "300s", min = "100ms", max = "24h" },
   { "search_sustain", "time", "and in those on the way there", default = "30s", min = "100ms", max = "24h" },
   { "ramp_up", "time", "in which the load grows from 0; of concurrent it follows from ramp_rate",
     default = "60s", min = "1ms", max = "24h" },
   { "ramp_down", "time", "in which connections that are open are closed one after the other",
     default = "30s", min = "1ms", max = "24h" },
   { "ramp_rate", "number", "of concurrent: connections opened a second, at most half of the most",
     min = "1", max = "10000000", default_help = "half of what connections found; without that test 1000" },
   { "sample", "time", "how often the figures are sampled in the sustain phase",
     default = "1s", min = "1ms", max = "1999ms" },
   { "resolution", "ratio", "the search ends when it knows the load this well",
     default = "1%", min = "0.01%", max = "50%" },
   { "max_trials", "integer", "of a search", default = "50", min = "3", max = "1000" },
   { "failures", "ratio", "the share of transactions that fail, and of connections that are reset, must be below this",
     default = "0.001%", max = "10%" },
   { "deviation", "ratio", "how far the rate of a sample may be from the mean",
     default = "5%", max = "100%" },
   { "concurrency_deviation", "ratio", "how far the number of open connections may be from the mean, but in concurrent",
     default = "10%", max = "100%" },
   { "shortfall", "ratio", "by how much the load may be missed", default = "1%", max = "50%" },
   { "clients", "integer", "addresses, from the first port's on", default = "10", min = "1", max = "65536" },
   { "servers", "integer", "addresses, from the second port's on", default = "10", min = "1", max = "65536" },
   { "features", "list", "for the report: what the device was set to do (RFC 9411, tables 2 and 3), such as ACL entries",
     of = { type = "string", longest = 200 }, default = {}, default_help = "none" },
   { "mtu", "integer", "bytes of the largest IP packet", default = "1500", min = "576", max = "9216" },
   { "port", "integer", "where the servers listen",
     min = "1", max = "65535", default_help = "80; with https 443" },
   shared.seed("1", "of sequence numbers and the like"),
   shared.learning_wait "100ms",
   shared.drain("2s", "after the ramp down: time for the last connections to close"),
   shared.settle("5s", "pause for the device after a trial, in which it forgets closed connections"),
   shared.retries,
   tcp(),
   keys.group("tls", "with over: https", tls.GROUP.fields),
})

local function two_ports(values, found)
   if #values.ports > 2 then
      found:add("ports", "clients and servers are two ports", "two ports")
   end
end

-- The last four bytes, as a number.
local function number_of(text)
   local four = text and not text:find(":", 1, true) and octets.ipv4(text)
   return four and octets.number(four)
end

local function addresses_are_apart(values, found)
   local o, a, b = values.rfc9411, values.ports[1] or {}, values.ports[2] or {}
   local from, to = number_of(a.ipv4 and a.ipv4.address), number_of(b.ipv4 and b.ipv4.address)
   if not from or not to then
      return
   elseif from <= to and from + o.clients > to then
      found:add("rfc9411.clients", ("%d addresses from %s on reach the servers' address"):format(o.clients,
         a.ipv4.address), "fewer, or ports in networks of their own")
   elseif to < from and to + o.servers > from then
      found:add("rfc9411.servers", ("%d addresses from %s on reach the clients' address"):format(o.servers,
         b.ipv4.address), "fewer, or ports in networks of their own")
   end
end

local function latency_has_a_load(values, found)
   local o = values.rfc9411
   local function is_known(test, key)
      return tables.contains(o.tests, test) or o.target[key]
   end
   if tables.contains(o.tests, "latency") and not is_known("connections", "connections")
      and not is_known("http_throughput", "transactions") then
      found:add("rfc9411.tests", "latency is measured at half of a load, and nothing tells the load",
         "connections or http_throughput among the tests, or a target of one")
   end
end

-- Certificates decide how many bytes a handshake takes, and so what a line allows.
local function handshakes_have_a_target(values, found)
   local o = values.rfc9411
   if o.over ~= "https" then
      return
   end
   for _, one in ipairs { { "connections", "connections" }, { "http_throughput", "transactions" } } do
      local test, key = unpack(one)
      if tables.contains(o.tests, test) and not o.target[key] then
         found:add("rfc9411.target",
            ("%s is missing, and what a line allows over TLS is not known"):format(key),
            ("target.%s: where the search of %s begins"):format(key, test))
      end
   end
   tls.check_group(o.tls, found, "rfc9411.tls")
end

local function samples_fit(values, found)
   local o = values.rfc9411
   if o.sample * 2 > math.min(o.sustain, o.search_sustain) then
      found:add("rfc9411.sample", ("%s leaves less than two samples of the sustain phase"):format(
         units.format_time(o.sample)), "a shorter one, or a longer phase")
   end
end

local SMALLEST_FRAME, MAC_AND_FCS, TAG = 64, 18, 4

return {
   name = "rfc9411", row = row,
   rules = { two_ports, addresses_are_apart, latency_has_a_load, handshakes_have_a_target, samples_fit },
   one_lcore_a_port = true, one_queue = true, tcp = true,
   frame_sizes = function(plan)
      return { SMALLEST_FRAME, plan.rfc9411.mtu + MAC_AND_FCS + (plan.ports[1].vlan and TAG or 0) }
   end,
   quick = {
      "rfc9411.sustain=2s", "rfc9411.search_sustain=500ms", "rfc9411.ramp_up=200ms",
      "rfc9411.ramp_down=200ms", "rfc9411.sample=100ms", "rfc9411.learning_wait=10ms",
      "rfc9411.drain=1s", "rfc9411.settle=0s",
   },
}
