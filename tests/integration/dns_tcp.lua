-- SPDX-License-Identifier: BSD-3-Clause

-- Our servers of DNS on the second port of a plan, over UDP and TCP at port 53, over TLS at port 853 and over
-- HTTPS at port 443, until a file is there. For dns_tcp.sh, with a file for the secrets of TLS.
local Tester = require "framegauge.tester"
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local tls = require "framegauge.methods.l4.plan.tls"
local trial = require "framegauge.tester.l4.trial"
local uv = require "luv"

local path, over, keys = ...
local LONGEST = 300 -- seconds

job.run(function()
   local plan = assert(plans.load(path, {}))
   local tester = assert(Tester.open(plan))
   local zone = {
      udp_size = 1232, answers = 1, ttl = 300, text = 3000, idle_ns = 1e9,
   }
   local secure = tls.of({ tls = plan.l4.tls, seed = 7 }, true, false, "dot")
   local https = tls.of({ tls = plan.l4.tls, seed = 7 }, true, false, "h2")
   secure.key_log, https.key_log = true, true
   local sides = trial.run(tester, {
      sides = { { port = 2, apps = {
         { test = "DNS", server = true, address = "198.19.1.2", port = 53, dns = zone },
         { test = "DNS_TCP", server = true, address = "198.19.1.2", port = 853, dns = zone, tls = secure },
         { test = "DOH", server = true, address = "198.19.1.2", port = 443, dns = zone, tls = https,
            tcp = { nodelay = true }, path = "/dns-query" },
      } } }, seconds = LONGEST, learning_wait = 0.05, drain = 0,
      mtu = 1500, seed = 7, look = function() return uv.fs_stat(over) ~= nil end,
   })
   for i, app in ipairs(sides[1].apps) do
      for name, n in pairs(app.total) do
         print(i, name, type(n) == "number" and n or "")
      end
   end
   local file = assert(io.open(keys, "a"))
   file:write(sides[1].apps[2].tls.key_log, sides[1].apps[3].tls.key_log)
   file:close()
   tester:close()
end)
