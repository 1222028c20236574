-- SPDX-License-Identifier: BSD-3-Clause

--- The service configuration test: each service alone, one way after the other, step by step.
local criteria = require "framegauge.methods.y1564.criteria"
local ethernet = require "framegauge.core.ethernet"
local figures = require "framegauge.methods.y1564.figures"
local frames = require "framegauge.methods.y1564.frames"
local steps = require "framegauge.methods.y1564.steps"
local tables = require "framegauge.core.tables"

local M = { NAME = "y1564.configuration" }

local COLOURS = { "green", "yellow" }

-- What may make up a load, each in a stream of its own.
local PARTS = {
   { key = "green", colour = "green" }, { key = "yellow", colour = "yellow" },
   { key = "green_bursts", colour = "green", name = "green bursts" },
}

local function parts_of(load)
   return tables.map(PARTS, function(part) return load[part.key] and part or nil end)
end

local function mean_fps(load)
   local count = 0
   for _, part in ipairs(parts_of(load)) do
      for _, one in ipairs(load[part.key]) do
         count = count + (one.frames or math.floor(one.fps * one.seconds + 0.5))
      end
   end
   return count / load.seconds
end

--- What a session is asked for a step.
function M.ask(step, path)
   local phase = ("%s %s, %s"):format(path.name, step.step, step.name)
   return {
      test = M.NAME, phase = phase, title = ("%s  %s"):format(phase, path.direction),
      frame_size = path.largest, direction = path.direction, fps = mean_fps(step.load),
      seconds = step.load.seconds, line_fps = path.line_fps,
   }
end

local function streams_of(tester, step, path)
   local list, ports, load = {}, tester.plan.ports, step.load
   for i, part in ipairs(parts_of(load)) do
      list[i] = {
         name = ("%s %s %s"):format(path.name, path.direction, part.name or part.colour),
         from = ports[path.from].name, to = ports[path.to].name, loads = load[part.key], sizes = path.sizes,
         delay = i > 1 and load.burst_delay or nil,
         over_time = not load.burst and 1 or nil, marks = true,
         frame = frames.build(tester, path, part.colour),
      }
   end
   return list
end

--- The size that a bucket must have, by how much of the bursts it passed: at the end of each it holds less
-- than a frame.
-- @param burst      of a row
-- @param o.inflow   bits per second that flow into it
-- @param o.spilt    bits of a burst's inflow that found it full
-- @param o.buckets  how many make up the bucket: each may hold less than a frame
-- @return { min_bytes =, max_bytes = }
function M.infer(burst, o, path)
   local passed = burst.frames - burst.lost / burst.cycles
   local flowed = (o.inflow * (burst.frames - 1) / burst.fps - o.spilt) / 8
   local least = passed * path.frame_size - flowed
   local slack = o.buckets + o.inflow / ethernet.l2_bps(burst.fps, path.frame_size)
   return { min_bytes = math.max(0, least), max_bytes = math.max(0, least + path.largest * slack) }
end

-- @param groups, bursts  figures of both: a loss belongs to the one or to the other
local function burst_of(step, path, groups, bursts)
   local burst = step.load.burst
   if not burst then
      return nil
   end
   local made = {
      frames = burst.frames, group = burst.group, cycles = burst.cycles, fps = burst.fps, lost = bursts.lost,
      group_lost = groups.lost,
   }
   if step.infer and made.lost > 0 and criteria.keeps_rate(made, path.acceptance.flr) then
      made.inferred = M.infer(made, step.infer, path)
   end
   return made
end

local function new_row(step, path)
   return {
      step = step.step, name = step.name, direction = path.direction, frame_size = path.frame_size,
      limits = step.limits, validity = "not-applicable", failed = {}, reasons = { step.untestable },
   }
end

-- Least, mean and greatest rate of the seconds of a step, both colours together.
local function rate_by_seconds(record, received)
   local list = tables.field(record.directions, "series")
   return figures.rate_by_seconds(list, received)
end

-- The row of a step from its trial.
local function row_of(step, path, record, o)
   local of = {}
   for i, part in ipairs(parts_of(step.load)) do
      of[part.key] = figures.of_stream(record.directions[i], path, part.colour, o.fdv_statistic)
   end
   local row, bursts = new_row(step, path), of.green_bursts
   row.green, row.yellow, row.trial = bursts and figures.joined(of.green, bursts) or of.green, of.yellow,
      record.trial
   for key, value in pairs(figures.of_step(row.green, row.yellow)) do
      row[key] = value
   end
   row.burst = burst_of(step, path, of.green, bursts or of.yellow)
   row.ir = not row.burst and rate_by_seconds(record, row.received_ir_bps) or nil
   if record.validity ~= "valid" then
      row.validity, row.reasons = record.validity, record.reasons
      return row
   end
   local v = criteria.verdict()
   step.judge(v, row)
   for _, colour in ipairs(COLOURS) do
      if row[colour] then
         frames.judge(v, row[colour], path, colour)
      end
   end
   row.validity, row.outcome = "valid", #v.failed > 0 and "fail" or "pass"
   row.failed, row.reasons = v.failed, v.reasons
   return row
end

local function run_step(tester, session, step, path, o)
   if step.untestable then
      return new_row(step, path)
   end
   local ask = M.ask(step, path)
   ask.streams, ask.directions = streams_of(tester, step, path), { path.direction }
   return row_of(step, path, session:trial(ask), o)
end

--- Test one path.
-- @param rows  takes a row for each step
function M.run(tester, session, path, o, rows)
   for _, step in ipairs(steps.of(path, o)) do
      local row = run_step(tester, session, step, path, o)
      rows[#rows + 1] = row
      if row.outcome == "fail" and o.configuration.stop_at_failure then
         return
      end
   end
end

--- The trials to come: list of asks.
function M.asks(path, o)
   return tables.map(steps.of(path, o), function(step)
      return step.load and M.ask(step, path) or nil
   end)
end

return M
