-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of a convergence test: a stream for each route or flow, and an event while they are sent.
--
-- Each route has its own sequence tracker, because global counts cannot show which route lost frames when.
-- The sum of all routes is sampled over time.
local address = require "framegauge.plan.address"
local format = require "framegauge.text.format"
local hook = require "framegauge.methods.common.hook"
local host = require "framegauge.tester.host"
local loads = require "framegauge.traffic.loads"
local octets = require "framegauge.core.octets"
local series = require "framegauge.tester.series"
local shell = require "framegauge.core.shell"
local stack = require "framegauge.traffic.stack"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local uv = require "luv"

local M = {}

M.NAME = "convergence.event" -- in trials

local REASONS = 4 -- reasons why a trial is not valid, at most

local FIRST_SOURCE = 49152 -- UDP source port of the first flow (dynamic ports, RFC 6335)

--- Names of the ports by their roles.
function M.ends(plan)
   local o = plan.convergence
   return {
      from = o.from or plan.ports[1].name, preferred = o.preferred or plan.ports[2].name,
      next_best = o.next_best,
   }
end

--- Frames per second of all routes; nil for a share of a line whose rate is not known.
-- @param line_fps  what the line of the port that sends carries
function M.fps(plan, line_fps)
   return loads.of_rate(plan.convergence.rate, plan.convergence.size, line_fps)
end

--- How long the load lasts, seconds.
function M.seconds(plan)
   local o = plan.convergence
   return o.at + o.watch + o.validation
end

--- The fail-over of the reference switch; nil: it has none, or there is no reference switch.
function M.failover(plan)
   return plan.reference_switch and plan.reference_switch.failover
end

--- The cause of the event: "outage" (the reference device is out of service), "failover" (the reference
-- switch loses a link), "command", "link" or "person".
function M.by(plan)
   local o = plan.convergence
   return o.command and "command" or o.link and "link" or M.failover(plan) and "failover"
      or (plan.reference_device or plan.reference_switch) and "outage" or "person"
end

--- Which events a repetition has.
function M.events(plan)
   local o = plan.convergence
   return (o.link or o.revert_command or M.failover(plan)) and { "failure", "reversion" } or { "failure" }
end

--- The program that causes an event, or nil.
function M.command(plan, event)
   local o = plan.convergence
   if o.link then
      local port = plan.ports[tables.index_of(plan.ports, o.link)]
      local interface = port.device:match "^kernel:([^,]+)"
      return { "ip", "link", "set", "dev", interface, event == "failure" and "down" or "up" }
   end
   return event == "failure" and o.command or event == "reversion" and o.revert_command or nil
end

-- The frames of a route, and its name.
local function frame_of(plan, i)
   local o = plan.convergence.routes
   local from = plan.ports[tables.index_of(plan.ports, M.ends(plan).from)]
   local udp = { protocol = "udp", fields = { { name = "source", value = FIRST_SOURCE + i - 1 } } }
   local ethernet = { protocol = "ethernet", fields = {} }
   if not o.first then
      local ip = { protocol = from.ipv4 and "ipv4" or "ipv6", fields = {} }
      return { ethernet, ip, udp }, "flow from port " .. FIRST_SOURCE + i - 1
   end
   local version = o.first:find(":", 1, true) and 6 or 4
   local bytes = address.after(octets["ipv" .. version](o.first), i - 1, o.prefix)
   local ip = { protocol = "ipv" .. version, fields = { { name = "destination", value = bytes } } }
   local text = version == 6 and octets.ipv6_text(bytes) or ("%d.%d.%d.%d"):format(bytes:byte(1, 4))
   return { ethernet, ip, udp }, ("%s/%d"):format(text, o.prefix)
end

--- What the routes are called.
function M.names(plan)
   local names = {}
   for i = 1, plan.convergence.routes.count do
      names[i] = select(2, frame_of(plan, i))
   end
   return names
end

-- One after the other, evenly spaced, one of each before the first again. Frames are made for the preferred
-- egress, whichever port they are expected at.
local function streams_of(plan, tester, fps, seconds, egress)
   local o, ends, macs = plan.convergence, M.ends(plan), stack.known(tester)
   local list, n = {}, o.routes.count
   local load = { fps = fps / n, mean_fps = fps / n, seconds = seconds }
   for i = 1, n do
      local frame, name = frame_of(plan, i)
      local stream = { name = name, from = ends.from, to = ends.preferred, frame = frame }
      list[i] = {
         name = name, from = ends.from, to = egress, frame_size = o.size,
         frame = stack.template(plan.ports, stream, macs, o.size),
         loads = { load }, phase = (i - 1) / n, measure = {}, t_max = o.t_max, over_time = o.sampling,
      }
   end
   return list
end

-- Frames of all routes by interval: sent in it, and how many of those were received.
local function sampled(tester, n, seconds, sampling)
   local out = { interval_s = sampling, tx = {}, rx = {} }
   for stream = 0, n - 1 do
      local list, count = series.intervals(tester.engine, stream, seconds, sampling)
      for i = 1, count do
         local one = list[i - 1]
         out.tx[i], out.rx[i] = (out.tx[i] or 0) + tonumber(one.tx), (out.rx[i] or 0) + tonumber(one.rx)
      end
   end
   return out
end

--- Does the reference device cause the event (or is there none), so that the trial can be made again?
function M.is_inside(event, by)
   return event == "steady" or by == "outage" or by == "failover"
end

-- When the reference device is out of service, or the link of the reference switch is down. After a failure
-- the link stays down to the end of the trial; with a reversion it is down at first.
local function outage_of(o, event, by)
   if by == "failover" and event == "reversion" then
      return { at = 0, seconds = o.at }
   elseif by == "failover" and event == "failure" then
      return { at = o.at, seconds = o.watch + o.validation + o.drain }
   end
   return event == "failure" and by == "outage" and { at = o.at, seconds = o.outage } or nil
end

-- Record how the host, or the device by its command, comes back from an event.
local function note_undo(plan, changes, event)
   local o = plan.convergence
   local undone_by = M.command(plan, "reversion")
   if event == "failure" and o.link then
      host.note(changes, plan.ports[tables.index_of(plan.ports, o.link)], { "up" })
   elseif event == "failure" and undone_by then
      changes:step("command", {
         argv = undone_by, folder = uv.cwd(), undoes = shell.command(o.command),
      })
   end
end

-- The tester's counts of a trial and, in `event`, what caused the event and when.
local function measure(plan, session, event, ask)
   local by, o, tester = M.by(plan), plan.convergence, session.tester
   local function make()
      return session:measure(ask)
   end
   if M.is_inside(event, by) then
      local raw = make()
      raw.event = event ~= "steady" and { by = by, began_s = o.at, ended_s = o.at } or nil
      return raw
   end
   note_undo(plan, session.changes, event)
   local raw, report = hook.around({
      after = o.at, command = M.command(plan, event), say = session.say, what = "cause the event",
      ask = event == "failure" and "Cause the failure now." or "Undo the failure now.",
      clock = function()
         local now = tester:snapshot()
         return now and now.elapsed or 0
      end,
   }, make)
   if event == "reversion" and not report.problem then
      session.changes:forget()
   end
   raw.event = { by = by, began_s = report.began, status = report.status, problem = report.problem,
      ended_s = not report.problem and report.ended or nil }
   return raw
end

-- A fault of the tester affects all routes alike: a few of the sentences will do.
local function first_reasons(reasons)
   local list = { unpack(reasons, 1, REASONS) }
   list[#list + 1] = #reasons > REASONS and ("and %s of other routes"):format(
      format.plural(#reasons - REASONS, "reason")) or nil
   return list
end

--- Make one trial.
-- @param event   "steady" (nothing happens), "failure" or "reversion"
-- @param egress  name of the port where the frames are awaited
-- @param fps     of all routes
-- @return its record, with `event` (nil: none) and `sampled`
function M.make(plan, session, event, egress, fps)
   local o, ends, by = plan.convergence, M.ends(plan), M.by(plan)
   local seconds = event == "steady" and o.at or M.seconds(plan)
   local ask = {
      test = M.NAME, phase = event, frame_size = o.size, direction = ends.from .. "->" .. egress, fps = fps,
      seconds = seconds, link_may_change = true,
      outage = outage_of(o, event, by),
   }
   function ask.make()
      ask.streams = streams_of(plan, session.tester, fps, seconds, egress)
      local raw = measure(plan, session, event, ask)
      local samples = sampled(session.tester, o.routes.count, seconds, o.sampling)
      for _, direction in ipairs(raw.directions) do -- the samples have all of it
         direction.series, direction.availability = nil, nil
      end
      local record = trial.record(raw, ask)
      record.event, record.sampled, record.reasons = raw.event, samples, first_reasons(record.reasons)
      return record
   end
   if M.is_inside(event, by) then
      return session:trial(ask)
   end
   return session:once(ask) -- the device has changed its state: a trial that failed cannot be made again
end

return M
