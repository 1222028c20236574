-- SPDX-License-Identifier: BSD-3-Clause

--- TCP and UDP tests as netperf has them, from a script: `l4.tcp_rr { request = 32, response = 1024 }`.
--
-- The client is at the first port of a bench, the server at the second, both the tester's own. Times are
-- seconds, sizes octets; the keys are those of the group `l4` of a plan (docs/plan.md), and what is left out
-- is as there.
local cases = require "framegauge.method.l4.case"
local plans = require "framegauge.plan"
local Session = require "framegauge.method.session"
local settings = require "framegauge.method.l4.settings"

local M = {}

local TESTS = {
   tcp_stream = "TCP_STREAM", tcp_maerts = "TCP_MAERTS", tcp_sendfile = "TCP_SENDFILE", tcp_rr = "TCP_RR",
   tcp_crr = "TCP_CRR", tcp_cc = "TCP_CC", http = "HTTP", udp_stream = "UDP_STREAM", udp_rr = "UDP_RR",
}

-- Keys that may be given and have no default.
local MORE = { message = true, interval = true, datagram_rate = true, octets = true, path = true }
local GROUPS = { tcp = true, http = true, load = true }

local defaults

local function defaults_of()
   defaults = defaults or assert(plans.load_text("test: l4\nports: {a: {device: wire0}, b: {device: wire1}}",
      "l4")).l4
   return defaults
end

local function with(base, given, where)
   for key in pairs(given) do
      if base[key] == nil and not MORE[key] and where ~= "l4.load" then
         error(("%s: there is no '%s'"):format(where, tostring(key)), 4)
      end
   end
   local own = settings.copy(base, given)
   for key in pairs(where == "l4" and GROUPS or {}) do
      own[key] = with(base[key], given[key] or {}, "l4." .. key)
   end
   return own
end

local function run(bench, test, given)
   local plan = setmetatable({ l4 = with(defaults_of(), given, "l4") }, { __index = bench.plan })
   local session = Session.new { bench = bench, retries = 0, phases = plan.l4, sink = function() end }
   return cases.run(plan, bench, session, { test = test })
end

--- The tests on a bench, as functions: tcp_stream, tcp_maerts, tcp_sendfile, tcp_rr, tcp_crr, tcp_cc, http,
-- udp_stream, udp_rr. Each takes a table of settings, makes the test and returns its row as result.json has
-- it (docs/results.md), with the figure, its theoretical maximum and its verdict. An unknown key raises.
-- Call them inside a job.
-- @param bench  an open bench
-- @usage local l4 = require("framegauge.l4").on(tester)
-- local row = l4.tcp_rr { request = 32, response = 1024, duration = 0.05 }
-- return row.verdict, row.transactions_per_s > 1000 --> valid true
function M.on(bench)
   local functions = {}
   for name, test in pairs(TESTS) do
      functions[name] = function(o)
         return run(bench, test, o or {})
      end
   end
   return functions
end

return M
