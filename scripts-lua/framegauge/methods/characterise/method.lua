-- SPDX-License-Identifier: BSD-3-Clause

--- What a device is, from few trials: the parameters of a model, each with its bounds, the trials that prove
-- or disprove it, and a reference device that behaves like it.
local format = require "framegauge.text.format"
local identify = require "framegauge.methods.characterise.identify"
local mac_table = require "framegauge.methods.characterise.mac_table"
local outlook = require "framegauge.methods.common.outlook"
local parameters = require "framegauge.methods.characterise.parameters"
local plan_rows = require "framegauge.methods.characterise.plan"
local prediction = require "framegauge.methods.characterise.prediction"
local queue = require "framegauge.methods.characterise.queue"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local trials = require "framegauge.methods.characterise.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "Characterisation"

local MORE_SIZES = 2 -- frame sizes that may be added
local OF_SIZE, OF_HELD_OUT, OF_RECOVERY = 4, 3, 2 -- trials, at most
local EMPTYING = 1 -- trial more of the largest size

--- List of "from->to", between the first two ports.
function M.directions(plan)
   return (topology.directions({ plan.ports[1], plan.ports[2] }, "pairs", plan.needs.one_way))
end

function M.heading(plan)
   return ("%s, %d more for proof"):format(format.plural(#plan.characterise.frame_sizes, "frame size"),
      #plan.characterise.held_out)
end

function M.scope(plan)
   return format.plural(#M.directions(plan), "direction")
end

function M.check(_, tester)
   return outlook.unknown_line(tester, "characterise")
end

--- The trials to come, at most. A large buffer makes overloads longer.
function M.parts(plan)
   local o, list, directions = plan.characterise, {}, M.directions(plan)
   local waits = o.learning_wait + o.drain + o.settle
   local function add(frame_size, n, seconds)
      list[#list + 1] = { test = "characterise", frame_size = frame_size, trials = n,
         total = seconds + n * waits }
   end
   for _ in ipairs(directions) do
      for _, size in ipairs(o.frame_sizes) do
         add(size, OF_SIZE, 1.75 * o.trial + o.rest)
      end
      add(o.frame_sizes[1], OF_RECOVERY, o.trial + 2 * o.watch)
      add(o.frame_sizes[#o.frame_sizes], EMPTYING, o.longest)
      for _, size in ipairs(o.held_out) do
         add(size, OF_HELD_OUT, (size == prediction.longest_of(plan) and o.longest or 0) + 1.25 * o.trial)
      end
   end
   if directions[2] then
      add(o.frame_sizes[1], 1, o.trial)
   end
   if plan.ports[3] then
      add(64, mac_table.TRIALS, mac_table.seconds(o))
   end
   return outlook.bounded(outlook.parts(list), outlook.AT_MOST,
      "where a large buffer takes an overload in, the tester falls short, or models are not told apart")
end

function M.outlook(plan, _, notes)
   local o = plan.characterise
   return outlook.text({
      ("%s: overloads of two lengths and a low load of %s bytes; then trials of %s bytes, which the model must predict."):format(table.concat(M.directions(plan), ", "), table.concat(o.frame_sizes, ", "),
         table.concat(o.held_out, ", ")),
      outlook.waits(o) .. ".",
   }, notes)
end

local function add_size(c, seen, frame_size)
   local at = 1
   while seen.sizes[at] and seen.sizes[at].frame_size < frame_size do
      at = at + 1
   end
   table.insert(seen.sizes, at, trials.size(c, frame_size))
end

-- Trials until one model is left, or until further trials would not help.
local function find(c)
   local seen = { line_bps = c.line_bps, sizes = {},
      below_line = c.below_line(c.plan.characterise.frame_sizes[1]) }
   for _, frame_size in ipairs(c.plan.characterise.frame_sizes) do
      add_size(c, seen, frame_size)
   end
   for i = #seen.sizes, math.max(1, #seen.sizes - 1), -1 do -- the largest empties a bucket of bits first
      if not trials.empty_bucket(c, seen.sizes[i]) then
         break
      end
   end
   local found = identify.direction(seen)
   local candidates = tables.map(plan_rows.MORE, function(size)
      return not tables.contains(c.plan.characterise.held_out, size) and size or nil
   end)
   for _ = 1, MORE_SIZES do
      local more = identify.telling_size(found, c.line_bps, tables.field(seen.sizes, "frame_size"),
         candidates)
      if not more then
         break
      end
      add_size(c, seen, more)
      found = identify.direction(seen)
   end
   return seen, found
end

-- The smallest frame that overloads it.
local function overloaded(seen)
   for _, size in ipairs(seen.sizes) do
      if size.overloads[1] then
         return size.frame_size
      end
   end
end

local function add_figures(row, found)
   local estimate = parameters.estimate
   row.limit, row.buffer_unit, row.switching = found.limit, found.buffer_unit, found.switching
   row.capacity, row.bandwidth = estimate(found.capacity, "fps"), estimate(found.bandwidth, "bps")
   row.time_per_frame = estimate(found.per_frame, "ns", 1e9)
   row.time_per_byte = estimate(found.per_byte, "ns", 1e9)
   row.cir, row.cbs = estimate(found.cir, "bps"), estimate(found.cbs, "bytes")
   row.buffer, row.buffer_memory = estimate(found.buffer_frames, "frames"), estimate(found.buffer_bytes,
      "bytes")
   row.buffer_cell_bytes, row.counted = found.buffer_cell_bytes, found.counted
   row.base_latency = estimate(found.latency, "ns")
   row.latency_per_byte = estimate(found.latency_per_byte, "ns")
   row.remarks = found.remarks
end

local function measure(c)
   local row = { direction = c.direction, both_ways = "not tried" }
   local seen, found = find(c)
   add_figures(row, found)
   local rests = tables.field(seen.sizes, "rest")
   if rests[1] then
      row.loss = parameters.loss(c.rests)
      row.jitter, row.jitter_mean_ns = parameters.jitter(rests[1])
      row.rest_tx, row.jitter_frames = c.rests.tx, rests[1].tx - rests[1].lost
   else
      table.insert(row.remarks, "nothing came through at a low load")
   end
   local size = overloaded(seen)
   if size and found.limit ~= "policer" and found.limit ~= "load" and found.capacity then
      local rate = 1 / queue.service(parameters.model(row, c.line_bps), size)
      row.recovery = parameters.recovery(trials.recovery(c, size, rate), row.remarks)
   end
   return row, size
end

-- Overload of both directions at once, compared with what each forwards alone.
local function both_at_once(all, rows, sizes)
   local c = all[2]
   local frame_size = sizes[1] and sizes[2] and math.max(sizes[1], sizes[2]) or sizes[1] or sizes[2]
      or c.plan.characterise.frame_sizes[1]
   local together = trials.together(c, frame_size, tables.field(rows, "direction"))
   for i, row in ipairs(rows) do
      local counts = together[row.direction]
      if parameters.is_whole(row) then
         local least = prediction.least_alone(row, all[i], frame_size, c.plan.characterise.trial)
         row.both_ways = counts.rx < least - counts.slack and "shared" or "independent"
      end
   end
end

local function judge(row, of)
   row.trials = #of.trials
   row.validity, row.reasons = verdict.merge(of.trials)
end

--- Measure.
-- @param results  gets `characterisation`, a row for each direction, and `predictions`, one for each trial
--                 that was held out; with three ports `mac_table`, a row
function M.run(plan, tester, session, results)
   results.characterisation, results.predictions = {}, {}
   local all, sizes, rows = {}, {}, results.characterisation
   for i, direction in ipairs(M.directions(plan)) do
      all[i] = trials.new(plan, tester, session, direction)
      local row, size = measure(all[i])
      judge(row, all[i])
      rows[i], sizes[i] = row, size
   end
   if rows[2] then
      both_at_once(all, rows, sizes)
   end
   for i, row in ipairs(rows) do
      prediction.make(all[i], row, results.predictions)
      judge(row, all[i]) -- with the trials that came after
   end
   if tester.ports[3] then
      results.mac_table = { mac_table.measure(plan, tester, session, rows) }
   end
end

return M
