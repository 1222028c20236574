-- SPDX-License-Identifier: BSD-3-Clause

--- Every port with every other one: a matrix of loss, delay and throughput.
--
-- Pairs are tested in rounds, both ways at once, in which no port stands twice; or all at once with a light
-- load. A cell of the matrix is a figure, invalid with its reason, or marked as not measured. Pairs without a
-- valid figure are measured once more at the end, in their rounds.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local rounds = require "framegauge.methods.mesh.rounds"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.mesh.throughput"
local trials = require "framegauge.methods.mesh.trials"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "Mesh"

function M.heading(plan)
   return ("of %s, %s"):format(format.plural(#plan.ports, "port"), plan.mesh.class)
end

function M.scope(plan)
   local n = #plan.ports
   return ("%s in %s"):format(format.plural(n * (n - 1), "direction"),
      format.plural(#rounds.of(plan), "round"))
end

function M.check(plan, tester)
   local unknown = outlook.unknown_line(tester, "mesh")
   for _, flows in ipairs(not unknown and rounds.of(plan) or {}) do
      for _, flow in ipairs(flows) do
         local _, fps = rounds.fps(plan, tester, flow)
         if fps * plan.mesh.trial < 1 then
            return ("mesh: %s->%s: not one frame in a trial of %s; give a longer mesh.trial or a higher mesh.load"):format(flow.from, flow.to, units.format_time(plan.mesh.trial))
         end
      end
   end
   return unknown
end

-- Trials of a round: one; for a search the loads down to the resolution, and one of all flows at once.
local function trials_of_round(plan)
   local o = plan.mesh
   return o.throughput and math.ceil(math.log(o.load / o.resolution) / math.log(2)) + 2 or 1
end

--- The trials to come, if no pair has to be measured again.
function M.parts(plan)
   local o = plan.mesh
   local n = #rounds.of(plan) * trials_of_round(plan)
   return outlook.bounded({ { test = trials.NAME, frame_size = o.frame_size, trials = n,
      seconds = n * (o.trial + o.learning_wait + o.drain + o.settle) } },
      o.throughput and outlook.AT_MOST or outlook.EXACTLY)
end

local MOST = 100 -- rounds that are listed

function M.outlook(plan, _, notes)
   local list, rows = rounds.of(plan), {}
   for i = 1, math.min(#list, MOST) do
      rows[i] = { round = tostring(i), pairs = table.concat(tables.map(list[i], function(flow)
         return flow.from < flow.to and flow.from .. "-" .. flow.to or nil
      end), "  ") }
   end
   return outlook.table({
      { "round", "", function(row) return row.round end },
      { "pairs", "", function(row) return row.pairs end, left = true },
   }, rows) .. outlook.text({
      #list > MOST and ("and %s more"):format(format.plural(#list - MOST, "round")) or nil,
      ("%s; no schedule has fewer than %d."):format(format.plural(#list, "round"), rounds.lower_bound(plan)),
      outlook.waits(plan.mesh) .. "; the times include it.",
   }, notes)
end

-- The figures of a cell from the trial's counts.
local function fill(c, row, record, direction)
   local size, line = c.plan.mesh.frame_size, row.line_fps
   for _, key in ipairs { "offered_fps", "tx", "rx", "lost", "loss_ratio", "duplicates", "reordered",
      "latency", "no_latency", "validity" } do
      row[key] = direction[key]
   end
   row.trial, row.duration_s, row.reasons = record.trial, record.duration_s, { unpack(direction.reasons) }
   row.offered_percent = row.offered_fps / line * 100
   row.received_l2_mbps = ethernet.l2_bps(direction.rx, size) / record.duration_s / 1e6
end

-- The further results of a search.
local function fill_throughput(c, row, found)
   local of, load = found.result, nil
   if of.load or of.limited_by == "loss" then
      load = of.load or 0
      row.throughput_fps, row.throughput_percent = load, load / row.line_fps * 100
      row.throughput_l2_mbps = ethernet.l2_bps(load, c.plan.mesh.frame_size) / 1e6
   end
   row.validity = verdict.worse(verdict.of_search(of.limited_by), row.validity)
   if row.validity ~= "valid" and of.upper_trial and not row.reasons[1] then
      row.reasons = { unpack(of.upper_trial.reasons or {}) }
   elseif row.validity == "valid" and load and load > 0 and row.lost > 0 then
      row.shared = true
      row.reasons[#row.reasons + 1] = ("%s lost while all pairs of the round had their throughputs at once: they share a path"):format(format.plural(row.lost, "frame"))
   end
end

local function nothing(row, why)
   row.validity, row.reasons = "invalid", { "not measured: " .. why }
end

-- One round, or its part that is repeated. @param flows  each with its row
local function measure(c, flows, phase)
   local o = c.plan.mesh
   for _, flow in ipairs(flows) do
      flow.whole, flow.most = rounds.fps(c.plan, c.tester, flow)
      flow.load = flow.most
   end
   local found, record, by_flow = {}, nil, nil
   if o.throughput then
      found = throughput.run(c, flows)
   else
      record, by_flow = trials.make(c, flows, phase)
   end
   for _, flow in ipairs(flows) do
      local one, row = found[flow], flow.row
      local direction = one and not one.gone and one.direction or by_flow and by_flow[flow]
      row.line_fps = flow.whole
      if not direction then
         nothing(row, trials.absent(c, flow) or "its agent was not there")
      else
         fill(c, row, one and one.record or record, direction)
      end
      if one and direction then
         fill_throughput(c, row, one)
      end
   end
end

-- A row for every cell before the first trial, so that no cell is ever empty.
local function new_rows(list, frame_size)
   local rows, by_flow = {}, {}
   for _, flows in ipairs(list) do
      for _, flow in ipairs(flows) do
         local row = { direction = flow.from .. "->" .. flow.to, from = flow.from, to = flow.to,
            round = flow.round, frame_size = frame_size }
         nothing(row, "the run ended before its round")
         rows[#rows + 1], by_flow[flow] = row, row
      end
   end
   return rows, by_flow
end

local function in_order(rows, ports)
   table.sort(rows, function(a, b)
      local i, k = tables.index_of(ports, a.from), tables.index_of(ports, b.from)
      return i < k or i == k and tables.index_of(ports, a.to) < tables.index_of(ports, b.to)
   end)
   return rows
end

-- Repeat flows without a valid figure. A row that does not improve stays as it was.
local function ask_again(c, list, by_flow)
   local failed = {}
   for _, flows in ipairs(list) do
      local some = tables.map(flows, function(flow)
         return by_flow[flow].validity ~= "valid" and flow or nil
      end)
      failed[#failed + 1] = some[1] and some or nil
   end
   if failed[1] and c.tester.rejoin then
      c.tester:rejoin()
   end
   for _, flows in ipairs(failed) do
      for _, flow in ipairs(flows) do
         local row = by_flow[flow]
         flow.row = { direction = row.direction, from = row.from, to = row.to, round = row.round,
            frame_size = row.frame_size, again = true }
      end
      measure(c, flows, "again")
      for _, flow in ipairs(flows) do
         local row = by_flow[flow]
         if verdict.worse(row.validity, flow.row.validity) == row.validity and flow.row.trial then
            for key in pairs(row) do
               row[key] = nil
            end
            for key, value in pairs(flow.row) do
               row[key] = value
            end
         end
      end
   end
end

--- Measure.
-- @param results  gets the list `mesh`, a row for each direction of each pair
function M.run(plan, tester, session, results)
   local c = { plan = plan, tester = tester, session = session }
   local list = rounds.of(plan)
   if tester.keep_apart then
      tester:keep_apart()
   end
   local rows, by_flow = new_rows(list, plan.mesh.frame_size)
   results.mesh = rows
   in_order(results.mesh, plan.ports)
   for _, flows in ipairs(list) do
      for _, flow in ipairs(flows) do
         flow.row = by_flow[flow]
      end
      measure(c, flows, "measure")
   end
   if plan.mesh.again then
      ask_again(c, list, by_flow)
   end
end

return M
