-- SPDX-License-Identifier: BSD-3-Clause

--- HTTP/1.1.
local app = require "framegauge.l4.app"
local theory = require "framegauge.l4.theory"

local function fill(client, o, remote)
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

return {
   {
      name = "HTTP", help = "GET or POST of HTTP/1.1", figure = "transactions_per_s", short = true,
      theory = function(rate, ip, o, client)
         local request, response = app.http_octets(client())
         return theory.http(rate, ip, o, request, response)
      end,
      campaigns = { ["connection-rate"] = true, ["transaction-rate"] = true, concurrency = true },
      peers = { web = true }, fill = fill, check = path_is_one,
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
              help = "the body is not that of our server, and neither its octets nor its length are "
                 .. "compared" },
         },
      },
   },
}
