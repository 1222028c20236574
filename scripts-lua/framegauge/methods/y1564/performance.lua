-- SPDX-License-Identifier: BSD-3-Clause

--- The service performance test: all services at once, every way, at their committed rates.
--
-- Each path has a stream of its own with its own pace, so that one service does not move the frames of
-- another: the streams of a port are sent in the order of their departures.
local criteria = require "framegauge.methods.y1564.criteria"
local figures = require "framegauge.methods.y1564.figures"
local frames = require "framegauge.methods.y1564.frames"
local loads = require "framegauge.methods.y1564.loads"
local paths = require "framegauge.methods.y1564.plan.paths"
local tables = require "framegauge.core.tables"

local M = { NAME = "y1564.performance" }

local function streams_of(tester, list, seconds)
   local streams, ports = {}, tester.plan.ports
   for i, path in ipairs(list) do
      streams[i] = {
         name = ("%s %s green"):format(path.name, path.direction), from = ports[path.from].name,
         to = ports[path.to].name, frame = frames.build(tester, path, "green"), sizes = path.sizes,
         over_time = 1, marks = true,
         loads = loads.constant(path, path.cir, nil, seconds).green,
      }
   end
   return streams
end

--- The paths that have a committed rate.
function M.paths(list)
   return tables.map(list, function(path) return path.cir > 0 and path or nil end)
end

--- What a session is asked.
function M.ask(list, o)
   local fps, largest = 0, 0
   for _, path in ipairs(list) do
      fps, largest = fps + loads.fps_of(path.cir, path), math.max(largest, path.largest)
   end
   return {
      test = M.NAME, phase = "all services at CIR", title = "all services at CIR", frame_size = largest,
      direction = #list > 1 and "both" or list[1].direction, fps = fps, seconds = o.performance.duration,
      outage = o.performance.outage > 0
         and { at = o.performance.outage_at, seconds = o.performance.outage } or nil,
   }
end

local function judge(row, path, o)
   local v, sac = criteria.verdict(), path.acceptance
   criteria.rate_at_least(v, row, path.cir * (1 - sac.flr) - paths.rounding(path, row.duration_s))
   criteria.conforms(v, row, sac, o.ftd_statistic)
   criteria.available(v, row.availability_percent, sac)
   frames.judge(v, row, path, "green")
   row.validity, row.outcome = "valid", #v.failed > 0 and "fail" or "pass"
   row.failed, row.reasons = v.failed, v.reasons
end

-- Loss, delay and its variation cover the time in which the service was available (Y.1563). Of a part
-- of the time the 99.9th percentile is not known, but it cannot exceed the greatest of the seconds'.
local function add_availability(row, direction, path, statistic)
   local a = direction.availability
   row.availability_percent, row.unavailable_s = a.percent, a.unavailable_s
   row.severely_errored_s = a.severely_errored_s
   row.ir = figures.rate_by_seconds({ direction.series }, row.received_ir_bps)
   if a.unavailable_s > 0 then
      row.judged_tx, row.judged_rx, row.judged_lost = a.tx, a.rx, a.tx - a.rx
      row.loss_ratio = a.tx > 0 and row.judged_lost / a.tx or 0
      row.ftd = a.ftd and figures.transfer_delay(path, a.ftd.min_ns, a.ftd.mean_ns, a.ftd.max_ns)
      row.fdv_ns = a.ftd and figures.variation(a.ftd, statistic)
   end
end

local function row_of(path, direction, record, o)
   local row = figures.of_stream(direction, path, "green", o.fdv_statistic)
   row.direction, row.frame_size = path.direction, path.frame_size
   row.duration_s, row.trial = record.duration_s, record.trial
   add_availability(row, direction, path, o.fdv_statistic)
   if record.validity ~= "valid" then
      row.validity, row.failed, row.reasons = record.validity, {}, record.reasons
   else
      judge(row, path, o)
   end
   return row
end

--- Make the test.
-- @param list  all paths
-- @param add   function(path, row)
function M.run(tester, session, list, o, add)
   local ask = M.ask(list, o)
   ask.streams, ask.directions = streams_of(tester, list, ask.seconds), {}
   local record = session:trial(ask)
   for i, path in ipairs(list) do
      add(path, row_of(path, record.directions[i], record, o))
   end
end

return M
