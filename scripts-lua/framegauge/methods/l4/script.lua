-- SPDX-License-Identifier: BSD-3-Clause

--- TCP and UDP tests as netperf has them, from a script: `l4.tcp_rr { request = 32, response = 1024 }`.
--
-- The client is at the first port of a tester, the server at the second, both the tester's own. The keys are
-- the keys of the group `l4` of a plan that are about a single test (docs/reference/plan.md), with the same
-- defaults; quantities are text with a unit ("20ms") or numbers in seconds and bytes.
local arguments = require "framegauge.plan.arguments"
local cases = require "framegauge.methods.l4.test"
local kinds = require "framegauge.methods.l4.plan.kinds"
local plans = require "framegauge.plan"
local rows = require("framegauge.methods.l4.plan").row
local Session = require "framegauge.trial.session"
local tables = require "framegauge.core.tables"

local M = {}

-- Keys of a plan that choose tests or span several of them.
local OF_CAMPAIGNS = {
   campaign = true, tests = true, sweep = true, search = true, balance = true, peer = true,
}

local ROWS = { { "bytes", "size" } } -- of each stream: then it ends
for _, row in ipairs(rows.fields) do
   ROWS[#ROWS + 1] = not OF_CAMPAIGNS[row.key] and row or nil
end

local PLAN = "test: l4\nports: {a: {device: wire0}, b: {device: wire1}}"

local defaults

local function defaults_of()
   defaults = defaults or assert(plans.load_text(PLAN, "l4")).l4
   return defaults
end

local function over(base, given)
   local own = tables.copy(base)
   for key, value in pairs(given) do
      own[key] = type(value) == "table" and over(base[key], value) or value
   end
   return own
end

local function run(tester, test, given)
   local values = over(defaults_of(), arguments.read("l4." .. test:lower(), given, ROWS))
   values.octets = values.bytes
   local plan = setmetatable({ l4 = values }, { __index = tester.plan })
   local session = Session.new { tester = tester, retries = 0, phases = plan.l4, sink = function() end }
   return cases.run(plan, tester, session, { test = test })
end

--- The tests on a tester, as functions: the names in `l4.tests` of a plan in small letters, such as
-- tcp_stream, tcp_rr, udp_rr, https and dns. Each takes a table of settings, makes the test and returns its
-- row as result.json has it (docs/reference/results.md), with the figure, its theoretical maximum and its
-- verdict. An unknown key or a wrong value raises. Call them inside a job.
-- @param tester  an open tester
-- @usage local l4 = require("framegauge.l4").on(tester)
-- local row = l4.tcp_rr { request = 32, response = 1024, duration = "50ms" }
-- return row.validity, row.transactions_per_s > 1000 --> valid true
function M.on(tester)
   local functions = {}
   for _, test in ipairs(kinds.names()) do
      functions[test:lower()] = function(o)
         return run(tester, test, o or {})
      end
   end
   return functions
end

return M
