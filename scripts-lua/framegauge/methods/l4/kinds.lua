-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of TCP and UDP: one row for each. What the method, its keys, rules and reports know of a single
-- test follows from its row:
--
--    name        of the test in a plan, and of its kind in lib/apps
--    help        what it measures, a phrase
--    figure      key of its figure in a row of results
--    count(client, server)  what the figure is a rate of, and the result whose time it is of (default: the
--                transactions of the client)
--    theory(rate, ip, o, client)  the most that a line allows; client() makes the client's application
--    receiver    of payload that goes one way: the side that receives it, 1 the client, 2 the server
--    udp         it uses datagrams
--    short       its connections come and go
--    campaigns   those that it can be part of, beside battery and clients
--    peers       kinds of hosts that can play its server
--    datagrams   keys of sizes that must fit into a datagram
--    requests(o) requests on a connection; 0: no limit
--    parameters  keys of its own in the parameters of a row, beside those of TCP: list of { key, key of o }
--    fill(client, o, remote)      what its client is told beside what all are
--    group       its own rows in the group l4 of a plan, or nil
--    check(values, found)         a rule of its own for that group, or nil
--
-- A test is added by a row here; its C side is in lib/apps.
local app = require "framegauge.l4.app"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.l4.theory"

local M = {}

local SWEEPS = { ["mtu-sweep"] = true, ["buffer-sweep"] = true }

-- What the server has received, or where it is not ours what it has acknowledged.
local function to_server(client, server)
   if server then
      return server.measured.octets_in * 8, server
   end
   return client.measured.octets_out * 8, client
end

local SIZES = { { "request", "request" }, { "response", "response" } }

local function fill_http(client, o, remote)
   client.request, client.response = o.http.post, o.http.post > 0 and 0 or o.http.body
   client.requests, client.host = o.http.requests, o.ip == "ipv6" and "[" .. remote .. "]" or remote
   client.path = o.http.path or ("/octets/%d"):format(o.http.body)
   client.any_body = o.http.any_body
end

-- A path is part of a request's first line.
local function path_is_one(values, found)
   local path = values.l4.http.path
   if path and not path:match "^/[!-~]*$" then
      found:add("l4.http.path", ("'%s' is no path"):format(path), "one that begins with /, without blanks")
   end
end

local LIST = {
   -- Payload one way over TCP, by the names of netperf.
   {
      name = "TCP_STREAM", help = "payload from client to server", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = SWEEPS,
      peers = { discard = true, iperf3 = true },
   },
   {
      name = "TCP_MAERTS", help = "the other way", figure = "goodput_bps",
      count = function(client) return client.measured.octets_in * 8, client end,
      theory = theory.stream, receiver = 1, campaigns = SWEEPS, peers = { iperf3 = true },
   },
   {
      name = "TCP_SENDFILE", help = "as TCP_STREAM, but the bytes are a file's", figure = "goodput_bps",
      count = to_server, theory = theory.stream, receiver = 2, campaigns = SWEEPS,
      peers = { discard = true },
      fill = function(client, o) client.file = o.file end,
   },

   -- Requests and responses over TCP, and connections without either, by the names of netperf.
   {
      name = "TCP_RR", help = "requests and responses", figure = "transactions_per_s", theory = theory.rr,
      short = true, campaigns = { ["transaction-rate"] = true, concurrency = true }, parameters = SIZES,
   },
   {
      name = "TCP_CRR", help = "a connection for each", figure = "transactions_per_s", theory = theory.crr,
      short = true, campaigns = { ["connection-rate"] = true }, parameters = SIZES,
   },
   {
      name = "TCP_CC", help = "only connect and close", figure = "connections_per_s", theory = theory.cc,
      short = true, campaigns = { ["connection-rate"] = true }, peers = { discard = true },
   },

   -- HTTP/1.1.
   {
      name = "HTTP", help = "GET or POST of HTTP/1.1", figure = "transactions_per_s", short = true,
      theory = function(rate, ip, o, client)
         local request, response = app.http_octets(client())
         return theory.http(rate, ip, o, request, response)
      end,
      campaigns = { ["connection-rate"] = true, ["transaction-rate"] = true, concurrency = true },
      peers = { web = true }, fill = fill_http, check = path_is_one,
      requests = function(o) return o.http.requests end,
      parameters = { { "http", "http" } },
      group = {
         key = "http", type = "group",
         help = "what HTTP asks for",
         fields = {
            { key = "body", type = "size", default = "1KiB", max = "1GiB",
              help = "of each response, by GET" },
            { key = "post", type = "size", default = "0", max = "1GiB",
              help = "of each request; more than 0: POST, answered with an empty body" },
            { key = "requests", type = "integer", default = "10", min = "0", max = "1000000",
              help = "on a connection, which is then closed and followed by another; 0: until the end" },
            { key = "path", type = "string", longest = 200,
              default_help = "/octets/ and the number of http.body", help = "what is asked for" },
            { key = "any_body", type = "boolean", default = "false",
              help = "the body is not that of our server, and neither its bytes nor its length are "
                 .. "compared" },
         },
      },
   },

   -- UDP, by the names of netperf.
   {
      name = "UDP_STREAM", help = "as TCP_STREAM, in datagrams", figure = "received_bps",
      count = function(_, server) return server.measured.datagram_octets_in * 8, server end,
      theory = theory.udp_stream, receiver = 2, udp = true, datagrams = { "datagram" },
      campaigns = { ["mtu-sweep"] = true, ["buffer-sweep"] = true, policer = true, balance = true },
      peers = { iperf3 = true },
      parameters = { { "datagram", "datagram" }, { "datagrams_per_s", "datagram_rate" } },
   },
   {
      name = "UDP_RR", help = "as TCP_RR, in datagrams", figure = "transactions_per_s",
      theory = theory.udp_rr, udp = true, datagrams = { "request", "response" },
      parameters = { { "request", "request" }, { "response", "response" }, { "timeout_s", "timeout" } },
   },
}

local by_name = {}
for _, kind in ipairs(LIST) do
   by_name[kind.name] = kind
end

--- All rows, in order.
M.LIST = LIST

--- The row of a test.
-- @usage kinds.of("TCP_RR").figure --> transactions_per_s
function M.of(name)
   return by_name[name]
end

--- Names of the tests for which a function is true, in order; of all without it.
function M.names(is_one)
   return tables.map(LIST, function(kind) return (not is_one or is_one(kind)) and kind.name or nil end)
end

return M
