-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9411, benchmarking of network security devices, as a method of plans. Of each test and object: a tenth
-- of the target must pass (step 1), then the target (step 2), else the most that passes is sought (step 3).
local fields = require "framegauge.methods.rfc9411.result"
local format = require "framegauge.text.format"
local phases = require "framegauge.methods.rfc9411.phases"
local search = require "framegauge.search"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.traffic.l4.theory"
local tls = require "framegauge.methods.l4.plan.tls"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "RFC 9411"

local INITIAL = 0.1 -- of the target (RFC 9411, step 1)
local HALF = 0.5 -- load of latency, and the most of the rate at which a ramp opens connections
local SATURATED = 0.95 -- of a figure: then that was the limit
local CONCURRENT_OBJECT, RAMP_RATE = 1024, 1000
local KIB = 1024

-- Objects of each test (RFC 9411, 7.2.3.2, 7.3.3.2 and 7.4.3.2).
local OBJECTS = {
   connections = { KIB, 2 * KIB, 4 * KIB, 16 * KIB, 64 * KIB },
   http_throughput = { KIB, 16 * KIB, 64 * KIB, 256 * KIB },
   latency = { KIB, 16 * KIB, 64 * KIB },
   concurrent = { CONCURRENT_OBJECT },
}

local function objects(plan, test)
   return test ~= "concurrent" and plan.rfc9411.objects or OBJECTS[test]
end

function M.scope(plan)
   return format.plural(#plan.rfc9411.tests, "test")
end

--- Over TLS the run's folder has the certificate of the tester's authority, so that a device that inspects
-- TLS can verify the servers. @return list of { name, text }
function M.files(plan, tester)
   return phases.secured(plan) and { { "ca.pem", tls.authority(tester.wires ~= nil) } } or {}
end

--- Does a plan use a key? (plan/actions.lua)
function M.uses(plan, key)
   return key ~= "rfc9411.tls.key_log" or phases.secured(plan)
end

function M.check(plan, tester)
   local o = plan.rfc9411
   local needs_line = not phases.most(plan, tester, KIB, 1)
   for _, key in ipairs { "connections", "transactions" } do
      local test = key == "transactions" and "http_throughput" or key
      if needs_line and tables.contains(o.tests, test) and not o.target[key] then
         return ("rfc9411.target.%s: missing, and the line rate of these ports is not known; expected the target of %s, or the ports' line_rate"):format(key, test)
      end
   end
end

-- Trials of a search down from the target to the resolution, and the first and the last one. There are more
-- where the device carries much less than the target, because the resolution is relative.
local function usual_trials(o)
   return math.min(o.max_trials, 3 + math.ceil(math.log(1 / o.resolution) / math.log(2)))
end

function M.parts(plan)
   local o = plan.rfc9411
   local waits = o.learning_wait + o.ramp_down + o.drain + o.settle
   return tables.map(o.tests, function(test)
      local n = #objects(plan, test)
      local trials = test == "latency" and 2 * n or n * usual_trials(o)
      local ramp = test == "concurrent" and o.target.concurrent / (o.ramp_rate or RAMP_RATE) or o.ramp_up
      local full = test == "latency" and trials or n
      return { test = "rfc9411." .. test, trials = trials,
         seconds = trials * (ramp + waits) + full * o.sustain + (trials - full) * o.search_sustain }
   end)
end

function M.outlook(plan, _, notes)
   local o = plan.rfc9411
   return suite.outlook(M.parts(plan), notes, {
      ("Each trial: ramp up %s, sustain %s (on the way %s), ramp down %s."):format(
         units.format_time(o.ramp_up), units.format_time(o.sustain), units.format_time(o.search_sustain),
         units.format_time(o.ramp_down)),
      "A device that reaches its target needs three trials of each object.",
   })
end

function M.conformance(plan)
   local o = plan.rfc9411
   return suite.conformance("RFC 9411", function(note)
      note(true, "the last response of a connection comes with the server's FIN")
      note(o.sustain < 300, "a sustain phase of %s", units.format_time(o.sustain))
      note(o.objects, "objects of other sizes")
      note(o.tcp.receive_buffer > 65535, "a receive window of %d bytes", o.tcp.receive_buffer)
      note(#o.features == 0, "the features of the device are not told (rfc9411.features)")
   end)
end

-- A search needs lost and sent frames: here, the number of criteria that were not met.
local function as_asked(record)
   local short = record.fell_short or {}
   return setmetatable({ tx = math.max(2, #short), lost = #short }, { __index = record })
end

local function reasons_of(result, first)
   if first and not result then
      return { "not even a tenth of the target meets the criteria: "
         .. table.concat(first.fell_short or first.reasons, "; ") }
   elseif result.limited_by == "max_trials" then
      return { "the search was not done in time (rfc9411.max_trials)" }
   elseif verdict.of_search(result.limited_by) ~= "valid" and result.upper_trial then
      return result.upper_trial.reasons
   end
   return not result.load and { "no load passed" } or {}
end

-- Steps 1 to 3. @param want  of the trials, without the load; key  of the load in it
-- @return a row without figures, and the record that they are of, or nil
local function seek(plan, session, tester, want, key, target)
   local o, whole = plan.rfc9411, key == "concurrent"
   local before = #session.trials
   local function try(load, seconds, phase)
      local asked = tables.copy(want)
      asked[key] = whole and math.floor(load + 0.5) or load
      asked.sustain, asked.phase = seconds, phase
      if whole then
         asked.ramp_up = asked.concurrent / asked.ramp_rate
      end
      return phases.trial(plan, tester, session, asked)
   end
   local row = { test = want.test, object = want.object, ip = phases.version(plan), target = target,
      initial_passed = false, first_trial = before + 1 }
   local first = try(INITIAL * target, o.search_sustain, "initial")
   if first.validity ~= "valid" or first.fell_short then
      row.validity = first.validity == "valid" and "invalid" or first.validity
      row.reasons, row.trials, row.target_reached = reasons_of(nil, first), 1, false
      row.criteria = first.criteria
      return row
   end
   local result = search.run("binary", search.goal({
      search_trial = o.search_sustain, trial = o.sustain, max_trials = o.max_trials }, {
      min = INITIAL * target, max = target, resolution = o.resolution, relative = true,
      trial = function(load, seconds, phase) return as_asked(try(load, seconds, phase)) end,
   }))
   row.initial_passed, row.trials = true, #session.trials - before
   row.limited_by = result.limited_by == "maximum" and "target" or result.limited_by
   row.target_reached = result.limited_by == "maximum"
   row.validity = result.load and verdict.of_search(result.limited_by) or "invalid"
   row.reasons, row.load = reasons_of(result), result.load
   row.upper_load = result.upper
   row.failed_because = result.upper_trial and result.upper_trial.fell_short
   local decided = result.lower_trial and getmetatable(result.lower_trial).__index
   row.criteria = (decided or first).criteria
   return row, decided
end

local function mean(samples, key)
   local sum = 0
   for _, sample in ipairs(samples) do
      sum = sum + sample[key]
   end
   return #samples > 0 and sum / #samples or 0
end

-- Figures of the sustain phase.
local function add_figures(row, record, tester)
   local client = record.sides[1].apps[1]
   if row.test ~= "concurrent" then
      row.connections_per_s = client.measured.ended.closed / client.measured_s
   end
   row.samples, row.trial, row.sustain_s = record.samples, record.trial, client.measured_s
   row.transactions_per_s = client.measured.transactions / client.measured_s
   row.throughput_bps = mean(record.samples, "throughput_bps")
   row.concurrent_mean = mean(record.samples, "concurrent")
   row.ttfb, row.ttlb = client.first_byte, client.last_byte
   row.tls = client.tls and tls.figures({ record }, tester.wires ~= nil) or nil
end

local function lesser(one, other)
   return one and other and math.min(one, other) or one or other
end

local run = {}

local function rates(plan, tester, session, found, test, gets, key)
   local o, list = plan.rfc9411, found[test]
   for _, object in ipairs(objects(plan, test)) do
      local most = phases.most(plan, tester, object, gets)
      local row, record = seek(plan, session, tester, { test = test, object = object, gets = gets,
         ramp_up = o.ramp_up }, "transactions_per_s", lesser(o.target[key], most))
      row.theoretical = most
      if record then
         add_figures(row, record, tester)
         row.theoretical_percent = most
            and theory.share(row.transactions_per_s, most, row.sustain_s, 1) or nil
      end
      list[#list + 1] = row
   end
end

function run.connections(plan, tester, session, found)
   rates(plan, tester, session, found, "connections", 1, "connections")
end

function run.http_throughput(plan, tester, session, found)
   rates(plan, tester, session, found, "http_throughput", phases.GETS, "transactions")
end

-- Another test's result for an object.
local function load_of(rows, object)
   return (tables.find(rows or {}, "object", object) or {}).load
end

function run.latency(plan, tester, session, found)
   local o, list = plan.rfc9411, found.latency
   for _, half in ipairs { { "connections", 1, "connections" },
      { "http_throughput", phases.GETS, "transactions" } } do
      for _, object in ipairs(objects(plan, "latency")) do
         local load = load_of(found[half[1]], object) or o.target[half[3]]
         if load then
            local record = phases.trial(plan, tester, session, { test = "latency", object = object,
               gets = half[2], transactions_per_s = HALF * load, ramp_up = o.ramp_up, sustain = o.sustain,
               phase = "half of " .. half[1] })
            local row = { test = "latency", object = object, ip = phases.version(plan), half_of = half[1],
               load = HALF * load, trials = 1, first_trial = record.trial, validity = record.validity,
               reasons = record.fell_short or record.reasons, criteria = record.criteria }
            if record.validity == "valid" and record.fell_short then
               row.validity = "invalid"
            end
            add_figures(row, record, tester)
            list[#list + 1] = row
         end
      end
   end
end

-- Half of the most connections a second that were found.
local function ramp_rate(found)
   local most
   for _, row in ipairs(found.connections or {}) do
      most = math.max(most or 0, row.connections_per_s or 0)
   end
   return most and most > 0 and HALF * most or RAMP_RATE
end

function run.concurrent(plan, tester, session, found)
   local o = plan.rfc9411
   local row, record = seek(plan, session, tester, { test = "concurrent", object = CONCURRENT_OBJECT,
      gets = phases.GETS, ramp_rate = o.ramp_rate or ramp_rate(found) }, "concurrent", o.target.concurrent)
   if record then
      add_figures(row, record, tester)
   end
   found.concurrent[1] = row
end

-- Connections a second at which the throughput was at its most are no figure of connections (7.2.3.4).
local function judge_saturation(found)
   local most = 0
   for _, row in ipairs(found.http_throughput or {}) do
      most = math.max(most, row.throughput_bps or 0)
   end
   for _, row in ipairs(found.connections or {}) do
      if row.validity == "valid" and (row.theoretical_percent or 0) >= 100 * SATURATED then
         row.validity, row.reasons = "not-applicable", { "the line was the limit, not connections" }
      elseif row.validity == "valid" and most > 0 and row.throughput_bps >= SATURATED * most then
         row.validity, row.reasons = "not-applicable", { "throughput was the limit, not connections" }
      end
   end
end

--- Measure.
-- @param results  gets the table rfc9411: a list of rows for each test, which fill as it goes
function M.run(plan, tester, session, results)
   local found = {}
   results.rfc9411 = found
   for _, test in ipairs(fields.ORDER) do
      if tables.contains(plan.rfc9411.tests, test) then
         found[test] = {}
         run[test](plan, tester, session, found)
      end
   end
   judge_saturation(found)
end

return M
