-- SPDX-License-Identifier: BSD-3-Clause

--- The tests DNS, DNS_TCP, DNS_TLS and DNS_HTTPS: their queries and answers, of the group `l4.dns` of a plan.
-- Their C side is lib/apps/dns, and lib/apps/http2/doh.c.
local keys = require "framegauge.plan.keys"
local format = require "framegauge.text.format"
local named_file = require "framegauge.core.named_file"
local tables = require "framegauge.core.tables"

local M = {}

local TYPES = { "A", "AAAA", "TXT", "NS", "CNAME", "SOA", "PTR", "MX", "SRV", "HTTPS", "ANY" }
local MOST_QUESTIONS, LONGEST = 1000000, 300e6 -- a name has at most 253 bytes
local MOST_AT_A_TIME = 4000000 -- queries, of all connections
local NAME_MAX, LABEL_MAX = 253, 63 -- characters (RFC 1035, 2.3.4)

M.GROUP = keys.group("dns", "of DNS, DNS_TCP, DNS_TLS and DNS_HTTPS: what is asked, and what our server answers. Addresses follow from the name, out of 198.18.0.0/15 and 2001:2::/48, and the client compares every byte of the answers", {
   { "name", "string", "the names of the queries, in turn; {FIRST..LAST} stands for each of these numbers",
     longest = 300, default = "h{0..9999}.fg.test" },
   { "type", TYPES, "the type of the queries", default = "A" },
   { "queries", "string", "a file with a name and a type in each line, as dnsperf reads it, in place of these two",
     longest = 4096, does = "reads the file", default_help = "none: name and type" },
   { "rate", "number", "queries a second, at times that do not depend on answers; latency counts from these times. Over UDP l4.connections is then the most that wait at a time",
     min = "0.001", max = "100000000", default_help = "a closed loop" },
   { "pipeline", "integer", "of DNS_TCP, DNS_TLS and DNS_HTTPS: queries at a time on a connection; 1: each follows the answer to the one before",
     default = "16", min = "1", max = "1000" },
   { "requests", "integer", "of DNS_TCP, DNS_TLS and DNS_HTTPS: queries on a connection, which is then closed and followed by another; 0: until the end",
     default = "0", min = "0", max = "1000000" },
   { "post", "boolean", "of DNS_HTTPS: queries are bodies of POST; else they are in the path of GET",
     default = "false" },
   { "path", "string", "of DNS_HTTPS: path of the requests, at which our server answers",
     longest = 200, default = "/dns-query" },
   { "idle", "time", "of our server over TCP: a connection without a query for so long is closed; 0s: none is",
     default = "10s", max = "1h" },
   { "fallback", "boolean", "of DNS: a truncated response is requested again over TCP (RFC 7766), on a connection for each query",
     default = "true" },
   { "edns", "integer", "bytes of the largest answer, told by EDNS (RFC 6891); 0: no EDNS, and 512 bytes",
     default = "1232", min = "0", max = "65535" },
   { "cookies", { "off", "on", "required" }, "of DNS: the client sends a cookie (RFC 7873) and keeps the server's; our server, over TCP as well, answers cookies by RFC 9018. required (with the test DNS, whose queries go over UDP): it answers BADCOOKIE over UDP to a query whose cookie is not its own, and the client asks once more",
     default = "off" },
   { "dnssec", "boolean", "request DNSSEC records (DO)", default = "false" },
   { "recursion", "boolean", "request recursion (RD)", default = "true" },
   { "any_answer", "boolean", "answers need only be well formed and to the question: they are not our server's",
     default = "false" },
   { "answers", "integer", "of our server: records in an answer to A, AAAA or TXT",
     default = "1", min = "0", max = "1000" },
   { "ttl", "integer", "of our server: seconds", default = "300", min = "0", max = "2147483647" },
   { "text", "integer", "of our server: bytes of text in a TXT record",
     default = "64", min = "0", max = "8192" },
   { "zone", "string", "of our server: the zone that it serves, as fg.test; names outside of it are REFUSED",
     longest = 254, default_help = "it answers every name" },
   { "nxdomain", "ratio", "of our server: share of the names that do not exist",
     default = "0%", max = "100%" },
})

-- What is wrong with a name; nil: nothing
local function fault_of(name)
   name = name:gsub("%.$", "")
   if #name > NAME_MAX then
      return ("a name of %d characters; at most %d"):format(#name, NAME_MAX)
   end
   for label in (name .. "."):gmatch "([^.]*)%." do
      if label == "" or #label > LABEL_MAX or label:find "[%s%c]" then
         return ("'%s' is no name: a label has 1 to %d characters"):format(name:sub(1, 80), LABEL_MAX)
      end
   end
end

-- A name as labels, as it stands in a message.
local function labels_of(name)
   return (name:gsub("%.$", ""):gsub("([^.]+)%.?", function(label)
      return string.char(#label) .. label
   end)) .. "\0"
end

-- The names that a pattern expands to. @return list, or nil and what is wrong
local function names_of(pattern)
   local before, first, last, behind = pattern:match "^(.-){(%d+)%.%.(%d+)}(.*)$"
   if not before then
      return { pattern }, fault_of(pattern)
   end
   first, last = tonumber(first), tonumber(last)
   if last < first or last - first >= MOST_QUESTIONS then
      return nil, ("{%.0f..%.0f} is not 1 to %s numbers"):format(first, last, format.count(MOST_QUESTIONS))
   end
   local list, fault = {}, fault_of(before .. ("%.0f"):format(last) .. behind)
   for i = first, last do
      list[#list + 1] = ("%s%.0f%s"):format(before, i, behind)
   end
   return list, fault
end

-- The queries of a file in dnsperf's format. @return list of lines, or nil and what is wrong
local function questions_of_file(path)
   local text, why = named_file.read(path, LONGEST)
   local list, number = {}, 0
   if not text then
      return nil, ("%s cannot be read: %s"):format(path, why)
   end
   for line in text:gmatch "([^\n]*)\n?" do
      number = number + 1
      if line:find "%S" and not line:find "^%s*[;#]" then
         local name, type_of = line:match "^%s*(%S+)%s+(%S+)%s*$"
         local fault = name and fault_of(name)
            or not name and "expected a name and a type, as in h1.fg.test A"
            or not tables.contains(TYPES, type_of:upper()) and type_of .. " is not a type that is known here"
         if fault or #list == MOST_QUESTIONS then
            return nil, ("%s:%d: %s"):format(path, number, fault or "more than a million questions")
         end
         list[#list + 1] = name .. " " .. type_of:upper()
      end
   end
   return list[1] and list, ("%s has no questions"):format(path)
end

local function questions(dns)
   if dns.queries then
      return questions_of_file(dns.queries)
   end
   local list, fault = names_of(dns.name)
   if fault then
      return nil, fault
   end
   for i, name in ipairs(list) do
      list[i] = name .. " " .. dns.type
   end
   return list
end

--- Arguments of the client and the server of the test (framegauge.traffic.l4.app).
function M.fill(client, o)
   local dns = o.dns
   local zone = dns.zone and labels_of(dns.zone)
   client.requests_per_s = dns.rate
   client.dns = {
      questions = table.concat(assert(questions(dns)), "\n"), udp_size = dns.edns, dnssec = dns.dnssec,
      recursion = dns.recursion, any_answer = dns.any_answer, answers = dns.answers, ttl = dns.ttl,
      text = dns.text, nxdomain_ppm = math.floor(dns.nxdomain * 1e6 + 0.5), fallback = dns.fallback,
      cookies = dns.cookies ~= "off", cookies_required = dns.cookies == "required",
      zone = zone or "", zone_bytes = zone and #zone or 0,
      pipeline = dns.pipeline, idle_ns = math.floor(dns.idle * 1e9 + 0.5),
   }
end

--- The same over TCP. A query leaves when it is due: it does not wait for an acknowledgement.
function M.fill_tcp(client, o)
   M.fill(client, o)
   client.requests, client.tcp.nodelay = o.dns.requests, true
end

--- The same by HTTP/2: up to dns.pipeline concurrent requests.
function M.fill_https(client, o)
   M.fill_tcp(client, o)
   client.requests_per_s, client.dns.post = nil, o.dns.post
   client.streams, client.request, client.response = o.dns.pipeline, 0, 0
   client.path, client.host = o.dns.path, o.tls.server_name
end

local OVER_TCP = { "DNS_TCP", "DNS_TLS", "DNS_HTTPS" }

local function has_any(tests, names)
   for _, name in ipairs(names) do
      if tables.contains(tests, name) then
         return true
      end
   end
end

--- The rule of the tests over TCP: a worker reserves the memory for all concurrent queries.
function M.check_tcp(values, found)
   local o = values.l4
   if has_any(o.tests, OVER_TCP) and o.connections * o.dns.pipeline > MOST_AT_A_TIME then
      found:add("l4.dns.pipeline", ("%.0f queries at a time on %d connections"):format(
         o.connections * o.dns.pipeline, o.connections), ("at most %d in all"):format(MOST_AT_A_TIME))
   end
   if tables.contains(o.tests, "DNS_HTTPS") and o.dns.rate then
      found:add("l4.dns.rate", "DNS_HTTPS is a closed loop", "no rate, or DNS_TLS")
   end
   if not o.dns.path:match "^/[!-~]*$" or o.dns.path:find("[?#]") then
      found:add("l4.dns.path", ("'%s' is no path"):format(o.dns.path), "a path such as /dns-query")
   end
end

--- The rule of the group: every query can be sent.
function M.check(values, found)
   local dns = values.l4.dns
   local list, fault = {}, nil
   if has_any(values.l4.tests, { "DNS", unpack(OVER_TCP) }) then
      list, fault = questions(dns)
   end
   if not list then
      found:add(dns.queries and "l4.dns.queries" or "l4.dns.name", fault,
         dns.queries and "lines such as: h1.fg.test A" or "a name such as h{0..9999}.fg.test")
   end
   local zone_fault = dns.zone and fault_of(dns.zone)
   if zone_fault then
      found:add("l4.dns.zone", zone_fault, "a name such as fg.test")
   end
   if dns.edns > 0 and dns.edns < 512 then
      found:add("l4.dns.edns", ("%d is less than every message may have"):format(dns.edns),
         "0, or at least 512")
   end
   if dns.edns == 0 and dns.cookies ~= "off" then
      found:add("l4.dns.cookies", "cookies are an option of EDNS, which edns: 0 switches off", "off, or edns")
   end
   if dns.cookies == "required" and not tables.contains(values.l4.tests, "DNS") then
      found:add("l4.dns.cookies", "BADCOOKIE is answered over UDP alone", "on, or the test DNS")
   end
end

return M
