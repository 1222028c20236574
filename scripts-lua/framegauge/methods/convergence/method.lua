-- SPDX-License-Identifier: BSD-3-Clause

--- Convergence of a router, switch or other device, seen from the data plane (RFC 6412, RFC 6413): how long
-- routes or flows are without traffic when something fails, and when all are on their new way.
--
-- The tester speaks no routing protocol. The failure is caused by a command of the plan, by taking down a
-- link, by the person at the terminal, or by the reference device itself.
local event = require "framegauge.methods.convergence.event"
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local shell = require "framegauge.core.shell"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local suite = require "framegauge.methods.common.suite"
local trials = require "framegauge.methods.convergence.trials"
local units = require "framegauge.text.units"
local uv = require "luv"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "Convergence"

local VALIDATION, REPETITIONS = 5, 10 -- seconds (RFC 6412, 3.6.3); of ours

--- What criteria can be about: its events.
function M.subjects(plan)
   return { { key = "event", values = trials.events(plan) } }
end

function M.heading(plan)
   return ("of %s, %s"):format(format.plural(plan.convergence.routes.count, "route"), plan.convergence.case)
end

function M.scope(plan)
   return format.plural(plan.convergence.repetitions, "repetition")
end

-- The trials of a repetition: list of { event =, egress =, old =, seconds = }.
local function schedule(plan)
   local ends, list = trials.ends(plan), {}
   if ends.next_best then
      list[1] = { event = "steady", egress = ends.preferred, seconds = plan.convergence.at }
   end
   for _, name in ipairs(trials.events(plan)) do
      local moves = ends.next_best and name == "failure"
      list[#list + 1] = {
         event = name, seconds = trials.seconds(plan), egress = moves and ends.next_best or ends.preferred,
         old = moves and ends.preferred or ends.next_best,
      }
   end
   return list
end

--- From the port that sends to those where frames are awaited.
function M.directions(plan, _, named)
   local from = trials.ends(plan).from
   return tables.map(schedule(plan), function(one)
      return (named.event or one.event) == one.event and from .. "->" .. one.egress or nil
   end)
end

function M.parts(plan)
   local o, list = plan.convergence, {}
   local waits = o.learning_wait + o.drain + o.settle
   for _ = 1, o.repetitions do
      for _, one in ipairs(schedule(plan)) do
         list[#list + 1] = { test = trials.NAME, frame_size = o.size, total = one.seconds + waits }
      end
   end
   return outlook.bounded(outlook.parts(list), outlook.EXACTLY)
end

local WORDS = {
   outage = "the reference device is out of service for %s",
   failover = "the reference switch loses the link to the preferred port",
   ["failover reversion"] = "the reference switch has that link again", command = "%s", link = "%s",
   person = "the person at the terminal is asked",
}

function M.outlook(plan, tester, notes)
   local o, ends, by, lines = plan.convergence, trials.ends(plan), trials.by(plan), {}
   local from = tester.ports[tables.index_of(plan.ports, ends.from)]
   local fps = trials.fps(plan, from.line_rate and tester:max_fps(o.size))
   lines[1] = ("%s from %s to %s%s, %s, frames of %d bytes."):format(format.plural(o.routes.count, "route"),
      ends.from, ends.preferred, ends.next_best and ", or by the other way to " .. ends.next_best or "",
      fps and format.count(fps) .. " frames/s" or o.rate.text, o.size)
   lines[2] = fps and ("A frame of each route every %s: no figure is finer."):format(
      units.format_time(o.routes.count / fps)) or nil
   for _, name in ipairs(trials.events(plan)) do
      local command, word = trials.command(plan, name), WORDS[by .. " " .. name] or WORDS[by]
      lines[#lines + 1] = ("%s after %s: %s."):format(name == "failure" and "Failure" or "Reversion",
         units.format_time(o.at), word:format(command and shell.command(command)
         or units.format_time(o.outage)))
   end
   lines[#lines + 1] = ("Load: %s."):format(outlook.each(o.repetitions * #schedule(plan), "trial",
      trials.seconds(plan)))
   return outlook.text(lines, notes, { outlook.waits(o) .. "." })
end

function M.check(plan, tester)
   local o, fps = plan.convergence, trials.fps(plan, tester:max_fps(plan.convergence.size))
   if not fps then
      return ("convergence.rate: %s is a share of no line: these ports have no rate of their own; expected a load such as 100kfps, or the line_rate of the ports"):format(o.rate.text)
   elseif o.routes.count / fps > o.resolution * (1 + 1e-9) then
      local text = "convergence.rate: each of %d routes has a frame every %s only, and the resolution is %s"
      return text:format(o.routes.count, units.format_time(o.routes.count / fps),
         units.format_time(o.resolution))
   elseif trials.by(plan) == "person" and uv.guess_handle(0) ~= "tty" then
      return "nobody is there to cause the failure: give convergence.command, or run at a terminal"
   end
   return nil
end

function M.conformance(plan)
   local o = plan.convergence
   return suite.conformance("RFC 6412 and RFC 6413, data plane", function(note)
      note(true, "no routing adjacency of the tester: the event is caused from outside")
      note(o.validation < VALIDATION, "the full rate was validated for %s only, not %d s",
         units.format_time(o.validation), VALIDATION)
      note(o.repetitions < REPETITIONS, "%s, not %d", format.plural(o.repetitions, "repetition"), REPETITIONS)
   end)
end

local function spread(list)
   return { min_ns = stats.min(list), median_ns = stats.median(list), max_ns = stats.max(list) }
end

local FIGURES = { "first_route_ns", "full_ns", "loss_derived_ns" }

-- The least, the middle and the greatest of the repetitions of an event.
local function summary_of(name, rows)
   local row, lists = { event = name, repetitions = #rows, connectivity = {} }, {}
   row.reasons = {} -- the events have them
   row.validity, row.outcome = verdict.worst(rows)
   for _, one in ipairs(rows) do
      for _, key in ipairs(FIGURES) do
         lists[key] = lists[key] or {}
         table.insert(lists[key], one[key])
      end
      table.insert(row.connectivity, one.connectivity.max_ns)
   end
   row.connectivity = spread(row.connectivity)
   for _, key in ipairs(FIGURES) do
      row[(key:gsub("_ns$", ""))] = #lists[key] == #rows and spread(lists[key]) or nil
   end
   return row
end

--- Cause the events, again and again.
-- @param results  gets `convergence`, a row for each event, `convergence_summary`, one for each kind, and
--                 `convergence_routes`, one for each route of each event
function M.run(plan, tester, session, results)
   local fps, by_event = trials.fps(plan, tester:max_fps(plan.convergence.size)), {}
   results.convergence, results.convergence_routes, results.convergence_summary = {}, {}, {}
   for repetition = 1, plan.convergence.repetitions do
      local steady
      for _, one in ipairs(schedule(plan)) do
         local record = trials.make(plan, session, one.event, one.egress, fps)
         if one.event == "steady" then
            steady = record
         else
            local row, routes = event.rows(plan, {
               record = record, event = one.event, egress = one.egress, old = one.old, steady = steady,
               repetition = repetition,
            })
            table.insert(results.convergence, row)
            tables.append(results.convergence_routes, routes)
            by_event[one.event] = by_event[one.event] or {}
            table.insert(by_event[one.event], row)
         end
      end
   end
   for _, name in ipairs(trials.events(plan)) do
      table.insert(results.convergence_summary, summary_of(name, by_event[name]))
   end
end

return M
