-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 sections 5.1, 5.2, 5.4 and 5.10: throughput and forwarding rates of a pattern of traffic.
--
-- For each frame size: the highest load of a port that the switch carries without loss (a search, as in RFC
-- 2544); what it forwards of the maximum offered load (FRMOL); and the most that it forwards at any load from
-- the throughput up to that, step by step (MFR). All ports that send have the same load, which is a share of
-- the slowest line.
--
-- Frames count at the port that owns their destination. Copies at other ports are floods: the table had lost
-- an address, or not learned it, so the load was not the intended one. Broadcasts count at all ports
-- (broadcast.lua).
local broadcast = require "framegauge.methods.rfc2889.broadcast"
local ethernet = require "framegauge.core.ethernet"
local patterns = require "framegauge.traffic.patterns"
local flow_control = require "framegauge.trial.flow_control"
local search = require "framegauge.search"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local trial = require "framegauge.trial"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = tables.joined(patterns.NAMES, { "broadcast" })

--- The maximum offered load of a port: frames per second.
function M.max_fps(plan, tester, frame_size)
   return plan.rfc2889.max * tester:max_fps(frame_size)
end

--- The arrivals at each port, by its name: { rx = frames, first =, last = arrival, ns }.
function M.arrivals_at(record)
   local at = {}
   for _, d in ipairs(record.directions or {}) do
      local to = d.direction:match "%->(.+)$"
      local one = at[to] or { rx = 0, first = math.huge, last = 0 }
      at[to], one.rx = one, one.rx + d.rx
      one.first = math.min(one.first, d.first_arrival_ns or math.huge)
      one.last = math.max(one.last, d.last_arrival_ns or 0)
   end
   return at
end

--- The most frames per second that a port's line can have carried: the line rate, or with a fast clock the
-- measured rate from the first arrival to the last.
-- @param port  of the tester
-- @param one   what arrived there, as arrivals_at() has it
function M.line_fps(port, one, frame_size)
   local span = (one.last - one.first) / 1e9
   return math.max(ethernet.lines_fps({ port }, frame_size), span > 0 and (one.rx - 1) / span or 0)
end

-- Frames per second that all senders together offered. Pauses make some of them take longer than others: then
-- the load is over the time of the last one.
local function oload_fps(record, pattern)
   local seconds = 0
   for _, d in ipairs(record.pauses and not pattern.broadcast and record.directions or {}) do
      seconds = math.max(seconds, d.tx > 0 and d.tx / (d.offered_fps * (d.share or 1)) or 0)
   end
   return seconds > 0 and record.tx / seconds or #pattern.senders * record.offered_fps
end

--- Frames per second that all receivers got of their own frames, over the time of sending. Frames that the
-- switch still held at the end arrive later and count. So a port may have more than its line rate, and is
-- limited to it.
function M.forwarding_fps(record, pattern, frame_size)
   if record.tx == 0 then
      return 0
   end
   local a_frame = pattern.copies * oload_fps(record, pattern) / record.tx
   local at, sum = pattern.broadcast and {} or M.arrivals_at(record), 0
   for _, port in ipairs(pattern.receivers) do
      local one = at[port.name]
      sum = sum + (one and math.min(one.rx * a_frame, M.line_fps(port, one, frame_size))
         or ethernet.lines_fps({ port }, frame_size))
   end
   return math.min(sum, record.rx * a_frame)
end

-- All that is the same for the trials of one row.
local function context(plan, tester, session, key, frame_size)
   local devices, second = plan.rfc2889.multiple_devices, nil
   if key == "multiple_devices" and not devices["local"] then
      second = devices.second or topology.second_half(tester.ports)
   end
   local pattern = patterns.of(tester.ports, key, second)
   local line_fps = tester:max_fps(frame_size)
   local o = plan.rfc2889
   local stagger = patterns.stagger(tester.ports, o.stagger)
   local stations = o.addresses > 1 and { count = o.addresses, fps = o.announcement_rate } or nil
   local c = { plan = plan, pattern = pattern, line_fps = line_fps, frame_size = frame_size, key = key,
      mol = M.max_fps(plan, tester, frame_size), before = #session.trials, session = session }
   function c.trial(fps, seconds, phase, any_loss)
      local record = session:trial {
         test = "rfc2889." .. key, phase = phase, frame_size = frame_size, direction = "all",
         directions = pattern.directions, fps = fps, seconds = seconds, line_fps = line_fps,
         any_loss = any_loss, broadcast = pattern.broadcast, stagger = stagger, stations = stations,
         span = not pattern.broadcast,
      }
      return pattern.broadcast and broadcast.of_copies(record, pattern) or record
   end
   return c
end

local function find_throughput(c)
   local o = c.plan.rfc2889
   local limits = c.plan.tester_limits
   local goal = search.goal(o, { max = c.mol, min = 0, resolution = o.resolution * c.line_fps,
      carried = limits and limits[c.frame_size] })
   function goal.trial(fps, seconds, phase)
      return c.trial(fps, seconds, phase, true)
   end
   return search.run("binary", goal)
end

local function point(c, record)
   return {
      iload_percent = record.intended_percent, oload_fps = oload_fps(record, c.pattern),
      forwarding_fps = M.forwarding_fps(record, c.pattern, c.frame_size), tx = record.tx,
      loss_ratio = record.loss_ratio,
      flood = record.misdirected, trial = record.trial,
   }
end

-- From the throughput in steps up to the maximum offered load, which is always the last one. The trial that
-- passed is the first point; without one, the steps begin at 0.
-- @return points and their records
local function find_forwarding(c, result)
   local o, points, records = c.plan.rfc2889, {}, {}
   local function add(record)
      points[#points + 1], records[#records + 1] = point(c, record), record
   end
   if result.lower_trial then
      add(result.lower_trial)
   end
   local base, step, k = result.load or 0, o.step * c.line_fps, 1
   while base < c.mol do
      local fps = base + k * step
      local last = fps >= c.mol * (1 - 1e-9)
      add(c.trial(last and c.mol or fps, o.trial, "forwarding"))
      if last then
         break
      end
      k = k + 1
   end
   return points, records
end

-- The direction of a trial that lost most; nil without loss.
local function worst_pair(record)
   local worst
   for _, d in ipairs(record.directions) do
      if d.lost > 0 and (not worst or d.loss_ratio > worst.loss_ratio) then
         worst = d
      end
   end
   return worst and worst.direction
end

local function validity_of(result, records, pattern)
   local validity = verdict.of_search(result.limited_by)
   local _, reasons = verdict.merge { result.upper_trial and validity ~= "valid" and result.upper_trial
      or { validity = validity, reasons = {} } }
   local of_trials, why, flood = suite.unflooded(records)
   if flood > 0 and pattern.broadcast then
      why[#why] = ("up to %d frames of a trial came out twice, or at the port that had sent them"):format(
         flood)
   end
   return verdict.worse(validity, of_trials), tables.joined(reasons, why), flood
end

-- Measure a pattern at one frame size. @return the row
local function measure(plan, tester, session, key, frame_size)
   local c = context(plan, tester, session, key, frame_size)
   local result = find_throughput(c)
   local points, records = find_forwarding(c, result)
   local mol, best = points[#points], tables.greatest(points, "forwarding_fps")
   local validity, reasons, flood = validity_of(result, records, c.pattern)
   local lower, most = result.lower_trial, ethernet.lines_fps(c.pattern.receivers, frame_size)
   local row = {
      test = key, frame_size = frame_size, ports = #tester.ports, senders = #c.pattern.senders,
      addresses = plan.rfc2889.addresses, stagger = plan.rfc2889.stagger,
      throughput_fps = result.load, throughput_percent = result.load and result.load / c.line_fps * 100,
      upper_fps = result.upper,
      aggregate_fps = result.load and math.min(most, result.load * #c.pattern.senders * c.pattern.copies),
      theoretical_fps = most, mol_fps = mol.oload_fps,
      frmol_fps = mol.forwarding_fps, mol_tx = mol.tx, mol_loss_ratio = mol.loss_ratio,
      mfr_fps = best.forwarding_fps, mfr_oload_fps = best.oload_fps,
      step_fps = plan.rfc2889.step * c.line_fps, series = points,
      flood = flood, worst_pair = worst_pair(records[#records]), limited_by = result.limited_by,
      resolution_fps = plan.rfc2889.resolution * c.line_fps, trial_s = plan.rfc2889.trial,
      lower_trial = lower and lower.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial, validity = validity, reasons = reasons,
      latency = lower and trial.is_on_schedule(lower) and lower.latency or nil,
   }
   if c.pattern.broadcast then
      row.receivers, row.skew_ns = broadcast.receivers(c, plan.rfc2889.latency_frames, records[#records])
   end
   row.trials = #session.trials - c.before
   row.pause_received, row.paused_ns = flow_control.figures(tables.joined(records, { lower },
      { result.upper_trial }))
   return row
end

--- Measure a pattern at every frame size.
-- @param rows  takes the rows as they are found
function M.run(plan, tester, session, key, rows)
   for _, frame_size in ipairs(plan.rfc2889.frame_sizes) do
      rows[#rows + 1] = measure(plan, tester, session, key, frame_size)
   end
end

-- The load of a port, frames per second, that a reference switch carries: what the busiest egress and the
-- engine have room for.
local function carried(switch, c)
   local turns, loads, most = {}, {}, 0
   for _, direction in ipairs(c.pattern.directions) do
      local from = direction:match "^(.-)%->"
      turns[from] = (turns[from] or 0) + 1
   end
   for _, direction in ipairs(c.pattern.directions) do
      local from, to = direction:match "^(.-)%->(.+)$"
      loads[to] = (loads[to] or 0) + (c.pattern.broadcast and 1 or 1 / turns[from])
      most = math.max(most, loads[to])
   end
   local copies = switch.replication == "egress" and c.pattern.copies or 1
   return math.min(c.line_fps / most, (switch.capacity or math.huge) / #c.pattern.senders / copies)
end

-- The trials that are made of a reference switch, without a frame: the very search, and the steps behind it.
-- @return how many, seconds of load, and frames with all copies
local function rehearse(plan, tester, key, frame_size)
   local c, trials, load_s, frames = context(plan, tester, { trials = {} }, key, frame_size), 0, 0, 0
   local limit = carried(plan.reference_switch, c) * (1 + 1e-9)
   function c.trial(fps, seconds)
      local tx = fps * seconds
      local lost = fps > limit and math.max(1, tx * (1 - limit / fps)) or 0
      trials, load_s = trials + 1, load_s + seconds
      frames = frames + tx * #c.pattern.senders * c.pattern.copies
      return { validity = "valid", reasons = {}, tx = tx, rx = tx - lost, lost = lost, offered_fps = fps,
         loss_ratio = lost / tx, misdirected = 0 }
   end
   find_forwarding(c, find_throughput(c))
   return trials, load_s, frames
end

-- The most trials of an unknown device, and their seconds of load.
local function most_of(o)
   local searched = math.ceil(math.log(o.max / o.resolution) / math.log(2)) + 1
   local stepped = 1 + math.ceil(o.max / o.step)
   return searched + stepped, searched * o.search_trial + stepped * o.trial
end

--- The trials to come for one pattern: exact for a reference switch, at most for any other device.
-- @param tester  the tester, or what is known of it before it is open: ports, and max_fps(self, frame_size)
-- @return list of { test =, frame_size =, trials =, seconds = with all waits, frames = with all copies; nil:
-- not known }
function M.parts(plan, key, tester)
   local o = plan.rfc2889
   local waits = o.learning_wait + o.drain + o.settle
      + (o.addresses > 1 and o.addresses / o.announcement_rate or 0)
   local alone = key == "broadcast" and broadcast.latency_seconds(o.latency_frames, #plan.ports - 1)
   return tables.map(o.frame_sizes, function(frame_size)
      local trials, load_s, frames
      if plan.reference_switch then
         trials, load_s, frames = rehearse(plan, tester, key, frame_size)
      else
         trials, load_s = most_of(o)
      end
      trials = trials + (alone and 1 or 0)
      return { test = "rfc2889." .. key, frame_size = frame_size, trials = trials, frames = frames,
         seconds = load_s + (alone or 0) + trials * waits }
   end)
end

return M
