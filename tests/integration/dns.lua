-- SPDX-License-Identifier: BSD-3-Clause

-- Our server of DNS on the second port of a plan, until a file is there. For dns.sh.
local Tester = require "framegauge.tester"
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local trial = require "framegauge.tester.l4.trial"
local uv = require "luv"

local path, over = ...
local LONGEST = 300 -- seconds

job.run(function()
   local tester = assert(Tester.open(assert(plans.load(path, {}))))
   local server = {
      test = "DNS", server = true, address = "198.19.1.2", port = 53,
      dns = { udp_size = 1232, answers = 1, ttl = 300, text = 64, cookies = true, cookies_required = true,
         zone = "\2fg\4test\0", zone_bytes = 9 },
   }
   local sides = trial.run(tester, {
      sides = { { port = 2, apps = { server } } }, seconds = LONGEST, learning_wait = 0.05, drain = 0,
      mtu = 1500, seed = 7, look = function() return uv.fs_stat(over) ~= nil end,
   })
   for name, n in pairs(sides[1].apps[1].total) do
      print(name, type(n) == "number" and n or "")
   end
   tester:close()
end)
