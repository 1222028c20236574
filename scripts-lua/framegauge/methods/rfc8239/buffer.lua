-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 3: how much a switch buffers before an egress, found by congesting it slightly.
--
-- A port sends line rate to an egress, and another one a little more: the greatest latency grows until the
-- first frame is lost, and then stays. From one trial follow three figures (frames, Q the buffer, a and o the
-- two loads, t the departure of the first lost frame, D the rate at which the egress sends):
--
--    by count    o t, as the RFC has it: high by as much as the two loads miss to be D + o
--    by balance  (a + o - D) t: arrivals less departures
--    by latency  (greatest - least latency) D: takes no load into account, and is the figure
--
-- Where they differ the device is no single queue: it shapes, has several queues, or buffers at ingresses.
local common = require "framegauge.methods.rfc8239.common"
local series = require "framegauge.tester.series"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"

local M = {}

M.NAME = "rfc8239.buffer"

local NS = 1e9
local CELLS, MOST_INTERVALS = 1000000, 50000 -- intervals of all streams, and of one
local GROWTH = 4
local SHARE, FRAMES = 0.03, 2 -- by how much the figures may differ
local CLOCKS = 200e-6 -- by how much two clocks of IEEE 802.3 may differ

-- The points of a direction's intervals from which an egress's figures are made.
local function points(engine, stream, seconds, interval)
   local list, n = series.intervals(engine, stream, seconds, interval)
   local out = { rx = 0, before_ns = 0, last_ns = 0 }
   for i = 0, n - 1 do
      local one, at = list[i], (i + 0.5) / n
      local tx, rx = tonumber(one.tx), tonumber(one.rx)
      if rx < tx and not out.first_lost_s then
         out.first_lost_s = (i + 0.5) * interval
      end
      if rx > 0 and at >= 0.75 then
         out.rx, out.last_ns = out.rx + rx, math.max(out.last_ns, tonumber(one.delay_max_ns))
      elseif rx > 0 and at >= 0.5 then
         out.before_ns = math.max(out.before_ns, tonumber(one.delay_max_ns))
      end
   end
   out.quarter_s = (n - math.ceil(0.75 * n - 0.5)) * interval
   return out
end

-- One trial. @param flows  list of { from =, to =, share = of the line, extra = whether it is the surplus }
local function make(c, flows, seconds)
   local interval = seconds / math.min(MOST_INTERVALS, math.floor(CELLS / #flows))
   local ask = {
      test = M.NAME, phase = c.procedure, frame_size = c.frame_size, direction = c.direction, fps = c.whole,
      seconds = seconds, line_fps = c.whole, setting = c.dscp > 0 and "dscp " .. c.dscp or nil,
   }
   function ask.make()
      ask.streams = tables.map(flows, function(flow, i)
         return common.stream(c.plan, c.tester, flow.from, flow.to, c.frame_size, {
            fps = flow.share * c.whole, seconds = seconds, phase = (i - 1) / #flows, dscp = c.dscp,
            over_time = interval,
         })
      end)
      local raw = c.session:measure(ask)
      local buffers = {}
      for i, direction in ipairs(raw.directions) do
         buffers[i] = points(c.tester.engine, i - 1, seconds, interval)
         buffers[i].interval_s = interval
         direction.series, direction.availability = nil, nil
      end
      local record = trial.record(raw, ask)
      record.buffers = buffers
      return record
   end
   return c.session:trial(ask)
end

--- The figures of an egress.
-- @param line_fps  frames per second of its line
-- @param flows    list of { fps =, extra_fps = of that what is surplus, lost =, latency = or nil, points =
-- as above } to it
-- @return { by_count_frames, by_balance_frames, by_latency_frames, latency_min_ns, latency_max_ns,
-- inflection_s, is_full = whether the greatest latency had been reached }; without a loss only the latencies
function M.figures(flows, line_fps)
   local out, offered, extra, rx, before, last = { lost = 0 }, 0, 0, 0, 0, 0
   for _, flow in ipairs(flows) do
      local p = flow.points
      offered, extra, rx = offered + flow.fps, extra + flow.extra_fps, rx + p.rx
      before, last = math.max(before, p.before_ns), math.max(last, p.last_ns)
      out.lost = out.lost + flow.lost
      out.interval_s, out.quarter_s = p.interval_s, p.quarter_s
      out.inflection_s = p.first_lost_s and math.min(out.inflection_s or math.huge, p.first_lost_s)
         or out.inflection_s
      if flow.latency then
         out.latency_min_ns = math.min(out.latency_min_ns or math.huge, flow.latency.min_ns)
         out.latency_max_ns = math.max(out.latency_max_ns or 0, flow.latency.max_ns)
      end
   end
   local out_fps = rx / math.max(out.quarter_s, 1e-9)
   out.is_full = out.lost > 0 and out.inflection_s ~= nil and out_fps > 0
      and math.abs(last - before) < NS / out_fps
   if out.is_full then
      out.by_count_frames = extra * out.inflection_s
      out.by_balance_frames = math.max(0, (offered - out_fps) * out.inflection_s)
      out.by_latency_frames = (last - out.latency_min_ns) / NS * out_fps
      -- the excess of the count, as far as the clock of a line may explain it
      local explained = math.min(math.max(out_fps, line_fps * (1 - CLOCKS)), line_fps * (1 + CLOCKS))
      out.corrected_count_frames = math.max(0, offered - explained) * out.inflection_s
      out.sampling_frames = math.max(0, offered - math.min(out_fps, explained)) * out.interval_s
   end
   return out
end

--- Do the three figures agree? Those by count and by balance are known to an interval of sampling. The count
-- is compared without its excess at this oversubscription on a line whose clock is as fast as this
-- one's: o / (a + o - D).
function M.agree(f)
   local q = f.by_latency_frames
   local most = SHARE * q + FRAMES + f.sampling_frames
   return math.abs(f.by_balance_frames - q) <= most and math.abs(f.corrected_count_frames - q) <= most
end

local function of_egress(c, record, flows, egress)
   local list = {}
   for i, flow in ipairs(flows) do
      local d = record.directions[i]
      if flow.to == egress then
         list[#list + 1] = { fps = flow.share * c.whole, extra_fps = flow.surplus * c.whole, lost = d.lost,
            latency = d.latency, points = record.buffers[i] }
      end
   end
   return M.figures(list, c.whole)
end

-- Trials, longer and longer, until the buffer of every egress is full.
local function fill(c, flows, egresses)
   local o, seconds = c.plan.rfc8239, c.plan.rfc8239.trial
   while true do
      local record, full, figures = make(c, flows, seconds), true, {}
      for i, egress in ipairs(egresses) do
         figures[i] = of_egress(c, record, flows, egress)
         full = full and figures[i].is_full
      end
      if full or record.validity ~= "valid" or seconds >= o.buffer.trial_max then
         return figures, record
      end
      seconds = math.min(seconds * GROWTH, o.buffer.trial_max)
   end
end

local FIGURES = { "by_count_frames", "by_balance_frames", "by_latency_frames", "latency_min_ns",
   "latency_max_ns",
   "inflection_s" }

local function row_of(c, egress, list, records)
   local o, row = c.plan.rfc8239, common.row(records, {
      test = "buffer", procedure = c.procedure, ingress = c.ingress, egress = egress.name,
      frame_size = c.frame_size, dscp = c.dscp, oversubscription_percent = c.surplus * 100,
      trial_s = records[#records].duration_s, finding = "plain",
   })
   for _, key in ipairs(FIGURES) do
      local values = tables.field(list, key)
      row[key] = #values == #list and stats.mean(values) or nil
   end
   local worst = list[1]
   for _, one in ipairs(list) do
      worst = not one.is_full and one or worst.is_full and not M.agree(one) and one or worst
   end
   if not worst.is_full then
      row.finding = "not_reached"
      local least = (o.line + c.surplus - 1) * c.whole * row.trial_s
      row.at_least_octets = math.max(0, math.floor(least)) * c.frame_size
      row.reasons[#row.reasons + 1] = ("no frame was lost, or the latency still grew, within %g s: the buffer holds more than the surplus of that time"):format(row.trial_s)
   else
      row.buffer_frames, row.buffer_octets = row.by_latency_frames, row.by_latency_frames * c.frame_size
      common.repeated(c.plan, row, tables.field(list, "by_latency_frames"))
   end
   row.iterations = #list
   if worst.is_full and not M.agree(worst) then
      row.finding = "disagreement"
      common.judge(row, false, ("disagreement: %.0f frames by count, %.0f by balance, %.0f by latency: the device is no plain queue"):format(worst.by_count_frames, worst.by_balance_frames,
         worst.by_latency_frames))
   elseif row.finding == "plain" and row.repeatable == false then
      row.finding = "unrepeatable"
   elseif o.buffer.min then
      common.judge(row, (row.buffer_octets or row.at_least_octets) >= o.buffer.min,
         ("less than %d bytes"):format(o.buffer.min))
   end
   return row
end

-- All iterations of one arrangement of ports. @param rows  takes a row for each egress
local function measure(c, flows, egresses, rows)
   local lists, records = {}, {}
   for i = 1, c.plan.rfc8239.iterations do
      local figures
      figures, records[i] = fill(c, flows, egresses)
      for k = 1, #egresses do
         lists[k] = lists[k] or {}
         lists[k][i] = figures[k]
      end
   end
   for k, egress in ipairs(egresses) do
      rows[#rows + 1] = row_of(c, egress, lists[k], records)
   end
end

local function context(run, procedure, frame_size, dscp, ingress, direction)
   local o = run.plan.rfc8239
   return {
      plan = run.plan, tester = run.tester, session = run.session, procedure = procedure,
         frame_size = frame_size,
      dscp = dscp, whole = run.tester:max_fps(frame_size), surplus = o.buffer.oversubscription,
         ingress = ingress,
      direction = direction,
   }
end

-- Line rate from one port, and the surplus from another.
local function flows_of(c, from, to, extra)
   return {
      { from = from, to = to, share = c.plan.rfc8239.line, surplus = 0 },
      { from = extra, to = to, share = c.surplus, surplus = c.surplus },
   }
end

local PROCEDURES = {}

function PROCEDURES.port(run, frame_size, dscp, rows)
   local ports = run.tester.ports
   for i = 1, #ports - 2 do
      local from, to, extra = ports[i], ports[i + 1], ports[i + 2]
      local c = context(run, "port", frame_size, dscp, from.name .. " " .. extra.name,
         from.name .. "->" .. to.name)
      measure(c, flows_of(c, from, to, extra), { to }, rows)
   end
end

function PROCEDURES.pairs(run, frame_size, dscp, rows)
   local ports, n = run.tester.ports, #run.tester.ports
   local pairs_of_ports = math.floor((n - 2) / 2)
   for i = 1, pairs_of_ports - 1 do
      local one, other = ports[2 * i], ports[2 * i + 2]
      local c = context(run, "pairs", frame_size, dscp, common.names(ports), one.name .. "+" .. other.name)
      local flows = {}
      for k = 1, pairs_of_ports do
         flows[k] = { from = ports[2 * k - 1], to = ports[2 * k], share = run.plan.rfc8239.line, surplus = 0 }
      end
      flows[#flows + 1] = { from = ports[n - 1], to = one, share = c.surplus, surplus = c.surplus }
      flows[#flows + 1] = { from = ports[n], to = other, share = c.surplus, surplus = c.surplus }
      measure(c, flows, { one, other }, rows)
   end
end

function PROCEDURES.many_to_one(run, frame_size, dscp, rows)
   local ports, n = run.tester.ports, #run.tester.ports
   for i, to in ipairs(ports) do
      local c = context(run, "many_to_one", frame_size, dscp, "all others", "all->" .. to.name)
      local flows = {}
      for k, from in ipairs(ports) do
         flows[#flows + 1] = k ~= i and { from = from, to = to,
            share = (run.plan.rfc8239.line + c.surplus) / (n - 1),
            surplus = c.surplus / (n - 1) } or nil
      end
      measure(c, flows, { to }, rows)
   end
end

-- @return the frame size with most held
local function find_efficient(run, dscp, rows)
   local ports, best = run.tester.ports, nil
   for _, frame_size in ipairs(run.plan.rfc8239.frame_sizes) do
      local c = context(run, "efficiency", frame_size, dscp, ports[1].name .. " " .. ports[3].name,
         ports[1].name .. "->" .. ports[2].name)
      measure(c, flows_of(c, ports[1], ports[2], ports[3]), { ports[2] }, rows)
      local row = rows[#rows]
      best = row.buffer_octets and (not best or row.buffer_octets > best.buffer_octets) and row or best
   end
   if best then
      best.is_efficient = true
   end
   return best and best.frame_size
end

--- Frame size of all procedures but efficiency, unless that finds another one.
-- @param o  the method's keys
function M.frame_size(o)
   return o.buffer.frame_size or math.max(unpack(o.frame_sizes))
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   local run, o = { plan = plan, tester = tester, session = session }, plan.rfc8239
   for _, dscp in ipairs(o.dscp) do
      local efficient
      if tables.contains(o.buffer.procedures, "efficiency") then
         efficient = find_efficient(run, dscp, rows)
      end
      local frame_size = o.buffer.frame_size or efficient or M.frame_size(o)
      for _, procedure in ipairs(o.buffer.procedures) do
         if PROCEDURES[procedure] then
            PROCEDURES[procedure](run, frame_size, dscp, rows)
         end
      end
   end
end

--- The trials to come, if the first trial fills the buffer: as common.parts().
function M.parts(plan)
   local o, n, list = plan.rfc8239, #plan.ports, {}
   local arrangements = { efficiency = 1, port = n - 2, pairs = math.floor((n - 2) / 2) - 1, many_to_one = n }
   local finds_size = tables.contains(o.buffer.procedures, "efficiency") and not o.buffer.frame_size
   for _, procedure in ipairs(o.buffer.procedures) do
      local sizes = procedure ~= "efficiency" and { not finds_size and M.frame_size(o) } or nil
      list = tables.joined(list, common.parts(plan, M.NAME, arrangements[procedure] * o.iterations * #o.dscp,
         o.trial, sizes))
   end
   return list
end

return M
