-- SPDX-License-Identifier: BSD-3-Clause

--- The requests of the HTTP tests, and which responses are good: the group `l4.http` of a plan. Their C side
-- is lib/apps/http, http2 and http3.
local keys = require "framegauge.plan.keys"
local tables = require "framegauge.core.tables"

local M = {}

local MOST_STATUSES = 16 -- FG_L4_STATUSES

M.GROUP = keys.group("http", "what HTTP, HTTP2 and HTTP3 ask for", {
   { "body", "size", "of each response, by GET", default = "1KiB", max = "1GiB" },
   { "post", "size", "of each request; more than 0: POST, answered with an empty body",
     default = "0", max = "1GiB" },
   { "requests", "integer", "on a connection, which is then closed and followed by another; 0: until the end",
     default = "10", min = "0", max = "1000000" },
   { "streams", "integer", "of HTTP2, HTTPS2 and HTTP3: requests at a time on a connection; fewer where the server allows fewer",
     default = "32", min = "1", max = "1000" },
   { "window", "size", "of HTTP2 and HTTPS2: bytes that either end may send on a stream before the other end gives it more room (WINDOW_UPDATE); at least 65535 for a connection. Of HTTP3 see quic.stream_window",
     min = "1", max = "2147483647", default_help = "2147483647" },
   keys.group("flood", "of HTTP2 and HTTPS2, and rst of HTTP3: frames that nobody needs, sent on each connection in addition to the requests. A server is to bear them, or to end the connection (RFC 9113, 10.5; RFC 9114, 10.5); ours takes 1,000 a second", {
      { "frame", { "rst", "ping", "settings", "empty" }, "rst: RST_STREAM, each behind a request; ping and settings, each to be acknowledged; empty: DATA without a byte, while the body of a POST is under way",
        required = true },
      { "rate", "number", "frames a second on each connection; left out while 64 KiB of a connection wait for an acknowledgement, of HTTP3 while the request before has not left or the server allows no further stream",
        default = "2000", min = "1", max = "10000000" },
   }, { optional = true }),
   { "path", "string", "what is asked for",
     longest = 200, default_help = "/octets/ and the number of http.body" },
   { "any_body", "boolean", "the body is not our server's, and neither its bytes nor its length are compared",
     default = "false" },
   { "head", "boolean", "HEAD, not GET: the answer is a head alone, with the length of the body",
     default = "false" },
   { "range", "string", "of HTTP and HTTPS: the requested bytes, as in the field Range: `0-99`, `100-`, or `-50`, the last 50. The response is 206 with these bytes",
     longest = 40, default_help = "all of it" },
   { "statuses", "list", "statuses of good responses. Only of 200, or 206 of a range, the body is compared",
     unique = true, least = 1, most = MOST_STATUSES, of = { type = "integer", min = "200", max = "599" },
     default_help = "200; of a range 206" },
})

-- @return first byte and length of the part of a body; nil where there is no such part, or no valid range
local function part_of(range, body)
   local first, last = range:match "^(%d*)-(%d*)$"
   first, last = tonumber(first), tonumber(last)
   if first and first < body and (last or first) >= first then
      return first, math.min(last or body, body - 1) - first + 1
   elseif last and last > 0 and not first and body > 0 then
      return math.max(0, body - last), math.min(last, body)
   end
end

--- Arguments of the client and the server of a test (framegauge.traffic.l4.app).
function M.fill(client, o, remote)
   local http = o.http
   client.request, client.response = http.post, http.post > 0 and 0 or http.body
   client.requests, client.host = http.requests, o.ip == "ipv6" and "[" .. remote .. "]" or remote
   client.path = http.path or ("/octets/%d"):format(http.body)
   client.any_body, client.head, client.statuses = http.any_body, http.head, http.statuses
   client.streams, client.window = http.streams, http.window
   if http.flood then
      client.flood, client.flood_per_s = http.flood.frame, http.flood.rate
   end
   if http.range then
      local first, length = part_of(http.range, http.body)
      client.range, client.range_first, client.response = http.range, first or 0, length or http.body
   end
end

-- A flood needs HTTP/2; a flood of resets also needs bodies under way.
local function check_flood(o, found)
   for i, test in ipairs(o.tests) do
      if test ~= "HTTP2" and test ~= "HTTPS2" and (test ~= "HTTP3" or o.http.flood.frame ~= "rst") then
         found:add(found:item("l4.tests", i), test .. " sends no flood of " .. o.http.flood.frame,
            "HTTP2 or HTTPS2, HTTP3 with frame: rst, or no http.flood")
      end
   end
   if o.http.flood.frame == "empty" and o.http.post == 0 then
      found:add("l4.http.flood.frame", "empty DATA is of a request with a body", "http.post")
   end
end

local WITHOUT_RANGES = { "HTTP2", "HTTPS2", "HTTP3" }

--- The rule of the group: a request is valid.
function M.check(values, found)
   local http, tests = values.l4.http, values.l4.tests
   local path, range = http.path, http.range
   if path and not path:match "^/[!-~]*$" then -- it is part of the first line
      found:add("l4.http.path", ("'%s' is no path"):format(path), "one that begins with /, without blanks")
   end
   if http.flood then
      check_flood(values.l4, found)
   end
   if http.head and http.post > 0 then
      found:add("l4.http.head", "a request is HEAD or POST", "http.post: 0")
   end
   if range and (http.head or http.post > 0) then
      found:add("l4.http.range", "a range is of GET alone", "neither http.head nor http.post")
   elseif range and not range:match "^%d+-%d*$" and not range:match "^-%d+$" then
      found:add("l4.http.range", ("'%s' is no range of bytes"):format(range), "as 0-99, 100- or -50")
   elseif range and not part_of(range, http.body) and not http.statuses then
      found:add("l4.http.range", ("a body of %.0f bytes has no bytes %s"):format(http.body, range),
         "http.statuses: [416]")
   end
   for i, test in ipairs(range and tests or {}) do
      if tables.contains(WITHOUT_RANGES, test) then
         found:add(found:item("l4.tests", i), test .. " asks for no ranges", "HTTP or HTTPS")
      end
   end
end

return M
