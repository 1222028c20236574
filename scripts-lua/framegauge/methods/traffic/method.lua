-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a plan, all at once: what became of the frames of each.
--
-- No standard defines it; it is the use of a tester between the standards. One trial with every trial's
-- evidence, and a row for each stream.
local ethernet = require "framegauge.core.ethernet"
local fields = require "framegauge.methods.traffic.result"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"
local outlook = require "framegauge.methods.common.outlook"
local own_queue = require "framegauge.traffic.own_queue"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local tables = require "framegauge.core.tables"
local tester_streams = require "framegauge.tester.streams"
local units = require "framegauge.text.units"

local M = {}

M.TITLE = "Traffic"

local NAME = "traffic.streams" -- in trials

-- The number of streams kept over time, in intervals that make an hour no longer in the report than a minute.
local KEPT = 16
local FINE, COARSE, LONG = 0.1, 1, 90 -- seconds: intervals, and up to when they are the fine ones

--- What criteria can be about: its streams.
function M.subjects(plan)
   return { { key = "stream", values = tables.field(plan.streams, "name") } }
end

local function direction_of(plan, stream)
   local from, to = stack.ends(plan.ports, stream)
   return plan.ports[from].name .. "->" .. plan.ports[to].name
end

function M.directions(plan, _, named)
   return tables.map(plan.streams, function(stream)
      return (named.stream or stream.name) == stream.name and direction_of(plan, stream) or nil
   end)
end

function M.heading(plan)
   return "of " .. format.plural(#plan.streams, "stream")
end

function M.scope(plan)
   return format.plural(#plan.streams, "stream")
end

--- The trials to come: one trial.
function M.parts(plan)
   local o = plan.traffic
   local seconds = o.duration + o.learning_wait + o.drain + o.settle
   return outlook.bounded({ { test = NAME, trials = 1, seconds = seconds } }, outlook.EXACTLY)
end

local MOST = 100 -- rows

local COLUMNS = {
   { "", "stream", function(r) return r.name end, left = true },
   { "", "direction", function(r) return r.direction end, left = true },
   { "frame", "size", function(r) return format.count(r.size) end },
   { "load", "fps", function(r) return r.fps and format.frame_rate(r.fps) or "-" end },
   { "", "frames", function(r) return r.frames and format.count(r.frames) or "-" end },
}

function M.outlook(plan, tester, notes)
   local rows, more = {}, nil
   for i = 1, math.min(MOST, #plan.streams) do
      local stream = plan.streams[i]
      local _, size = sizes.of(stream)
      local rate, seconds = tester.ports[(stack.ends(plan.ports, stream))].line_rate, plan.traffic.duration
      local frames, fps = stream_config.frames(plan.ports, stream, rate, seconds),
         stream_config.fps(plan.ports, stream, rate)
      rows[i] = {
         name = stream.name, direction = direction_of(plan, stream),
         size = size.mean, frames = frames,
         fps = frames and (stream.rate.from or stream.rate.profile) and frames / seconds or fps,
      }
   end
   if #plan.streams > MOST then
      more = ("and %s more"):format(format.plural(#plan.streams - MOST, "stream"))
   end
   local waits = own_queue.notes(tester.ports,
      stream_config.times(plan.ports, plan.streams, tester, plan.traffic.duration))
   return outlook.table(COLUMNS, rows) .. outlook.text({ more }, waits, notes)
end

-- What the line of the open port says against a stream, as a sentence.
local function objection(plan, stream, port)
   local rate, c = stream.rate, stream_config.context(plan.ports, stream, port.line_rate)
   local first = loads.of(rate, c)[1]
   if not stream_config.fps(plan.ports, stream, port.line_rate) or first.burst and not first.burst_fps then
      local text = "streams.%s.rate: %s is a share of no line: %s has no rate of its own; expected a load such as 5Mfps, or the line_rate of the port"
      return text:format(stream.name, first.burst and (rate.within and rate.within.text or "100%")
         or loads.foremost(rate).text, port.name)
   end
   local problem, key = loads.problem(rate, c), "rate."
   if not problem then
      key = ""
      problem = stream_config.count_problem(plan.ports, stream, port.line_rate, plan.traffic.duration)
   end
   return problem and ("streams.%s.%s%s: %s; expected %s"):format(stream.name, key, problem.key,
      problem.message, problem.expected)
end

function M.check(plan, tester)
   for _, stream in ipairs(plan.streams) do
      local from = stack.ends(plan.ports, stream)
      local found = objection(plan, stream, tester.ports[from])
      if found then
         return found
      end
   end
   return nil
end

-- Why a stream says nothing about the device: it had no frames to send.
local function nothing_sent(stream, direction, seconds)
   if direction.intended_frames > 0 then
      return nil
   elseif loads.fastest(stream.loads) == 0 then
      return "its rate is 0: it sends nothing"
   end
   return ("no frame was due in %s at %.4g frames per second"):format(units.format_time(seconds),
      direction.intended_fps)
end

-- The trial's counts of a stream, and the figures from them.
local function row_of(stream, direction, record, line_rate)
   local row, size = {}, stream.frame_size
   local nothing = nothing_sent(stream, direction, record.duration_s)
   for key in pairs(fields.STREAM.by_key) do
      row[key] = direction[key]
   end
   row.stream, row.direction, row.frame_size = stream.name, stream.from .. "->" .. stream.to, size
   row.duration_s, row.trial, row.validity, row.reasons =
      record.duration_s, record.trial, record.validity, record.reasons
   if nothing and record.validity ~= "invalid" then
      row.validity, row.reasons = "not-applicable", { nothing }
   end
   row.offered_l1_mbps = ethernet.l1_bps(direction.offered_fps, size) / 1e6
   row.offered_l2_mbps = ethernet.l2_bps(direction.offered_fps, size) / 1e6
   row.received_l2_mbps = direction.rx_bytes * 8 / record.duration_s / 1e6
   row.offered_percent = line_rate and row.offered_l1_mbps * 1e8 / line_rate
   return row
end

--- Send them.
-- @param results  gets the list `traffic`, a row for each stream
function M.run(plan, tester, session, results)
   local streams, fps = stream_config.streams(tester, plan.traffic.duration), 0
   local rates = {}
   for _, port in ipairs(tester.ports) do
      rates[port.name] = port.line_rate
   end
   for i, stream in ipairs(streams) do
      fps = fps + tester_streams.mean_fps(stream.loads, plan.traffic.duration)
      stream.over_time = i <= KEPT and (plan.traffic.duration <= LONG and FINE or COARSE) or nil
   end
   results.traffic = {}
   local record = session:trial {
      test = NAME, phase = "measure", direction = "all", fps = fps, seconds = plan.traffic.duration,
      streams = streams, apart = true,
   }
   for i, stream in ipairs(streams) do
      results.traffic[i] = row_of(stream, record.directions[i], record, rates[stream.from])
   end
end

return M
