-- SPDX-License-Identifier: BSD-3-Clause

--- The TCP and UDP tests in a plan: their keys, what must hold between them, and what they need of the
-- tester. In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local address = require "framegauge.plan.address"
local ethernet = require "framegauge.core.ethernet"
local groups = require "framegauge.methods.l4.plan.groups"
local kinds = require "framegauge.methods.l4.plan.kinds"
local quic = require "framegauge.methods.l4.plan.quic"
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"
local transports = require "framegauge.methods.l4.plan.transports"
local units = require "framegauge.text.units"
local versions = require "framegauge.methods.l4.plan.versions"

local CAMPAIGNS = {
   "battery", "mtu-sweep", "buffer-sweep", "policer", "balance", "clients", "connection-rate",
   "transaction-rate", "concurrency", "transports",
}

-- "TCP_STREAM: payload from client to server; ..."
local function meanings()
   local list = tables.map(kinds.LIST, function(kind) return kind.name .. ": " .. kind.help end)
   return table.concat(list, "; ")
end

-- TCP as everywhere, except that some tests have Nagle's algorithm off (kinds.lua).
local function tcp()
   local group = tables.copy(shared.tcp)
   group.fields = tables.map(group.fields, function(field)
      if field.key == "nodelay" then
         field = tables.copy(field)
         field.default, field.default_help = nil, "true for HTTP2 and HTTPS2, as curl, nginx and nghttp2 have it; else false"
      end
      return field
   end)
   return group
end

local row = keys.group("l4", "TCP and UDP between the first port (client) and the second (server), by the names of netperf", {
   { "campaign", CAMPAIGNS, "battery: each of the tests as it is; mtu-sweep: goodput, files or pings against the MTU, over all IP versions that both ports have; buffer-sweep: goodput against the buffers of both ends, for messages of several sizes; policer: UDP below and above a limit; balance: how flows are spread over paths; clients: against the number of clients; connection-rate, transaction-rate and concurrency: searches for the most; transports: TCP, TLS, QUIC and HTTP compared over a grid of paths of the reference device. See docs/how-to/tcp-campaigns.md",
     default = "battery" },
   { "tests", "list", meanings(),
     unique = true, least = 1, default = { "TCP_STREAM" }, of = { type = "enum", values = kinds.names() } },
   { "duration", "time", "length of each test", default = "10s", min = "10ms", max = "24h" },
   { "omit", "time", "time at the start that is left out of the figures", default = "0s", max = "1h" },
   shared.repetitions("1", "how often each test is made; the figure is the mean", "100"),
   { "connections", "integer", "at a time; of UDP_STREAM streams; of UDP_RR, PING and DNS requests, a port or identifier for each",
     default = "1", min = "1", max = "1000000" },
   { "message", "size", "of TCP streams: bytes of each write, which waits for room in the send buffer",
     min = "1", max = "1GiB", default_help = "all at once" },
   { "file", "string", "of TCP_SENDFILE; the default is the program's own",
     default = "/proc/self/exe", does = "sends the bytes of the file" },
   { "interval", "time", "of the series of a trial: the traffic received in each",
     min = "1ms", max = "1h", default_help = "none" },
   { "request", "size", "of TCP_RR, TCP_CRR and UDP_RR", default = "1", min = "1", max = "1GiB" },
   { "response", "size", "the same", default = "1", min = "1", max = "1GiB" },
   { "datagram", "size", "payload of UDP_STREAM", default = "1470", min = "16", max = "9000" },
   { "datagram_rate", "frame_rate", "of UDP_STREAM, all streams together",
     min = "1fps", default_help = "as fast as the port takes" },
   { "timeout", "time", "a request of UDP_RR, PING or DNS without an answer is given up and counted. Over TCP, TLS and QUIC: a connection, request, close or stream of payload that made no progress for this time, in either direction, while the client waits; not of FTP (see ftp.timeout), of a peer that runs iperf3 and of the campaign transports",
     min = "1us", max = "1h", default_help = "2s; of UDP_RR, PING and DNS, over any transport, 1s" },
   { "close", { "fin", "reset", "half-close" }, "how the client ends a connection. fin: by FIN. reset: by RST, once the last response has come (TCP_STREAM, TCP_SENDFILE, TCP_CC: once all sent data is acknowledged), so that no end and no device between keeps it in TIME_WAIT. half-close (TCP_RR, TCP_CRR, HTTP): by a FIN with its last request; the response then comes on the other half",
     default = "fin" },
   { "mtu", "integer", "bytes of the largest IP packet", default = "1500", min = "256", max = "9216" },
   shared.port("5001", "where the server listens"),
   shared.seed("1", "of sequence numbers and the like"),
   shared.learning_wait "100ms",
   shared.drain("2s", "time for connections to close"),
   shared.settle "0s", groups.peer, groups.balance, groups.load, groups.sweep, groups.search,
   transports.GROUP, tcp(), tls.GROUP, quic.GROUP, tables.field(kinds.LIST, "group"),
})

local IPV6_MIN_MTU = 1280
local MAX_REQUESTS = 65535 - 1024 + 1

local function something_is_measured(values, found)
   local o = values.l4
   if o.omit >= o.duration then
      found:add("l4.omit", ("%s leaves nothing of the duration (%s)"):format(units.format_time(o.omit),
         units.format_time(o.duration)), "less than the duration")
   end
end

local function packets_fit(values, found)
   local o, version = values.l4, versions(values)[1] or "ipv4"
   local room = o.mtu - ethernet.header_octets(version, "udp")
   if version == "ipv6" and o.mtu < IPV6_MIN_MTU then
      found:add("l4.mtu", ("%d is less than every IPv6 link carries"):format(o.mtu),
         "at least " .. IPV6_MIN_MTU)
   end
   local swept = o.campaign == "mtu-sweep" or o.campaign == "buffer-sweep"
   for _, test in ipairs(o.tests) do
      for _, key in ipairs(not (swept and kinds.of(test).receiver) and kinds.of(test).datagrams or {}) do
         if o[key] > room then
            found:add("l4." .. key, ("datagrams of %d bytes do not fit into an MTU of %d"):format(o[key],
               o.mtu), "at most " .. room)
         end
      end
   end
end

local function requests_have_ports(values, found)
   for _, test in ipairs(values.l4.tests) do
      local kind = kinds.of(test)
      if kind.udp and not kind.receiver and values.l4.connections > MAX_REQUESTS then
         found:add("l4.connections", ("%d requests at a time need as many ports"):format(
            values.l4.connections), "at most " .. MAX_REQUESTS)
         return
      end
   end
end

local PORTS = MAX_REQUESTS -- of an address

-- The greatest number of concurrent connections in the campaign, and the key that sets it.
local function most_at_a_time(o)
   if o.campaign == "clients" then
      return math.max(unpack(o.sweep.clients)), "l4.sweep.clients"
   elseif o.campaign == "concurrency" then
      return o.search.max or o.connections, o.search.max and "l4.search.max" or "l4.connections"
   end
   return o.connections, "l4.connections"
end

-- Each connection of TCP has its own port. QUIC connections are told apart by their IDs.
local function connections_have_ports(values, found)
   local o = values.l4
   local n, key = most_at_a_time(o)
   local ports = o.load.addresses * PORTS
   for _, test in ipairs(o.tests) do
      local kind = kinds.of(test)
      local of_page = kind.pages and not kind.alpn and o.page.connections or 1
      if not kind.udp and not kind.quic and n * of_page > ports and not found:has(key) then
         found:add(key, ("%.0f connections of %s at a time from %s have %.0f ports"):format(n * of_page, test,
            o.load.addresses == 1 and "one address" or o.load.addresses .. " addresses", ports),
            ("at most %.0f, or l4.load.addresses: %.0f"):format(math.floor(ports / of_page),
               math.ceil(n * of_page / PORTS)))
         return
      end
   end
end

-- "TCP_RR or HTTP": the tests whose property is in a set
local function one_of(set, name)
   local names = kinds.names(function(kind)
      return kind[set] and kind[set][name]
   end)
   local last = table.remove(names)
   return names[1] and table.concat(names, ", ") .. " or " .. last or last
end

-- Campaigns that are open to any test.
local FOR_ALL = { battery = true, clients = true }

local function campaign_has_its_tests(values, found)
   local campaign = values.l4.campaign
   for i, test in ipairs(FOR_ALL[campaign] and {} or values.l4.tests) do
      if not (kinds.of(test).campaigns or {})[campaign] then
         found:add(found:item("l4.tests", i), ("%s is no part of %s"):format(test, campaign),
            one_of("campaigns", campaign))
      end
   end
end

-- The last four bytes as a number, and those before.
local function split(text)
   local bytes = address.bytes(text)
   local a, b, c, d = bytes:byte(-4, -1)
   return ((a * 256 + b) * 256 + c) * 256 + d, bytes:sub(1, -5)
end

-- All client addresses belong to the first port: nobody else may have one.
local function clients_have_their_addresses(values, found)
   local a, b, n = values.ports[1] or {}, values.ports[2] or {}, values.l4.load.addresses
   for family, gateway in pairs { ipv4 = "gateway", ipv6 = "gateway6" } do
      local own, others = a[family], { a[gateway] or false, b[family] and b[family].address }
      for _, other in ipairs(own and n > 1 and others or {}) do
         local first, network = split(own.address)
         local number, its = split(other or own.address)
         if other and its == network and number >= first and number < first + n then
            found:add("l4.load.addresses", ("%d addresses from %s on include %s"):format(n, own.address, other),
               "unused addresses")
         end
      end
   end
end

local function peer_can_do_it(values, found)
   local port, peer = values.ports[1] or {}, values.l4.peer
   if not peer then
      return
   end
   for i, test in ipairs(values.l4.tests) do
      if not (kinds.of(test).peers or {})[peer.kind] then
         found:add(found:item("l4.tests", i), ("%s needs a server of ours"):format(test),
            one_of("peers", peer.kind) .. ", or no l4.peer")
      end
   end
   for family, gateway in pairs { ipv4 = "gateway", ipv6 = "gateway6" } do
      if peer[family] and not port[gateway] then
         found:add("l4.peer." .. family, ("the first port has no %s to reach it through"):format(gateway),
            "a gateway, which may be the host itself")
      end
   end
end

local IPERF_STREAMS = 128

-- iperf3 counts whole seconds, and its streams; and it has directions.
local function iperf_can_do_it(values, found)
   local o = values.l4
   local peer = o.peer
   if not peer then
      return
   elseif peer.kind ~= "iperf3" then
      if peer.direction ~= "forward" then
         found:add("l4.peer.direction", ("%s is for iperf3"):format(peer.direction), "kind: iperf3")
      end
      return
   end
   if peer.direction ~= "forward" and tables.contains(values.l4.tests, "TCP_MAERTS") then
      found:add("l4.peer.direction", "TCP_MAERTS is TCP_STREAM in reverse already", "forward")
   end
   if o.omit % 1 ~= 0 then
      found:add("l4.omit", ("iperf3 does not omit %s"):format(units.format_time(o.omit)), "whole seconds")
   end
   if o.connections > IPERF_STREAMS then
      found:add("l4.connections", ("%d streams are more than iperf3 has"):format(o.connections),
         "at most " .. IPERF_STREAMS)
   end
end

local function connections_close_so(values, found)
   local o = values.l4
   for i, test in ipairs(o.close ~= "fin" and o.tests or {}) do
      local kind = kinds.of(test)
      local last = not kind.requests and o.load.requests or kind.requests(o)
      if not (kind.closes or {})[o.close] or o.peer and o.peer.kind == "iperf3" then
         found:add(found:item("l4.tests", i), ("%s does not close by %s"):format(test, o.close),
            one_of("closes", o.close) .. ", or l4.close: fin")
      elseif o.close == "half-close" and test ~= "TCP_CRR" and last == 0 then
         found:add("l4.close", ("no request of %s is the last one"):format(test),
            kind.requests and "http.requests more than 0" or "load.requests more than 0")
      end
   end
end

local function ramps_fit(values, found)
   local load = values.l4.load
   if load.start > 0 and not load.per_second then
      found:add("l4.load.start", "clients at the start of no ramp", "load.per_second in addition")
   end
   if load.think_max > 0 and load.think_max < load.think then
      found:add("l4.load.think_max", ("%s is shorter than think (%s)"):format(units.format_time(load.think_max),
         units.format_time(load.think)))
   end
end

local function two_ports(values, found)
   local given = values.l4.balance.address
   if values.l4.campaign == "balance" then
      if given and not address.bytes(given) then
         found:add("l4.balance.address", given .. " is not an address", "an IPv4 or IPv6 address")
      end
   elseif #values.ports > 2 then
      found:add("ports", "a client and a server are two ports", "two ports")
   end
end

local rules = {
   something_is_measured, packets_fit, requests_have_ports, campaign_has_its_tests,
   clients_have_their_addresses, peer_can_do_it, iperf_can_do_it, ramps_fit,
   connections_close_so, two_ports, tls.check, quic.check, transports.check,
}
for _, kind in ipairs(kinds.LIST) do
   rules[#rules + 1] = kind.check
end
rules[#rules + 1] = connections_have_ports -- last: a kind may carry fewer

local SMALLEST_FRAME, MAC_AND_FCS = 64, 18

-- The largest MTU of all cases.
local function largest_mtu(o)
   return o.campaign == "mtu-sweep" and math.max(unpack(o.sweep.mtu)) or o.mtu
end

-- An agent receives numbers only, no files, texts and keys; and each side has one address.
local function fits_agents(values, found)
   local o = values.l4
   for i, test in ipairs(o.tests) do
      if not kinds.is_for_agents(test) then
         found:add(found:item("l4.tests", i), ("%s cannot use the ports of agents: they are told no files, texts and keys"):format(test), table.concat(kinds.names(function(kind)
               return kinds.is_for_agents(kind.name)
            end), ", "))
      end
   end
   if o.campaign == "balance" then
      found:add("l4.campaign", "balance cannot use the ports of agents: it has streams and connections",
         "another one, or ports of this machine")
   elseif o.peer then
      found:add("l4.peer", "not with the port of an agent", "the ports of two agents")
   elseif o.load.addresses > 1 then
      found:add("l4.load.addresses", "an agent has one address of a port", "1")
   end
end

-- A key that the plan leaves to the tests stays open only where the tests differ.
local function shape(o)
   if o.tcp.nodelay == nil and not tables.any(o.tests, function(test) return kinds.of(test).nodelay end) then
      o.tcp.nodelay = false
   end
end

return {
   name = "l4", row = row, shape = shape, rules = rules, one_lcore_a_port = true, one_queue = true, tcp = true,
   fleet = fits_agents,
   devices = transports.devices,
   frame_sizes = function(plan)
      return { SMALLEST_FRAME, largest_mtu(plan.l4) + MAC_AND_FCS }
   end,
   quick = {
      "l4.duration=500ms", "l4.omit=100ms", "l4.repetitions=1", "l4.drain=500ms", "l4.learning_wait=10ms",
   },
}
