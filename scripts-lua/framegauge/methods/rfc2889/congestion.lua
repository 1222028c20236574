-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 section 5.5: what a switch does when an egress is overloaded.
--
-- Blocks of four ports. The first one (split) sends to the third (uncongested) and the fourth (congested) in
-- turn, the second one (single) to the fourth, both as much as they can. So the congested port is offered in
-- turn, the second one (single) to the fourth, both at the line rate. So the congested port is offered half
-- as much again as its line carries, and the uncongested one half of its line. If the latter loses frames,
-- they have waited behind frames for the other: head of line blocking. If no frame at all is lost, the switch
-- has kept the senders back, or its buffer held all frames.
--
-- An earlier trial shows whether the switch takes both sources' load where no egress is overloaded: each
-- sends half to the other one, so that every egress has half of its line. Where frames are lost, another
-- trial in which the second port is silent shows whether the first port, or a shared part, is too slow. Then
-- losses say nothing about queues.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local mesh = require "framegauge.methods.rfc2889.mesh"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"

local M = {}

M.KEYS = { "congestion_control" }

local TOLERANCE = 1e-3 -- of a load, by which it may differ from the intended one
local RING = 4096 -- frames that wait at a port that has to pause, at most
local LONGEST_WAIT = 300 -- seconds after a trial, for frames of sources that had to pause
local LONGER, LONGEST = 4, 300 -- times, seconds: a buffer that took everything is filled for longer

--- The blocks of four ports.
-- @return list of { split =, single =, uncongested =, congested = names, directions = list }
function M.blocks(ports)
   local list = {}
   for i = 1, #ports - 3, 4 do
      list[#list + 1] = {
         split = ports[i].name, single = ports[i + 1].name, uncongested = ports[i + 2].name,
         congested = ports[i + 3].name,
      }
   end
   return list
end

-- The flows of a block, { from, to } by their roles: one for each turn of a source.
local CONGESTED = { { "split", "uncongested" }, { "split", "congested" }, { "single", "congested" } }
local UNEVEN = tables.joined(CONGESTED, { { "split", "congested" } })
local APART = { { "split", "uncongested" }, { "split", "single" }, { "single", "congested" },
   { "single", "split" } }
local ALONE = { { "split", "uncongested" }, { "split", "congested" } }

local function directions_of(blocks, flows)
   local list = {}
   for _, b in ipairs(blocks) do
      for _, flow in ipairs(flows) do
         list[#list + 1] = b[flow[1]] .. "->" .. b[flow[2]]
      end
   end
   return list
end

-- Do sources that had to pause still have frames of the trial to send?
local function have_unsent(record)
   return tables.any(record.pauses or {}, function(pause) return pause.unsent_frames > 0 end)
end

-- A source that has to pause sends its remaining frames after the trial. If some are still left, the trial is
-- made again with a longer wait behind it: first as long as the trial, in which one line carries all frames
-- of both sources, then twice as long each time.
-- @param name  of the flows, in the record
local function try(c, phase, name, flows, seconds)
   local drain, more, record = c.drain, seconds
   repeat
      record = c.session:trial {
         test = "rfc2889.congestion_control", phase = phase, frame_size = c.frame_size, direction = name,
         directions = directions_of(c.blocks, flows), fps = c.fps, seconds = seconds, line_fps = c.line_fps,
         any_loss = true, patient = true, drain = drain, span = true,
      }
      drain, more = drain + more, 2 * more
   until not have_unsent(record) or drain > c.drain + LONGEST_WAIT
   return record
end

-- Results of the streams of one block from a port to another.
local function sum(record, from, to)
   local out = { tx = 0, rx = 0, lost = 0 }
   for _, d in ipairs(record.directions) do
      if d.direction == from .. "->" .. to then
         out.tx, out.rx, out.lost = out.tx + d.tx, out.rx + d.rx, out.lost + d.lost
      end
   end
   return out
end

local function pauses_of(record, port)
   return tables.find(record.pauses or {}, "port", port) or { times = 0, waited_ns = 0 }
end

-- The figures of a block.
local function read(c, b, record)
   local u, of_split = sum(record, b.split, b.uncongested), sum(record, b.split, b.congested)
   local of_single = sum(record, b.single, b.congested)
   local tx, rx = of_split.tx + of_single.tx, of_split.rx + of_single.rx
   local split, single = pauses_of(record, b.split), pauses_of(record, b.single)
   local port, at = tables.find(c.ports, "name", b.congested), mesh.arrivals_at(record)[b.congested]
   local seconds = record.duration_s
   -- a source that had to wait goes on for as long
   local split_s, single_s = seconds + split.waited_ns / 1e9, seconds + single.waited_ns / 1e9
   return {
      tx_frames = math.floor(c.fps * seconds + 0.5), trial_s = seconds,
      uncongested_tx = u.tx, congested_tx = tx, uncongested_lost = u.lost,
      uncongested_loss_ratio = u.tx > 0 and u.lost / u.tx or 0,
      uncongested_fps = u.rx / split_s,
      congested_lost = tx - rx, congested_loss_ratio = tx > 0 and (tx - rx) / tx or 0,
      congested_fps = math.min(rx / math.max(split_s, single_s), mesh.line_fps(port, at, c.frame_size)),
      congested_received_ratio = rx / (c.fps * seconds),
      split_oload_fps = (u.tx + of_split.tx) / split_s, single_oload_fps = of_single.tx / single_s,
      pause_received = split.times + single.times, split_paused_ns = split.waited_ns,
      single_paused_ns = single.waited_ns,
   }
end

local function was_kept_back(c, one)
   local least = (1 - TOLERANCE) * c.fps
   return one.pause_received > 0 or one.split_oload_fps < least or one.single_oload_fps < least
end

-- The conclusion of a block; nil: the buffer held all frames, so a longer trial is needed.
local function conclude(c, one)
   one.head_of_line_blocking = one.uncongested_lost > 0
   one.back_pressure = one.congested_lost == 0 and was_kept_back(c, one)
   if one.head_of_line_blocking then
      return "head-of-line-blocking"
   elseif one.congested_lost == 0 then
      return one.back_pressure and "back-pressure" or nil
   elseif one.uncongested_fps < (1 - TOLERANCE) * c.fps / 2 then
      return "throttled"
   end
   return "none"
end

-- The trial, longer as long as a buffer took everything of some block.
local function find(c, plan)
   local seconds = plan.rfc2889.trial
   local record, list
   repeat
      record = try(c, "measure", "all", CONGESTED, seconds)
      local absorbed = false
      list = tables.map(c.blocks, function(b)
         local one = read(c, b, record)
         one.conclusion = conclude(c, one)
         absorbed = absorbed or not one.conclusion
         return one
      end)
      seconds = seconds * LONGER
   until not absorbed or seconds > math.min(LONGEST, plan.rfc2889.congestion_control.longest)
   return record, list
end

local INPUT_LIMITED = "the split source alone lost %s: its port is not served as fast as it sends, so losses say nothing about head of line blocking"

local ENGINE_LIMITED = "both sources lost %s where no egress was overloaded, and the split source alone lost no frame: the switch does not forward as fast as both send, so losses say nothing about head of line blocking"

local function lost_of(record, b, flows)
   local lost = 0
   for _, flow in ipairs(flows) do
      lost = lost + sum(record, b[flow[1]], b[flow[2]]).lost
   end
   return lost
end

-- Trials in which no egress is overloaded. @return list of these; and for each block nil where it loses no
-- frame, or what limits it and a sentence
local function control(c, seconds)
   local apart, limits, alone = try(c, "control", "apart", APART, seconds), {}, nil
   for i, b in ipairs(c.blocks) do
      local lost = lost_of(apart, b, APART)
      if lost > 0 then
         alone = alone or try(c, "control", "split", ALONE, seconds)
         local by_split = lost_of(alone, b, ALONE)
         limits[i] = by_split > 0 and { "input-limited", INPUT_LIMITED:format(format.plural(by_split,
            "frame")) } or { "engine-limited", ENGINE_LIMITED:format(format.plural(lost, "frame")) }
      end
   end
   return { apart, alone }, limits
end

-- @param limit  of the block, as control() gave it
local function row_of(c, b, one, records, limit)
   local validity, reasons = suite.unflooded(records)
   local row = tables.copy(one)
   row.conclusion = row.conclusion or "absorbed"
   if limit then
      row.conclusion, row.head_of_line_blocking, reasons[#reasons + 1] = limit[1], nil, limit[2]
   end
   if row.conclusion == "none" then
      -- its line carries a little more than the load, which is of whole frames a second
      row.buffer_estimate_frames = math.max(0, math.floor((row.congested_received_ratio * c.fps
         - c.carried_fps[b.congested]) * row.trial_s + 0.5))
   end
   row.honoured_pause = row.pause_received > 0 and row.split_paused_ns + row.single_paused_ns > 0 or nil
   row.test, row.frame_size, row.validity, row.reasons = "congestion_control", c.frame_size, validity, reasons
   row.split, row.single, row.uncongested, row.congested = b.split, b.single, b.uncongested, b.congested
   row.uncongested_lost, row.congested_lost = nil, nil
   return row
end

-- All blocks at one frame size.
local function measure(plan, tester, session, frame_size, rows)
   local line_fps = tester:max_fps(frame_size)
   local c = { session = session, frame_size = frame_size, line_fps = line_fps, ports = tester.ports,
      blocks = M.blocks(tester.ports), carried_fps = {}, fps = mesh.max_fps(plan, tester, frame_size) }
   for _, port in ipairs(tester.ports) do
      c.carried_fps[port.name] = port.line_rate / ethernet.l1_bps(1, frame_size)
   end
   -- both sources together still have these at the end, and one line for them
   c.drain = plan.rfc2889.drain + 2 * RING / c.fps
   local before = #session.trials
   local records, limits = control(c, plan.rfc2889.trial)
   local record, list = find(c, plan)
   local uneven = plan.rfc2889.congestion_control.uneven
      and try(c, "uneven", "1:2", UNEVEN, plan.rfc2889.trial)
   records = tables.joined(records, { record }, { uneven or nil })
   for i, b in ipairs(c.blocks) do
      local row = row_of(c, b, list[i], records, limits[i])
      local then_lost = uneven and read(c, b, uneven) or {}
      row.uneven_tx, row.uneven_loss_ratio = then_lost.uncongested_tx, then_lost.uncongested_loss_ratio
      row.trials, row.trial = #session.trials - before, record.trial
      rows[#rows + 1] = row
   end
end

--- Measure at every frame size.
-- @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, frame_size in ipairs(plan.rfc2889.frame_sizes) do
      measure(plan, tester, session, frame_size, rows)
   end
end

--- The trials to come, if no buffer takes everything: as mesh.parts().
function M.parts(plan, key, tester)
   local o, switch = plan.rfc2889, plan.reference_switch
   return tables.map(o.frame_sizes, function(frame_size)
      local fps, blocks = mesh.max_fps(plan, tester, frame_size), #plan.ports / 4
      -- the engine of a reference switch may be too slow for both sources: then one is tried alone
      local alone = switch and switch.capacity and switch.capacity < 2 * blocks * fps and 1 or 0
      local trials = (o.congestion_control.uneven and 3 or 2) + alone
      return { test = "rfc2889." .. key, frame_size = frame_size, trials = trials,
         -- in each block two ports send
         frames = (2 * trials - alone) * o.trial * fps * blocks,
         seconds = trials * (o.trial + o.learning_wait + o.drain + o.settle) }
   end)
end

return M
