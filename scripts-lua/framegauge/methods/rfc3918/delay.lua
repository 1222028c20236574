-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 sections 6.1, 6.2 and 8.2: how long after a port has joined a group its first frame comes, how
-- long after it has left the last one, and how much longer a join takes while other ports send to each other.
--
-- One group, to which frames are sent all the time. A join counts from the last bit of the report to the
-- first bit of the first frame; a leave from the last bit of the leave to the last bit of the last frame.
-- Both are known to the time between two frames, and contain the latency of the device: `net` is without it.
local formats = require "framegauge.methods.rfc3918.plan.formats"
local groups = require "framegauge.traffic.groups"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.rfc3918.trials"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = { "join_delay", "leave_delay", "burdened_join_delay" }

local AHEAD = 0.1 -- seconds of the load before the first report
local PROBES = 10 -- frames to a group that no port joins
local LAST = 10 -- a port that gets one of the last LAST frames has not left

local function member(c, port, join, leave)
   return { port = port, version = c.version, group = c.group, join = join, leave = leave }
end

-- The ports that join, when, in seconds, and when the load begins and ends.
local function times(c, method)
   local o, known = c.o.membership, method == "known"
   local begin = (known or c.leaves) and c.o.join_wait or 0
   local at, list = begin + AHEAD, {}
   for k, port in ipairs(c.receivers) do
      local stays = known and k == 1
      list[k] = { port = port, stays = stays, at = at }
      at = at + (stays and 0 or o.stagger)
      if method == "new" then
         break
      end
   end
   return list, begin, at - o.stagger + (c.leaves and o.observe_leave or o.observe_join)
end

-- One trial. @return its record, the ports that join, when the load ended (ns)
local function make(c, method, fps)
   local o, list, members, streams = c.o, c.receivers, {}, {}
   local joins, begin, finish = times(c, method)
   for _, one in ipairs(joins) do
      if c.leaves then
         members[#members + 1] = member(c, one.port, 0, one.at)
      else
         members[#members + 1] = member(c, one.port, one.stays and 0 or one.at, finish + o.drain)
      end
   end
   c.receivers = tables.map(joins, function(one) return one.port end)
   trials.add(c, streams, "load", { frame = trials.template(c, 1), fps = fps, seconds = finish - begin,
      delay = begin })
   c.receivers = list
   trials.add_burden(c, streams, { seconds = finish - begin, delay = begin })
   local record = c.session:trial {
      test = "rfc3918." .. c.key, phase = (c.is_burdened and "burdened " or "") .. method,
      frame_size = c.frame_size, direction = c.source, fps = fps,
      seconds = finish, streams = streams, members = members, any_loss = true, drain = o.drain + o.forget,
   }
   return record, joins, begin * 1e9, finish * 1e9
end

-- The delay of a port in a trial, ns. @return the delay, and function(store): its net, less a latency that
-- store is taken off; or nil and why not
local function delay_of(c, direction, member_times, t)
   local frame = trials.frame_ns(c, direction.port, c.frame_size)
   local report = trials.report_ns(c, direction.port)
   if not direction.latency then
      return nil, direction.no_latency or c.leaves and "it never got a frame" or "no frame came"
   end
   local latency = direction.latency.min_ns
   if direction.loss_bursts > 1 then -- a frame before the join, or after the leave
      return nil, "lost"
   end
   if not c.leaves then
      local delay = direction.first_arrival_ns - (member_times.joined_ns + report)
      if direction.first_arrival_ns < member_times.joined_ns then
         return nil, "floods"
      end
      return delay, function(store) return delay - (latency - store) end
   elseif direction.last_arrival_ns > t.finish - LAST * 1e9 / t.fps then
      return nil, "no end"
   end
   local delay = direction.last_arrival_ns + frame - (member_times.left_ns + report)
   return delay, function(store) return delay - (latency - store) - frame end
end

-- Does the device flood a group that no port has ever joined?
-- @param joined  whether the first receiver joins it: then the device knows the group
-- @return whether, or "unknown"
local function floods(c, joined)
   local list = groups.list(c.first, formats.most_groups(c.o) + (joined and 2 or 1))
   local apart = setmetatable({ first = list[#list], group = list[#list] }, { __index = c })
   local streams, seconds, delay = {}, PROBES / c.o.probe_rate, joined and c.o.join_wait + AHEAD or 0
   trials.add(apart, streams, "probe", { frame = trials.template(apart, 1), fps = c.o.probe_rate,
      seconds = seconds, delay = delay })
   local record = c.session:trial {
      test = "rfc3918." .. c.key, phase = joined and "joined by one" or "unjoined", frame_size = c.frame_size,
      direction = c.source, fps = c.o.probe_rate, seconds = delay + seconds, streams = streams,
      members = joined and { member(apart, c.receivers[1], 0, delay + seconds + c.o.drain) } or {},
      any_loss = true, drain = c.o.drain,
   }
   local rx = 0
   for k = joined and 2 or 1, #record.directions do
      rx = rx + record.directions[k].rx
   end
   if rx > 0 or record.validity == "valid" then
      return rx > 0
   end
   return "unknown"
end

-- The kind of a problem, once it is known whether the device floods a group: a group that no port has joined,
-- or a group with another port as its member all the time.
local BY_FLOODING = {
   new = {
      ["floods"] = { [true] = "floods", [false] = "still a member", unknown = "early" },
   },
   known = {
      ["floods"] = { [true] = "floods all", [false] = "still a member", unknown = "early, known" },
   },
   all = {
      ["no end"] = { [true] = "flooded again", [false] = "no end", unknown = "no end" },
   },
}

local function explained(c, method, problem)
   local by = BY_FLOODING[method][problem]
   return by and by[floods(c, method == "known")] or problem
end

local IS_NOT_APPLICABLE = { ["floods"] = true, ["floods all"] = true, ["flooded again"] = true }
local WHY = {
   ["early"] = "frames came before the port had joined: the device floods groups that it does not know, or the port is still a member from a trial before",
   ["early, known"] = "frames came before the port had joined: the device floods groups that other ports have joined, or the port is still a member from a trial before",
   ["floods all"] = "frames came before the port had joined: the device floods groups that other ports have joined",
   ["still a member"] = "frames came before the port had joined: it is still a member from a trial before; raise rfc3918.forget",
   ["flooded again"] = "the device floods groups that it does not know, and forgets the group when the last port leaves: its frames do not end",
   ["lost"] = "frames were lost while the port was a member: the load is too much for the device; lower rfc3918.membership.load",
   ["floods"] = "frames came before the port had joined: the device floods groups that it does not know",
   ["no end"] = "frames still came when the load ended; raise rfc3918.membership.observe_leave",
}

local function read(c, record, joins, t, ports, seen)
   local joined = {}
   for _, one in ipairs(record.members.ports) do
      joined[one.port] = one
   end
   local problem
   for i, one in ipairs(joins) do
      local direction = record.directions[i]
      direction.port = one.port
      if direction.latency and (not seen.least or direction.latency.min_ns < seen.least.min_ns) then
         seen.least = direction.latency
      end
      local delay, net = delay_of(c, direction, joined[one.port], t)
      if not one.stays and delay then
         local port = ports[one.port]
         port.delays[#port.delays + 1], port.nets[#port.nets + 1] = delay, net
      elseif not one.stays or direction.lost > 0 then
         problem = problem or (one.stays and "lost") or net
      end
      direction.port = nil
   end
   return problem
end

local function base_of(c, method, fps)
   return {
      test = c.key, method = method, frame_size = c.frame_size, version = c.version,
      source = c.source, receivers = 0,
      egress = {}, offered_fps = fps, resolution_ns = 1e9 / fps,
      repetitions = c.o.membership.repetitions, queries_seen = 0, trials = 0, samples = 0,
   }
end

local function put_delays(out, delays, nets)
   out.delay_min_ns, out.delay_mean_ns, out.delay_max_ns = trials.range(delays)
   out.net_mean_ns = select(2, trials.range(nets))
end

local function put_figures(row, ports, store)
   local all, nets = {}, {}
   for k, port in ipairs(ports) do
      local own = tables.map(port.nets, function(net) return net(store) end)
      row.egress[k] = { port = port.name }
      put_delays(row.egress[k], port.delays, own)
      all, nets = tables.joined(all, port.delays), tables.joined(nets, own)
   end
   row.receivers, row.samples = #ports, #all
   put_delays(row, all, nets)
end

-- @return the row, and the records of its trials
local function measure(c, method, found)
   local o = c.o.membership
   local fps = trials.load_of(c, found, o.load)
   local row, records, problem = base_of(c, method, fps), {}, nil
   if 1 / fps > o.max_resolution then
      row.validity, row.reasons = "not-applicable", { ("frames %s apart would be all that is measured: raise rfc3918.membership.load"):format(units.format_time(1 / fps)) }
      return row, records
   end
   local ports, seen = {}, {}
   c.group = c.first
   for i = 1, o.repetitions do
      local record, joins, begin, finish = make(c, method, fps)
      for _, one in ipairs(i == 1 and joins or {}) do
         if not one.stays then
            ports[#ports + 1] = { name = one.port, delays = {}, nets = {} }
            ports[one.port] = ports[#ports]
         end
      end
      records[i], row.queries_seen = record, row.queries_seen + record.members.queries
      problem = read(c, record, joins, { begin = begin, finish = finish, fps = fps }, ports, seen)
         or problem
      if problem then
         break
      end
   end
   problem = explained(c, method, problem)
   row.validity, row.reasons = verdict.merge(records)
   row.trials = #c.session.trials - c.before
   trials.define(c, row, seen.least, function(store) put_figures(row, ports, store) end)
   if problem and not (problem == "lost" and row.validity == "tester-limited") then
      row.validity = IS_NOT_APPLICABLE[problem] and "not-applicable" or "invalid"
      table.insert(row.reasons, 1, WHY[problem] or problem)
   end
   return row, records
end

local function put_both(row, baseline, burdened)
   for _, key in ipairs { "delay_mean_ns", "delay_max_ns", "net_mean_ns" } do
      row["baseline_" .. key], row["burdened_" .. key] = baseline[key], burdened[key]
   end
   row.added_mean_ns = burdened.delay_mean_ns and baseline.delay_mean_ns
      and burdened.delay_mean_ns - baseline.delay_mean_ns
   row.egress = tables.map(burdened.egress, function(after, k)
      local before = baseline.egress[k]
      return {
         port = after.port, baseline_delay_mean_ns = before and before.delay_mean_ns,
         burdened_delay_mean_ns = after.delay_mean_ns, added_ns = before and before.delay_mean_ns
            and after.delay_mean_ns and after.delay_mean_ns - before.delay_mean_ns,
      }
   end)
end

-- Without the burden and with it.
local function compare(c, method, found)
   local row, baseline, burdened = trials.beside_burden(c, function() return measure(c, method, found) end)
   row.method, row.resolution_ns = method, burdened.resolution_ns
   trials.define(c, row, nil, function() put_both(row, baseline, burdened) end)
   return row
end

local function methods_of(plan, key)
   return key == "leave_delay" and { "all" } or tables.map(plan.rfc3918.membership.methods, function(method)
      return (method == "new" or #trials.roles(plan).receivers > 1) and method or nil
   end)
end

--- Measure at every frame size.
function M.run(plan, tester, session, key, rows, found)
   for _, frame_size in ipairs(plan.rfc3918.frame_sizes) do
      for _, method in ipairs(methods_of(plan, key)) do
         local c = trials.context(plan, tester, session, key, frame_size)
         c.leaves = key == "leave_delay"
         rows[#rows + 1] = (key == "burdened_join_delay" and compare or measure)(c, method, found)
      end
   end
end

--- The trials to come, at most.
function M.parts(plan, key)
   local o = plan.rfc3918
   local m = o.membership
   local count = m.repetitions * #methods_of(plan, key) * (key == "burdened_join_delay" and 2 or 1)
   local load = AHEAD + m.stagger * #plan.ports + (key == "leave_delay" and m.observe_leave or m.observe_join)
   local each = o.join_wait + load + o.drain + o.forget + o.learning_wait + o.settle
   return tables.map(o.frame_sizes, function(frame_size)
      return { test = "rfc3918." .. key, frame_size = frame_size, trials = count, seconds = count * each }
   end)
end

return M
