-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of a mesh. Each flow has its own verdict: a fault of one pair does not affect others.
--
-- An agent that is lost takes its flows with it. The trial is repeated with the remaining flows if it had not
-- begun.
local job = require "framegauge.core.job"
local rounds = require "framegauge.methods.mesh.rounds"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"

local M = {}

M.NAME = "mesh"

--- Why a flow cannot be measured, a sentence; nil when it can.
function M.absent(c, flow)
   local absent = c.tester.absent and c.tester:absent() or {}
   return absent[flow.from] or absent[flow.to]
end

-- Then the connection to the agents is at fault, and the run can be resumed.
local function all_are_absent(c)
   return #tables.keys(c.tester:absent()) == #c.plan.ports
end

local function there(c, flows)
   return tables.map(flows, function(flow)
      return not M.absent(c, flow) and flow or nil
   end)
end

-- The verdict on one flow, from the counts of its own ports and of its own agents.
local function verdict_of(raw, ask, direction, flow)
   local ports = tables.map(raw.ports, function(port)
      return (port.name == flow.from or port.name == flow.to) and port or nil
   end)
   local record = trial.record({
      directions = { direction }, ports = ports, lcores = direction.lcores or raw.lcores, time = raw.time,
      invalid = direction.invalid, drain_s = raw.drain_s, duration_s = raw.duration_s,
   }, ask)
   return record.validity, record.reasons
end

-- @return the record of a trial, in which each direction has its own verdict
local function make(c, flows, ask)
   ask.streams = rounds.streams(c.plan, c.tester, flows)
   local raw = c.session:measure(ask)
   local record = trial.record(raw, ask)
   for i, direction in ipairs(record.directions) do
      direction.validity, direction.reasons = verdict_of(raw, ask, raw.directions[i], flows[i])
   end
   return record
end

local function ask_of(c, flows, phase)
   local fps = 0
   for _, flow in ipairs(flows) do
      fps = fps + flow.load / #flows
   end
   return {
      test = M.NAME, phase = phase, frame_size = c.plan.mesh.frame_size, seconds = c.plan.mesh.trial,
      direction = c.plan.mesh.class == "light" and "all" or "round " .. flows[1].round, fps = fps,
      streams = flows, -- own loads, until they are made
      make = function(ask) return make(c, flows, ask) end,
   }
end

--- One trial.
-- @param c      plan, tester, session
-- @param flows  list of { from =, to =, round =, load = frames per second }
-- @return the record, and by flow its direction in it, without flows whose agents were absent. With no flow
-- left: nil, {}
function M.make(c, flows, phase)
   local left = there(c, flows)
   while left[1] do
      local ok, record = pcall(c.session.trial, c.session, ask_of(c, left, phase))
      if ok then
         local by_name, by_flow = {}, {}
         for _, direction in ipairs(record.directions) do
            by_name[direction.direction] = direction
         end
         for _, flow in ipairs(flows) do
            by_flow[flow] = by_name[flow.from .. "->" .. flow.to]
         end
         return record, by_flow
      end
      local before = #left
      left = there(c, left)
      if job.is_interrupt(record) or #left == before or all_are_absent(c) then
         error(record, 0)
      end
   end
   return nil, {}
end

return M
