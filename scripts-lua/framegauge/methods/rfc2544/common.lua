-- SPDX-License-Identifier: BSD-3-Clause

--- What the tests of RFC 2544 share: the throughput of a frame size, and a trial seen from one direction.
--
-- The throughput comes from the key `rate` of the test's own group, or from the throughput test's search.
-- That search is repeated over the existing trials: after the throughput test it finds all its trials done,
-- without that test it makes them. For a single direction it takes the same steps as long as the directions
-- agree; only where one carries more than the other are further trials needed.
-- other are there trials to add.
local ethernet = require "framegauge.core.ethernet"
local loads = require "framegauge.traffic.loads"
local search = require "framegauge.search"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.rfc2544.throughput"
local verdict = require "framegauge.text.verdict"

local M = {}

--- Directions the plan asks for. @return list of "from->to", and the name of the whole in reports
M.directions = throughput.directions

--- The counts of one direction of a trial record.
function M.counts(record, direction)
   return tables.find(record.directions, "direction", direction)
      or error("the trial has no direction " .. direction)
end

--- Frames per second of one direction, from the load of its port.
function M.own_fps(counts, fps)
   return fps * (counts.share or 1)
end

--- A trial record for one direction: with its counts instead of the sums.
function M.view(record, direction)
   local counts = M.counts(record, direction)
   return setmetatable({ tx = counts.tx, rx = counts.rx, lost = counts.lost, loss_ratio = counts.loss_ratio },
      { __index = record })
end

-- The strictest goal of a search.
local function strictest(goal, result)
   local chosen, least = nil, nil
   for i, one in ipairs(goal.goals or {}) do
      if not least or one.loss_ratio < least then
         chosen, least = result.goals[i], one.loss_ratio
      end
   end
   return chosen or result
end

local function searched(plan, session, frame_size, line_fps, direction)
   local directions, name = M.directions(plan)
   local goal = assert(throughput.goal(plan.rfc2544.throughput, frame_size, line_fps, plan.tester_limits))
   local trial = session:again(1)
   function goal.trial(fps, seconds, phase)
      local record = trial {
         test = throughput.NAME, phase = phase, frame_size = frame_size, direction = name,
         directions = directions, fps = fps, seconds = seconds, line_fps = line_fps,
         any_loss = throughput.fails_by_any_loss(goal),
      }
      return direction and M.view(record, direction) or record
   end
   return strictest(goal, search.run(plan.rfc2544.throughput.search, goal))
end

--- The load of a test.
-- @param key        the test's group in the plan; its `rate` comes first
-- @param direction  "from->to": the throughput of that direction; nil: of all directions at once
-- @return { fps = nil without a load, source = "plan" or "throughput", validity =, reasons =,
--         at_maximum = whether no higher load could be tried }
function M.rate(plan, session, key, frame_size, line_fps, direction)
   local rate = plan.rfc2544[key].rate
   if rate then
      local fps = loads.of_rate(rate, frame_size, line_fps)
      fps = line_fps and math.min(fps, line_fps) or fps
      return { fps = fps, source = "plan", validity = "valid", reasons = {}, at_maximum = fps == line_fps }
   end
   local result = searched(plan, session, frame_size, line_fps, direction)
   local found = verdict.of_search(result.limited_by)
   return {
      fps = result.load, source = "throughput", at_maximum = result.limited_by == "maximum",
      validity = found, reasons = found ~= "valid" and { "the throughput is " .. found } or {},
   }
end

--- Verdict and reasons of a row without a load.
function M.without_rate(rate)
   if rate.validity == "valid" then
      return "not-applicable", { "no load passes without loss" }
   end
   return rate.validity, rate.reasons
end

--- Why a test has no load; nil when it has one.
function M.check_rate(plan, tester, key)
   local rate = plan.rfc2544[key].rate
   if not rate then
      return throughput.check(plan, tester)
   end
   for _, frame_size in ipairs(plan.rfc2544.frame_sizes) do
      if not loads.of_rate(rate, frame_size, tester:max_fps(frame_size)) then
         return ("the line rate of these ports is not known, so rfc2544.%s.rate cannot be a share of it; give a load, such as 5Mfps, or the ports' line_rate"):format(key)
      end
   end
   return nil
end

--- Share of the line in percent, nil where it is not known.
function M.percent(fps, line_fps)
   return fps and line_fps and fps / line_fps * 100
end

--- Time between the first and the last bit of a frame on the line of the port a direction starts from.
-- @param declared  whether a rate that the plan alone declares counts, too
-- @return nanoseconds, nil where the rate of that line is not known
function M.frame_ns(tester, direction, frame_size, declared)
   local port = tables.find(tester.ports, "name", direction:match "^(.-)%->")
   local rate = port and (port.serial_rate or declared and port.line_rate)
   return rate and ethernet.l2_bps(1, frame_size) / rate * 1e9 or nil
end

return M
