-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9693, benchmarking of stateful NAT44 gateways, as a method of plans.
local capacity = require "framegauge.methods.rfc9693.capacity"
local common = require "framegauge.methods.rfc2544.common"
local ethernet = require "framegauge.core.ethernet"
local experiment = require "framegauge.methods.rfc9693.experiment"
local fields = require "framegauge.methods.rfc9693.result"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"
local plans = require "framegauge.methods.rfc9693.plan"
local search = require "framegauge.search"
local stats = require "framegauge.trial.stats"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "RFC 9693"

local HALF = 0.5 -- of the connection rate, at which connections are established for other tests
local ASSUMED_RATE = 100000 -- connections a second, of an unknown device
local MAX_TRIALS = 100 -- of a search
local GIVE_UP = 3 -- rates in a row that the tester does not carry, each half of the one before
local P1, P99 = 0.01, 0.99
local TAGS, LATENCY_TRIAL, RUNS = 500, 120, 20 -- RFC 8219, 7.2 and 7.3

function M.scope(plan)
   return format.plural(plan.rfc9693.connections[1], "connection")
end

local function max_fps(plan, tester, frame_size)
   local line = tester:max_fps(frame_size)
   local most = loads.of_rate(plan.rfc9693.max, frame_size, line)
   return most and line and math.min(most, line) or most
end

-- Below this rate the first connections expire before the last ones are validated.
local function min_fps(o, n)
   local room = o.timeout - (o.validate and o.gap + 2 * o.drain or o.drain)
   return room > 0 and n * (1 + (o.validate and 1 / o.alpha or 0)) / room or math.huge
end

function M.check(plan, tester)
   local o, most = plan.rfc9693, max_fps(plan, tester, plans.FRAME)
   if not most then
      return "rfc9693.max: a share of a line whose rate is not known; expected a rate, such as 1Mfps, or the ports' line_rate"
   end
   for _, n in ipairs(o.connections) do
      if min_fps(o, n) > most then
         return ("rfc9693.timeout: %s is over before %s connections are established and validated at %s frames/s; expected a longer one, or fewer rfc9693.connections"):format(
            units.format_time(o.timeout), format.count(n), format.count(most))
      end
   end
end

-- --- searches

local function reasons_of(result)
   if result.limited_by == "max_trials" then
      return { "the search was not done in time" }
   elseif verdict.of_search(result.limited_by) ~= "valid" and result.upper_trial then
      return result.upper_trial.reasons
   end
   return not result.load and { "no rate passed" } or {}
end

-- One experiment. A failed validation may be due to a Responder that was too fast: a second experiment at
-- half of its rate decides.
-- @param any_rate  whether what was established slower than asked for is established
local function elementary(c, n, fps, phase, any_rate)
   local record = experiment.elementary(c, n, fps, c.o.alpha, phase, any_rate)
   if record.validity == "valid" and record.failed_because == "not established" then
      local slower = experiment.elementary(c, n, fps, c.o.alpha / 2, phase, any_rate)
      return slower.validity == "valid" and slower.lost == 0 and slower or record
   end
   return record
end

-- The highest rate at which n connections are established.
local function find_rate(c, n, least, most)
   return search.run("binary", search.goal({ search_trial = 1, trial = 1, max_trials = MAX_TRIALS }, {
      min = math.min(least, most), max = most, resolution = c.o.resolution, relative = true,
      give_up = GIVE_UP,
      trial = function(fps, _, phase) return elementary(c, n, fps, phase) end,
   }))
end

local run = {}

-- Median, 1st and 99th percentile of repetitions (RFC 2330, 11.3).
local function summary(list)
   return list[1] and stats.median(list), list[1] and stats.percentile(list, P1),
      list[1] and stats.percentile(list, P99)
end

function run.connection_rate(c, rows)
   for _, n in ipairs(c.o.connections) do
      local before, found, all, worst = #c.session.trials, {}, {}, nil
      for i = 1, c.o.repetitions do
         local result = find_rate(c, n, min_fps(c.o, n), c.max)
         found[#found + 1] = result.load
         all[i] = { validity = result.load and verdict.of_search(result.limited_by) or "invalid",
            reasons = reasons_of(result) }
         worst = (not worst or (result.load or 0) < (worst.load or 0)) and result or worst
      end
      local row = { test = "connection_rate", connections = n, alpha = c.o.alpha, validated = c.o.validate,
         repetitions = c.o.repetitions, trials = #c.session.trials - before, limited_by = worst.limited_by,
         upper_fps = worst.upper, theoretical = c.line }
      row.connections_per_s, row.connections_p1_per_s, row.connections_p99_per_s = summary(found)
      row.validity, row.reasons = verdict.merge(all)
      local passed, failed = worst.lower_trial or {}, worst.upper_trial or {}
      row.lower_trial, row.upper_trial, row.translation = passed.trial, failed.trial, passed.translation
      row.failed_because = failed.failed_because
      rows[#rows + 1] = row
      c.rate = c.rate or row.connections_per_s
   end
end

-- At which rate connections are established for a test that uses them.
local function establishment_fps(c)
   return c.o.establishment_rate or c.rate and HALF * c.rate
end

-- A row for which a needed earlier result is missing.
local function without(row, what)
   row.validity, row.reasons, row.trials = "not-applicable", { what }, 0
   return row
end

function run.throughput(c, rows)
   local o, n = c.o, c.o.connections[1]
   for _, size in ipairs(o.frame_sizes) do
      local line, most, before = c.tester:max_fps(size), max_fps(c.plan, c.tester, size), #c.session.trials
      local row = { test = "throughput", frame_size = size, connections = n, theoretical_fps = line,
         establishment_fps = establishment_fps(c), trial_s = o.throughput.trial }
      if row.establishment_fps then
         local result = search.run("binary", search.goal(o.throughput, {
            min = 0, max = most, resolution = o.throughput.resolution * most, max_trials = MAX_TRIALS,
            trial = function(fps, seconds, phase)
               return experiment.load(c, n, { establishment_fps = row.establishment_fps, frame_size = size,
                  fps = fps, seconds = seconds, phase = phase, line_fps = line })
            end,
         }))
         local fps = result.load
         row.throughput_fps, row.throughput_percent = fps, fps and line and 100 * fps / line
         row.throughput_l2_mbps = fps and ethernet.l2_bps(fps, size) / 1e6
         row.upper_fps, row.limited_by, row.trials = result.upper, result.limited_by,
            #c.session.trials - before
         row.lower_trial = result.lower_trial and result.lower_trial.trial
         row.upper_trial = result.upper_trial and result.upper_trial.trial
         row.validity, row.reasons = fps and verdict.of_search(result.limited_by) or "invalid",
            reasons_of(result)
         c.throughput[size] = fps
      else
         without(row, "no rate of connections passed")
      end
      rows[#rows + 1] = row
   end
end

-- Streams at the load of a frame size, and of each direction a row: figures(row, counts of all streams).
local function at_load(c, rows, key, o, tags, figures)
   local n = c.o.connections[1]
   for _, size in ipairs(c.o.frame_sizes) do
      local line, records = c.tester:max_fps(size), {}
      local fps = c.o.load and loads.of_rate(c.o.load, size, line) or c.throughput[size]
      local at = establishment_fps(c)
      for i = 1, fps and at and o.repetitions or 0 do
         records[i] = experiment.load(c, n, { establishment_fps = at, frame_size = size, fps = fps,
            seconds = o.trial, phase = "measure", tags = tags, line_fps = line })
      end
      for k = 1, 2 do
         local row = { test = key, frame_size = size, connections = n, rate_fps = fps,
            repetitions = o.repetitions, direction = c.directions[k], trial_s = o.trial,
            trials = #records, establishment_fps = at }
         rows[#rows + 1] = row
         row.validity, row.reasons = verdict.merge(records)
         local counts = tables.map(records, function(record)
            return record.validity ~= "invalid" and record.directions[k] or nil
         end)
         if not fps or not at then
            without(row, "no load passed without loss")
         elseif #counts > 0 then
            row.lost = stats.sum(counts, "lost")
            figures(row, counts)
         end
      end
   end
end

function run.latency(c, rows)
   local o = c.o.latency
   local tags = { first = o.tag_after, every = (o.trial - o.tag_after) / o.tags, count = o.tags }
   at_load(c, rows, "latency", o, tags, function(row, counts)
      local typical, worst = {}, {}
      row.samples = 0
      local offset = common.frame_ns(c.tester, row.direction, row.frame_size)
      row.definition, row.tags = offset and "lifo" or "fifo", o.tags
      for _, one in ipairs(counts) do
         local delays = tables.map(one.tags_ns or {}, function(delay) return delay - (offset or 0) end)
         row.samples = row.samples + #delays
         if delays[1] then
            typical[#typical + 1], worst[#worst + 1] = stats.median(delays), stats.percentile(delays, 0.999)
         end
      end
      row.latency_typical_ns, row.latency_typical_p1_ns, row.latency_typical_p99_ns = summary(typical)
      row.latency_worst_case_ns, row.latency_worst_case_p1_ns, row.latency_worst_case_p99_ns = summary(worst)
   end)
end

function run.pdv(c, rows)
   at_load(c, rows, "pdv", c.o.pdv, nil, function(row, counts)
      row.samples = stats.sum(tables.field(counts, "latency"), "count")
      row.pdv_ns, row.pdv_p1_ns, row.pdv_p99_ns = summary(tables.map(counts, function(one)
         return one.latency and one.latency.p999_ns - one.latency.min_ns or nil
      end))
   end)
end

function run.teardown(c, rows)
   local fps = establishment_fps(c)
   for _, n in ipairs(c.o.connections) do
      local row = { test = "teardown", connections = n, establishment_fps = fps, trials = 1 }
      if fps then
         local record = experiment.teardown(c, n, fps)
         local done = record.teardown or {}
         row.teardown_s, row.empty_s, row.left = done.seconds, done.empty_s, done.left
         local net = done.seconds and done.seconds - done.empty_s or 0
         row.teardown_per_s = done.seconds and done.seconds > 0 and n / done.seconds or nil
         row.teardown_net_per_s = net > 0 and n / net or nil
         row.trial, row.validity, row.reasons = record.trial, record.validity, record.reasons
      else
         without(row, "no rate of connections passed")
      end
      rows[#rows + 1] = row
   end
end

-- Why more connections could not be tried.
local UNKNOWN = {
   tuples = "all four tuples that ports and addresses give were held; more source_ports, destination_ports or addresses may show the limit",
   timeout = "more could not be established and validated before the first are forgotten (rfc9693.timeout)",
}

function run.capacity(c, rows)
   local before, n = #c.session.trials, c.o.capacity.start
   local given = c.o.establishment_rate
   local first = given and { load = given } or find_rate(c, n, min_fps(c.o, n), c.max)
   local row = { test = "capacity", start = n, start_rate = first.load, steps = {},
      method = c.o.capacity.method }
   if first.load then
      local found = capacity.find({
         elementary = function(connections, fps) return elementary(c, connections, fps, "search", true) end,
         least = function(connections) return min_fps(c.o, connections) end,
         search = function(...) return find_rate(c, ...).load end,
      }, c.o, plans.tuples(c.o), first.load)
      row.capacity, row.upper, row.rate_at_capacity = found.connections, found.upper, found.rate
      row.steps, row.limited_by = found.steps, found.limited_by
      row.failed_because = found.upper_trial and found.upper_trial.failed_because
      row.validity = UNKNOWN[found.limited_by] and "tester-limited" or verdict.of_search(found.limited_by)
      row.reasons = UNKNOWN[found.limited_by] and { UNKNOWN[found.limited_by] }
         or found.upper_trial and row.validity ~= "valid" and found.upper_trial.reasons or {}
   else
      row.validity, row.reasons, row.limited_by = "invalid", reasons_of(first), first.limited_by
   end
   row.trials = #c.session.trials - before
   rows[1] = row
end

local function context(plan, tester, session)
   local a, b = plan.ports[1].name, plan.ports[2].name
   return {
      plan = plan, tester = tester, session = session, o = plan.rfc9693, throughput = {},
      line = tester:max_fps(plans.FRAME), max = max_fps(plan, tester, plans.FRAME),
      directions = { a .. "->" .. b, b .. "->" .. a },
   }
end

--- Measure.
-- @param results  gets the table rfc9693: a list of rows for each test, which fill as it goes
function M.run(plan, tester, session, results)
   local c = context(plan, tester, session)
   results.rfc9693 = {}
   for _, key in ipairs(fields.ORDER) do
      if tables.contains(plan.rfc9693.tests, key) then
         c.key, results.rfc9693[key] = key, {}
         run[key](c, results.rfc9693[key])
      end
   end
end

-- --- the trials to come

-- A device of arithmetic: it sets up a number of connections a second, and holds as many as it is set to.
local function device_of(plan)
   local nat = plan.reference_device and plan.reference_device.nat or {}
   local rate, queue = nat.setup_rate or ASSUMED_RATE, nat.setup_queue or 0
   local sessions = nat.sessions or math.huge
   local carried = plan.reference_device and plan.reference_device.capacity or math.huge
   return function(ask)
      local n = ask.setting.connections
      local most = ask.setting.alpha and rate / math.max(1e-9, 1 - queue / math.max(1, n - 1)) or carried
      return (ask.fps > most or n > sessions) and 1 or 0
   end
end

--- The trials to come: the very tests are made, with that device in place of a tester.
function M.parts(plan, tester)
   local parts, fails, trials = {}, device_of(plan), {}
   local session = { trials = trials }
   function session.trial(_, ask)
      local part = parts[#parts]
      if not part or part.test ~= ask.test or part.frame_size ~= ask.frame_size then
         part = { test = ask.test, frame_size = ask.frame_size, trials = 0, seconds = 0 }
         parts[#parts + 1] = part
      end
      part.trials, part.seconds = part.trials + 1, part.seconds + ask.takes
      trials[#trials + 1] = { trial = #trials + 1, validity = "valid", reasons = {}, tx = 2,
         lost = fails(ask), directions = { { lost = 0 }, { lost = 0 } }, setting = ask.setting }
      return trials[#trials]
   end
   M.run(plan, setmetatable({ wires = plan.reference_device ~= nil }, { __index = tester }), session, {})
   return parts
end

function M.outlook(plan, tester, notes)
   local nat = plan.reference_device and plan.reference_device.nat
   return suite.outlook(M.parts(plan, tester), notes, {
      nat and "Times follow from what the reference device is set to."
         or ("Times hold for a device that sets up %s connections a second."):format(
            format.count(ASSUMED_RATE)),
      not plan.reference_device and not plan.rfc9693.clear
         and "Without rfc9693.clear each experiment waits until the device has forgotten all connections."
         or "Each experiment begins with an empty table.",
   })
end

function M.conformance(plan)
   local o = plan.rfc9693
   local function makes(test)
      return tables.contains(o.tests, test)
   end
   return suite.conformance("RFC 9693", function(note)
      note(not o.validate, "connections are not validated (4.5 alone)")
      note(o.capacity.method == "fixed" and makes "capacity",
         "capacity: the rate is not searched for again at each step")
      note(makes "latency" and (o.latency.trial < LATENCY_TRIAL or o.latency.tags < TAGS
         or o.latency.repetitions < RUNS), "latency: shorter streams, fewer tags or fewer repetitions than in RFC 8219, 7.2")
      note(makes "pdv" and (o.pdv.trial < 60 or o.pdv.repetitions < RUNS),
         "PDV: shorter or fewer streams than in RFC 8219, 7.3.1")
      note(makes "throughput" and o.throughput.trial < 60, "throughput by trials of %s",
         units.format_time(o.throughput.trial))
      note(#o.settings == 0, "the settings of the device are not told (rfc9693.settings)")
   end)
end

return M
