-- SPDX-License-Identifier: BSD-3-Clause

--- A trial of RFC 3918: who joins what when, and which frames are sent meanwhile.
--
-- Each trial does all of it: one frame to each group before anybody has joined (`probe`: does it reach
-- anyone?), reports, a wait, one frame to each group again (`verify`), the load, and leaves. The load is one
-- stream to which the groups come in turn; each receiver measures its copies by a stream of its own, by
-- number. So each port's losses, duplicates and delays are its own, and those of one frame can be compared.
local format = require "framegauge.text.format"
local frame = require "framegauge.traffic.frame"
local groups = require "framegauge.traffic.groups"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"

local M = {}

local PAUSE = 0.01 -- seconds between two things that are not to touch

--- The ports by their roles.
-- @return { source = name, receivers = list of names, monitor = name or nil }
function M.roles(plan)
   local o, roles = plan.rfc3918, {}
   roles.source, roles.monitor = o.source or plan.ports[1].name, o.monitor
   if not o.source and (o.monitor == roles.source or tables.contains(o.receivers or {}, roles.source)) then
      for _, port in ipairs(plan.ports) do
         if port.name ~= o.monitor and not tables.contains(o.receivers or {}, port.name) then
            roles.source = port.name
            break
         end
      end
   end
   roles.receivers = o.receivers or tables.map(plan.ports, function(port)
      return port.name ~= roles.source and port.name ~= roles.monitor and port.name or nil
   end)
   return roles
end

function M.version(plan)
   return plan.rfc3918.version or (plan.ports[1].ipv4 and "igmpv2" or "mldv1")
end

--- All that is the same for the trials of one row.
function M.context(plan, bench, session, key, frame_size)
   local c = M.roles(plan)
   c.plan, c.bench, c.session, c.key, c.frame_size = plan, bench, session, key, frame_size
   c.o, c.version = plan.rfc3918, M.version(plan)
   c.ip = c.version:find "^mld" and 6 or 4
   c.line_fps, c.before = bench:max_fps(frame_size), #session.trials
   c.first = groups.first(c.o.first_group, c.ip)
   return c
end

--- A load of the source: a share of the throughput that `aggregated` found before, or else of the line.
-- @param found  results of the tests before
-- @return frames per second, and "throughput" or "line"
function M.load_of(c, found, share)
   for _, row in ipairs(found.aggregated or {}) do
      if row.frame_size == c.frame_size and row.throughput_fps then
         return row.throughput_fps * share, "throughput"
      end
   end
   return c.line_fps * share, "line"
end

-- Seconds that an octet takes on the line of a port.
local function octet_time(c, name)
   local port = c.bench.ports[tables.index_of(c.bench.ports, name)]
   return 8 / port.line_rate
end

--- Nanoseconds from the first bit of a frame to its last.
function M.frame_ns(c, name, size)
   return octet_time(c, name) * size * 1e9
end

local REPORT_SIZES = { igmpv2 = 64, igmpv3 = 64, mldv1 = 90, mldv2 = 94 }

--- The same of a report about one group; a leave has as many octets.
function M.report_ns(c, name)
   return M.frame_ns(c, name, REPORT_SIZES[c.version])
end

--- A frame to one of n groups, another one each time; or, with `to`, to the port of that name.
function M.template(c, n, to)
   local at = tables.index_of(c.bench.ports, c.source)
   local source = c.plan.ports[at]
   local made = {
      version = c.ip, vlan = source.vlan, src = octets["ipv" .. c.ip](source["ipv" .. c.ip]),
      src_mac = octets.mac(c.bench.ports[at].mac),
   }
   if to then
      local i = tables.index_of(c.bench.ports, to)
      made.dst = octets["ipv" .. c.ip](c.plan.ports[i]["ipv" .. c.ip])
      made.dst_mac = octets.mac(c.bench.ports[i].mac)
   else
      local list, macs = groups.list(c.first, n)
      made.dst, made.dst_mac = list[1], macs[1]
      made.vary = n > 1 and { dst = { list = list, count = n }, dst_mac = { list = macs, count = n } } or nil
   end
   return frame.rfc2544(c.frame_size, made)
end

--- Add a stream to groups that all receivers measure.
-- @param list    of streams, as a trial takes them
-- @param kind    what it is for; streams are called "load a->b"
-- @param o       { frame =, fps =, seconds =, delay =, tags = or nil, phase = or nil }
function M.add(c, list, kind, o)
   local first = #list + 1
   for i, receiver in ipairs(c.receivers) do
      list[#list + 1] = {
         name = ("%s %s->%s"):format(kind, c.source, receiver), from = c.source, to = receiver,
            frame = o.frame,
         loads = { { fps = o.fps, seconds = o.seconds } }, delay = o.delay, tags = o.tags, measure = {},
         copies_of = i > 1 and first or nil,
      }
   end
end

--- The memberships of all receivers in n groups.
-- @param join, leave  seconds; nil: they do not leave
-- @return list, and how many seconds all reports take
function M.members(c, n, join, leave)
   local list, all, apart = {}, groups.list(c.first, n), 1 / c.o.report_rate
   local once = n * #c.receivers * apart
   for i = 1, n do
      for k, receiver in ipairs(c.receivers) do
         local at = ((i - 1) * #c.receivers + k - 1) * apart
         list[#list + 1] = {
            port = receiver, version = c.version, group = all[i], join = join + at, leave = leave + at,
            reports = c.o.reports, again = once,
         }
      end
   end
   return list, once * c.o.reports
end

local function kind_of(direction)
   return direction.direction:match "^(%S+) "
end

--- What all receivers measured of a kind of stream.
-- @return list of directions of the record, and frames at the monitor
function M.at_receivers(c, record, kind)
   local list, flood = {}, 0
   for _, direction in ipairs(record.directions) do
      if kind_of(direction) == kind then
         list[#list + 1] = direction
         local by_port = direction.measured and direction.measured.misdirected or {}
         flood = flood + (by_port[c.monitor or ""] or 0)
      end
   end
   return list, flood
end

local function receiver_of(direction)
   return direction.direction:match "%->(.+)$"
end

--- What speaks against a trial with n groups: sentences; and whether the device floods groups that nobody has
-- joined.
function M.problems(c, record, n)
   local reasons, reached, missed = {}, 0, 0
   for _, direction in ipairs(M.at_receivers(c, record, "probe")) do
      reached = reached + (direction.rx > 0 and 1 or 0)
      missed = missed + direction.lost
   end
   local floods = reached == #c.receivers and missed == 0
   if reached > 0 and not floods then
      reasons[1] = "frames of groups that nobody had joined reached some of the ports: a port is still a "
         .. "member; "
         .. "raise rfc3918.forget"
   end
   local verified, flood = M.at_receivers(c, record, "verify")
   for _, direction in ipairs(verified) do
      if direction.lost > 0 then
         reasons[#reasons + 1] = ("%s did not get the frames of %d of %s that it had joined"):format(
            receiver_of(direction), direction.lost, format.plural(n, "group"))
      end
   end
   if flood > 0 then
      reasons[#reasons + 1] = ("%s at %s, which had joined nothing"):format(format.plural(flood, "frame"),
         c.monitor)
   end
   return reasons, floods
end

--- A trial as one whose frames are their copies.
-- @param n  groups that were joined
-- @return the record with other counts: tx, rx, lost and loss_ratio are of copies and the load only, `egress`
-- is what each receiver got, `multicast` and `unicast` what each class lost; and with what speaks against it
function M.of_copies(c, record, n)
   local load, unicast = M.at_receivers(c, record, "load"), M.at_receivers(c, record, "unicast")
   local out = { tx = 0, lost = 0, lost_multicast = 0, lost_unicast = 0, tx_unicast = 0, duplicates = 0 }
   out.egress = tables.map(load, function(direction)
      out.tx, out.lost_multicast = out.tx + direction.tx, out.lost_multicast + direction.lost
      out.duplicates = out.duplicates + direction.duplicates
      return {
         port = receiver_of(direction), rx = direction.rx, lost = direction.lost,
         duplicates = direction.duplicates, loss_ratio = direction.loss_ratio, latency = direction.latency,
      }
   end)
   for _, direction in ipairs(unicast) do
      out.tx_unicast, out.lost_unicast = out.tx_unicast + direction.tx, out.lost_unicast + direction.lost
   end
   out.tx_multicast = load[1].tx
   out.tx = out.tx + out.tx_unicast
   out.lost = out.lost_multicast + out.lost_unicast
   out.rx = out.tx - out.lost
   out.loss_ratio = out.tx > 0 and out.lost / out.tx or 0
   out.offered_fps = load[1].offered_fps + (unicast[1] and #unicast * unicast[1].offered_fps or 0)
   out.latency = load[1].latency
   local reasons, floods = M.problems(c, record, n)
   out.floods = floods
   out.validity = reasons[1] and "invalid" or record.validity
   out.reasons = tables.joined(reasons, record.reasons)
   return setmetatable(out, { __index = record })
end

-- What came of a trial, in a few words.
local function outcome_of(c, n)
   return function(record)
      local one = M.of_copies(c, record, n)
      return ("lost %s of %s copies"):format(format.count(one.lost), format.count(one.tx))
   end
end

--- Make a trial with a load.
-- @param o.n         groups
-- @param o.fps       of the source
-- @param o.seconds   of the load
-- @param o.phase     of the search
-- @param o.unicast   share of the frames that are unicast, or nil
-- @param o.tag       whether the delay of the frame in the middle is kept
-- @param o.any_loss  whether only it matters whether frames are lost
-- @param o.rounds    in place of seconds: frames to each group, each round a stream of its own ("load", then
-- "round2", ...)
-- @return its record
function M.make(c, o)
   local n, list, probe = o.n, {}, c.o.probe_rate
   local joins = n / probe + PAUSE
   local members, reporting = M.members(c, n, joins, 0)
   local verify = joins + reporting + c.o.join_wait
   local begin = verify + n / probe + PAUSE
   local to_groups = M.template(c, n)
   M.add(c, list, "probe", { frame = to_groups, fps = probe, seconds = n / probe, delay = 0 })
   M.add(c, list, "verify", { frame = to_groups, fps = probe, seconds = n / probe, delay = verify })
   local finish = begin + (o.seconds or 0)
   if o.rounds then
      for round = 1, o.rounds do
         M.add(c, list, round == 1 and "load" or "round" .. round, { frame = to_groups, fps = o.fps,
            seconds = n / o.fps, delay = begin + (round - 1) * n / o.fps })
      end
      finish = begin + o.rounds * n / o.fps
   else
      local share = 1 - (o.unicast or 0)
      M.add(c, list, "load", { frame = to_groups, fps = o.fps * share, seconds = o.seconds, delay = begin,
         tags = o.tag and { first = o.seconds / 2, every = 1, count = 1 } or nil })
      for k, receiver in ipairs(o.unicast and c.receivers or {}) do
         local fps = o.fps * o.unicast / #c.receivers
         list[#list + 1] = {
            name = ("unicast %s->%s"):format(c.source, receiver), from = c.source, to = receiver,
            frame = M.template(c, n, receiver), loads = { { fps = fps, seconds = o.seconds } },
            delay = begin + (k - 0.5) / #c.receivers / fps, measure = {},
         }
      end
   end
   for _, member in ipairs(members) do
      member.leave = member.leave + finish + c.o.drain
   end
   return c.session:trial {
      test = "rfc3918." .. c.key, phase = o.phase, frame_size = c.frame_size, direction = c.source,
         fps = o.fps,
      seconds = finish, streams = list, members = members, any_loss = o.any_loss,
      tags = o.tag and { first = 0, every = 1, count = 1 } or nil,
      drain = c.o.drain + reporting + c.o.forget, outcome = o.outcome or outcome_of(c, n),
   }
end

--- Seconds of a trial with everything around it, where the load lasts so long.
function M.seconds(plan, n, load)
   local o, receivers = plan.rfc3918, #M.roles(plan).receivers
   return 2 * n / o.probe_rate + 2 * n * receivers * o.reports / o.report_rate + o.join_wait + load + o.drain
      + o.forget + o.learning_wait + o.settle
end

return M
