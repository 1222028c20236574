-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a plan, all at once: what became of the frames of each.
--
-- No standard says how; it is what a tester is used for between the standards. One trial with the evidence
-- that every trial has, and a row for each stream.
local cycles = require "framegauge.traffic.sizes"
local fields = require "framegauge.report.traffic.fields"
local format = require "framegauge.report.format"
local line = require "framegauge.line"
local loads = require "framegauge.traffic.loads"
local stack = require "framegauge.traffic.stack"
local wanted = require "framegauge.traffic.wanted"

local M = {}

M.TITLE = "Traffic"

M.QUICK = { "traffic.duration=1s", "traffic.learning_wait=100ms", "traffic.drain=200ms" }

local NAME = "traffic.streams" -- in trials

-- So many streams are kept over time, in intervals that make an hour no longer in the report than a minute.
local KEPT = 16
local FINE, COARSE, LONG = 0.1, 1, 90 -- seconds: intervals, and up to when they are the fine ones

function M.heading(plan)
   return "of " .. format.plural(#plan.streams, "stream")
end

function M.scope(plan)
   return format.plural(#plan.streams, "stream")
end

--- Octets with FCS of all frames.
function M.frame_sizes(plan)
   local sizes, seen = {}, {}
   for _, stream in ipairs(plan.streams) do
      for _, size in ipairs(select(2, cycles.of(stream)).kinds) do
         sizes[#sizes + 1], seen[size] = not seen[size] and size or nil, true
      end
      local oversize = stream.errors and stream.errors.oversize
      if oversize then
         sizes[#sizes + 1] = oversize.size
      end
   end
   return sizes
end

--- Phases of its trial, and how often an invalid one is made again.
function M.phases(plan)
   return plan.traffic
end

--- What lies ahead: one trial.
function M.parts(plan)
   local o = plan.traffic
   return { { test = NAME, trials = 1, seconds = o.duration + o.learning_wait + o.drain + o.settle } }
end

--- What `run --dry-run` says.
function M.outlook(plan, tester, notes)
   return require("framegauge.report.traffic.outlook").text(plan, tester, notes)
end

--- There is no standard to keep to.
function M.conformance()
   return { traffic = true, notes = {} }
end

--- What keeps a plan from being run on a bench; nil when nothing does.
function M.check(plan, bench)
   for _, stream in ipairs(plan.streams) do
      local from = stack.ends(plan.ports, stream)
      local port = bench.ports[from]
      if not wanted.fps(plan.ports, stream, port.line_rate) then
         local text = "streams.%s.rate: %s is a share of no line: %s has no rate of its own; expected a load "
            .. "such as 5Mfps, or the line_rate of the port"
         return text:format(stream.name, loads.foremost(stream.rate).text, port.name)
      end
   end
   return nil
end

-- What the trial counted of a stream, and what follows from it.
local function row_of(stream, direction, record, line_rate)
   local row, size = {}, stream.frame_size
   for _, key in ipairs(fields.KEYS) do
      row[key] = direction[key]
   end
   row.stream, row.from, row.to, row.frame_size = stream.name, stream.from, stream.to, size
   row.duration_s, row.trial, row.verdict, row.reasons =
      record.duration_s, record.trial, record.verdict, record.reasons
   row.measured, row.errors = direction.measured, direction.errors
   row.altered, row.translated = direction.altered, direction.translated
   row.loss_percent = direction.loss_ratio * 100
   row.offered_mbps_l1 = line.l1_bps(direction.offered_fps, size) / 1e6
   row.offered_mbps_l2 = line.l2_bps(direction.offered_fps, size) / 1e6
   row.received_mbps_l2 = direction.rx_octets * 8 / record.duration_s / 1e6
   row.percent = line_rate and row.offered_mbps_l1 * 1e8 / line_rate
   return row
end

--- Send them.
-- @param results  gets the list `traffic`, a row for each stream
function M.run(plan, bench, session, results)
   local streams, fps = wanted.streams(bench, plan.traffic.duration), 0
   local rates = {}
   for _, port in ipairs(bench.ports) do
      rates[port.name] = port.line_rate
   end
   for i, stream in ipairs(streams) do
      fps = fps + stream.loads[1].mean_fps
      stream.over_time = i <= KEPT and (plan.traffic.duration <= LONG and FINE or COARSE) or nil
   end
   results.traffic = {}
   local record = session:trial {
      test = NAME, phase = "measure", direction = "all", fps = fps, seconds = plan.traffic.duration,
      streams = streams,
   }
   for i, stream in ipairs(streams) do
      results.traffic[i] = row_of(stream, record.directions[i], record, rates[stream.from])
   end
end

return M
