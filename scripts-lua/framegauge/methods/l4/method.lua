-- SPDX-License-Identifier: BSD-3-Clause

--- TCP and UDP tests between two ports, client and server, both ours; see docs/explanation/tcp.md.
local balance = require "framegauge.methods.l4.balance"
local campaigns = require "framegauge.methods.l4.sweep"
local cases = require "framegauge.methods.l4.test"
local format = require "framegauge.text.format"
local kinds = require "framegauge.methods.l4.plan.kinds"
local outlook = require "framegauge.methods.common.outlook"
local search = require "framegauge.methods.l4.search"
local tables = require "framegauge.core.tables"
local tls = require "framegauge.methods.l4.plan.tls"
local transport_figures = require "framegauge.methods.l4.transport_figures"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "L4"

--- What criteria can be about: the tests, or the campaign balance, whose rows all belong to one test.
function M.subjects(plan)
   return plan.l4.campaign == "balance" and { { key = "balance", values = { "balance" }, is = function()
      return true
   end } } or {}
end

function M.directions(plan)
   return { plan.l4.campaign == "balance" and balance.direction(plan)
      or plan.ports[1].name .. "->" .. plan.ports[2].name }
end

function M.heading(plan)
   local tests, campaign = table.concat(plan.l4.tests, ", "), plan.l4.campaign
   return campaign == "battery" and tests or campaign .. " of " .. tests
end

function M.scope(plan)
   return format.plural(plan.l4.connections, "connection")
end

function M.parts(plan)
   local o = plan.l4
   local is_search = search.is_one(o.campaign)
   local trials = is_search and search.usual_trials(o) or o.repetitions
   local seconds = (is_search and search.seconds(o) or trials * o.duration)
      + trials * (o.learning_wait + o.drain + o.settle)
   return outlook.bounded(outlook.parts(tables.map(campaigns.cases(plan), function(case)
      return { test = "l4." .. case.test, trials = trials, total = seconds }
   end)), is_search and outlook.ABOUT or outlook.EXACTLY)
end

function M.outlook(plan, _, notes)
   local o = plan.l4
   local is_search = search.is_one(o.campaign)
   local of_case = is_search and ("about %s, the last of %s%s"):format(outlook.each(search.usual_trials(o),
      "trial", o.search.search_trial), units.format_time(o.duration),
      o.campaign == "concurrency" and ", after the ramps of connections" or "")
      or outlook.each(o.repetitions, "trial", o.duration)
   return outlook.text(tables.map(campaigns.cases(plan), function(case)
      return ("%s: %s"):format(case.name and case.test .. ", " .. case.name or case.test, of_case)
   end), notes)
end

M.check = search.check

local function is_secured(plan)
   return tables.any(plan.l4.tests, function(test)
      return kinds.of(test).tls or kinds.of(test).quic
   end)
end

--- Does a plan use a key? (plan/actions.lua)
function M.uses(plan, key)
   return key ~= "l4.tls.key_log" or is_secured(plan)
end

--- Tests over TLS and QUIC write the certificate of the tester's authority, so that others can check the
-- tester's ends.
function M.files(plan, tester)
   return is_secured(plan) and { { "ca.pem", tls.authority(tester.wires ~= nil) } } or {}
end

local function run_case(plan, tester, session, case)
   if plan.l4.campaign == "balance" then
      return balance.run(plan, tester, session)
   elseif search.is_one(plan.l4.campaign) then
      return search.run(plan, tester, session, case.test)
   end
   return cases.run(plan, tester, session, case)
end

-- Rows of the campaign transports are compared once a path has all of them.
local function compare_paths(list)
   local of_path = {}
   for _, row in ipairs(list) do
      local path = row.transport.path
      of_path[path] = of_path[path] or {}
      table.insert(of_path[path], row)
   end
   for _, group in ipairs(of_path) do
      transport_figures.compare(group)
   end
end

--- Make the tests of a plan.
-- @param results  gets l4, a list of rows
function M.run(plan, tester, session, results)
   results.l4 = {}
   for _, case in ipairs(campaigns.cases(plan)) do
      local row = run_case(plan, tester, session, case)
      results.l4[#results.l4 + 1] = row
      session.say(cases.sentence(row))
   end
   if plan.l4.campaign == "transports" then
      compare_paths(results.l4)
   end
end

return M
