-- SPDX-License-Identifier: BSD-3-Clause

--- A trial of RFC 3918: the memberships over time, and the frames sent meanwhile.
--
-- Each trial has the same phases: one frame to each group before any port has joined (`probe`: does it reach
-- a port?), reports, a wait, one frame to each group again (`verify`), the load, and leaves. The load is one
-- stream to the groups in turn; each receiver measures its copies by its own stream, by number. So each port
-- has its own losses, duplicates and delays, and the delays of one frame can be compared.
local common = require "framegauge.methods.rfc2544.common"
local definition = require "framegauge.trial.definition"
local format = require "framegauge.text.format"
local formats = require "framegauge.methods.rfc3918.plan.formats"
local frame = require "framegauge.traffic.frame"
local groups = require "framegauge.traffic.groups"
local octets = require "framegauge.core.octets"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local tunnel = require "framegauge.traffic.tunnel"
local verdict = require "framegauge.text.verdict"

local M = {}

local MAPPED = ("\0"):rep(10) .. "\255\255" -- IPv4 among the addresses of IPv6
local PAUSE = 0.01 -- seconds between two steps that must not overlap

--- The ports by their roles.
-- @return { source = name, receivers and burden = lists of names, monitor = name or nil }
function M.roles(plan)
   local o = plan.rfc3918
   local roles = { monitor = o.monitor, burden = o.burden or {} }
   local others = tables.joined(roles.burden, o.receivers or {}, { o.monitor })
   local free = tables.map(plan.ports, function(port)
      return not tables.contains(others, port.name) and port.name or nil
   end)
   roles.source = o.source or free[1]
   roles.receivers = o.receivers or tables.map(free, function(name)
      return name ~= roles.source and name or nil
   end)
   return roles
end

function M.version(plan)
   return plan.rfc3918.version or (plan.ports[1].ipv4 and "igmpv2" or "mldv1")
end

--- All that is the same for the trials of one row.
function M.context(plan, tester, session, key, frame_size)
   local c = M.roles(plan)
   c.plan, c.tester, c.session, c.key, c.frame_size = plan, tester, session, key, frame_size
   c.o, c.version, c.probe_fps = plan.rfc3918, M.version(plan), plan.rfc3918.probe_rate
   c.ip = c.version:find "^mld" and 6 or 4
   c.ingress, c.egress = formats.of(c.o, key)
   c.offered_size, c.forwarded_size = formats.sizes(c.o, key, frame_size, c.ip)
   c.is_static = (c.ingress or c.egress) and c.o.tunnel.joins == "device"
   c.line_fps, c.before = tester:max_fps(c.offered_size), #session.trials
   c.first = groups.first(c.o.first_group, c.ip)
   c.burden_fps = c.o.burden_load * c.line_fps
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

--- Least, mean and greatest of a sample; nothing of an empty one.
function M.range(sample)
   if sample[1] then
      return stats.min(sample), stats.mean(sample), stats.max(sample)
   end
end

--- Nanoseconds from the first bit of a frame to its last on the line of a port; 0 where the port tells no
-- rate of that line, but the plan alone.
function M.frame_ns(c, name, size)
   return common.frame_ns(c.tester, name .. "->", size) or 0
end

--- The latency definition: the results of framegauge.trial.definition.
-- @param latency  from first bit to first bit; or nil
-- @param found    earlier evidence that the device cuts through; or nil
function M.definition(c, latency, found)
   local frame_ns = common.frame_ns(c.tester, c.source .. "->", c.frame_size)
   return definition.of(c.o.latency_definition or found and "fifo" or nil, frame_ns, latency,
      "rfc3918.latency_definition", c.frame_size)
end

--- Put latencies into a row by the definition of the run, and again where that changes.
-- @param latency  the least of all trials of the row, from first bit to first bit; or nil
-- @param put      function(store): puts them, less what the definition takes off a delay
function M.define(c, row, latency, put)
   local function again(found)
      local is, store = M.definition(c, nil, found)
      row.definition = is
      put(store)
      if found and not tables.any(row.reasons, function(text) return text:find(found, 1, true) end) then
         row.reasons[#row.reasons + 1] = found
      end
   end
   -- what the plan names stays
   definition.of_run(c.o.latency_definition and {} or c.session, select(3, M.definition(c, latency)), again)
end

local REPORT_SIZES = { igmpv2 = 64, igmpv3 = 64, mldv1 = 90, mldv2 = 94 }

--- Bytes of a report about one group; a leave has as many.
function M.report_ns(c, name)
   return M.frame_ns(c, name, REPORT_SIZES[c.version])
end

-- The IP address, the MAC address and the VLAN of a port.
local function addresses(c, name)
   local i = tables.index_of(c.tester.ports, name)
   local port = c.plan.ports[i]
   return octets["ipv" .. c.ip](port["ipv" .. c.ip]), octets.mac(c.tester.ports[i].mac), port.vlan
end

-- A frame from a port to another one.
local function to_port(c, from, to)
   local made = { version = c.ip }
   made.src, made.src_mac, made.vlan = addresses(c, from)
   made.dst, made.dst_mac = addresses(c, to)
   return frame.rfc2544(c.frame_size, made)
end

-- What a frame of the source is wrapped in on its way to the device, which is the port's gateway.
-- @return layers, and the MAC address that it goes to; or nil
local function tunnel_of(c, src)
   if not c.ingress then
      return nil
   end
   local i = tables.index_of(c.tester.ports, c.source)
   local gateway = c.plan.ports[i]["gateway" .. c.ip]
   return tunnel.layers(c.ingress, {
      version = c.ip, src = src, dst = octets["ipv" .. c.ip](gateway), key = c.o.tunnel.key,
   }), c.tester:gateway_mac(i, c.ip)
end

--- A frame to one of n groups, to the next group each time, or after some frames. @param held  frames; nil: 1
function M.template(c, n, held)
   local list, macs = groups.list(c.first, n)
   local made = { version = c.ip, dst = list[1], vary = {} }
   made.vary.dst = n > 1 and { list = list, count = n, hold = held } or nil
   made.src, made.src_mac, made.vlan = addresses(c, c.source)
   made.outer, made.dst_mac = tunnel_of(c, made.src)
   if not made.outer then
      made.dst_mac, made.vary.dst_mac = macs[1], n > 1 and { list = macs, count = n, hold = held } or nil
   end
   return frame.rfc2544(c.offered_size, made)
end

--- Add a stream to groups that all receivers measure.
-- @param list    of streams, as a trial takes them
-- @param kind    its purpose; streams are called "load a->b"
-- @param o       { frame =, fps =, seconds =, delay =, tags = or nil, phase = or nil }
function M.add(c, list, kind, o)
   local first = #list + 1
   for i, receiver in ipairs(c.receivers) do
      list[#list + 1] = {
         name = ("%s %s->%s"):format(kind, c.source, receiver), from = c.source, to = receiver,
         frame = o.frame, loads = { { fps = o.fps, seconds = o.seconds } }, delay = o.delay, tags = o.tags,
         measure = {},
         copies_of = i > 1 and first or nil,
      }
   end
end

--- Add the burden, where there is one: each of its ports sends to all others of them in turn.
-- @param o  { seconds =, delay = }
function M.add_burden(c, list, o)
   local ports = c.is_burdened and c.burden or {}
   for i, link in ipairs(topology.links(#ports, "full-mesh")) do
      local from, to = ports[link.from], ports[link.to]
      local turn = (i - 1) % (#ports - 1)
      list[#list + 1] = {
         name = ("burden %s->%s"):format(from, to), from = from, to = to, frame = to_port(c, from, to),
         loads = { { fps = c.burden_fps / (#ports - 1), seconds = o.seconds } },
         delay = o.delay + turn / c.burden_fps, measure = {},
      }
   end
end

--- The memberships of all receivers in n groups; none where they are configured in the device.
-- @param join, leave  seconds; nil: they do not leave
-- @return list, and how many seconds all reports take
function M.members(c, n, join, leave)
   local list, all, apart = {}, groups.list(c.first, n), 1 / c.o.report_rate
   local once = n * #c.receivers * apart
   if c.is_static then
      return {}, 0
   end
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

--- The receivers' measurements of one kind of stream.
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

-- Bytes of its frames as they came, in the mean; nil: none came.
local function size_of(direction)
   return direction.rx > 0 and direction.rx_bytes / direction.rx or nil
end

-- From GRE to GRE a frame may be as long as it was, so the tunnel that it came in is told by its address.
local function came_by_own_tunnel(c, direction)
   local seen = c.ingress and c.ingress ~= "ipip" and c.egress and c.egress ~= "ipip" and direction.rx > 0
   local to = seen and direction.translated and direction.translated.destination
   local own = addresses(c, receiver_of(direction))
   return not seen or to == octets.address_text(#own == 4 and MAPPED .. own or own)
end

--- Objections to a trial with n groups: sentences; and whether the device floods groups without members.
function M.problems(c, record, n)
   local reasons, reached, missed = {}, 0, 0
   for _, direction in ipairs(c.is_static and {} or M.at_receivers(c, record, "probe")) do
      reached = reached + (direction.rx > 0 and 1 or 0)
      missed = missed + direction.lost
   end
   local floods = reached == #c.receivers and missed == 0 and not c.is_static
   if reached > 0 and not floods then
      reasons[1] = "frames of groups that nobody had joined reached some of the ports: a port is still a member; raise rfc3918.forget"
   end
   local verified, flood = M.at_receivers(c, record, "verify")
   for _, direction in ipairs(verified) do
      if direction.lost > 0 then
         reasons[#reasons + 1] = ("%s did not get the frames of %d of %s that it had joined"):format(
            receiver_of(direction), direction.lost, format.plural(n, "group"))
      elseif size_of(direction) ~= c.forwarded_size then
         reasons[#reasons + 1] = ("%s got frames of %.4g bytes, not of %d: the device does not do what the test and rfc3918.tunnel say"):format(receiver_of(direction), size_of(direction),
            c.forwarded_size)
      elseif not came_by_own_tunnel(c, direction) then
         reasons[#reasons + 1] = ("%s got frames that are not addressed to it: they did not come by a tunnel to it"):format(receiver_of(direction))
      end
   end
   if flood > 0 then
      reasons[#reasons + 1] = ("%s at %s, which had joined nothing"):format(format.plural(flood, "frame"),
         c.monitor)
   end
   return reasons, floods
end

--- Counts of the burden in several trials.
-- @return its frames, their loss ratio, and whether some came out at a wrong port
function M.burden_of(c, records)
   local tx, lost, flooded = 0, 0, false
   for _, record in ipairs(records) do
      for _, direction in ipairs(M.at_receivers(c, record, "burden")) do
         tx, lost = tx + direction.tx, lost + direction.lost
         flooded = flooded or next(direction.measured and direction.measured.misdirected or {}) ~= nil
      end
   end
   return tx, tx > 0 and lost / tx or 0, flooded
end

--- Measure without the burden, then with it.
-- @param of  function() -> a row and its records
-- @return what both rows share: the burden, whether both are valid; and both rows
function M.beside_burden(c, of)
   local baseline = of()
   c.is_burdened = true
   local burdened, records = of()
   local out = {
      test = c.key, frame_size = c.frame_size, version = c.version, source = c.source,
      receivers = burdened.receivers,
      offered_fps = burdened.offered_fps, burden_ports = #c.burden, burden_fps = c.burden_fps,
      repetitions = burdened.repetitions, trials = #c.session.trials - c.before, reasons = {},
   }
   local flooded
   out.burden_tx, out.burden_loss_ratio, flooded = M.burden_of(c, records)
   out.baseline_samples, out.burdened_samples = baseline.samples, burdened.samples
   out.validity = verdict.worse(baseline.validity, burdened.validity)
   for _, one in ipairs { { "without the burden", baseline }, { "with the burden", burdened } } do
      for _, reason in ipairs(one[2].reasons) do
         out.reasons[#out.reasons + 1] = ("%s: %s"):format(one[1], reason)
      end
   end
   if flooded then
      out.validity = "invalid"
      table.insert(out.reasons, 1, "frames of the burden came out at other ports: the device does not know the addresses; raise rfc3918.learning_wait")
   end
   return out, baseline, burdened
end

--- A trial as one whose frames are their copies.
-- @param n  groups that were joined
-- @return the record with other counts: tx, rx, lost and loss_ratio are of copies and the load only, `egress`
-- is what each receiver got, lost_multicast and lost_unicast what each class lost; and with what speaks
-- against it
function M.of_copies(c, record, n)
   local load, unicast = M.at_receivers(c, record, "load"), M.at_receivers(c, record, "unicast")
   local out = { tx = 0, lost = 0, lost_multicast = 0, lost_unicast = 0, tx_unicast = 0, duplicates = 0 }
   out.egress = tables.map(load, function(direction)
      out.tx, out.lost_multicast = out.tx + direction.tx, out.lost_multicast + direction.lost
      out.duplicates = out.duplicates + direction.duplicates
      return {
         port = receiver_of(direction), rx = direction.rx, lost = direction.lost,
         duplicates = direction.duplicates, loss_ratio = direction.loss_ratio, latency = direction.latency,
         size = size_of(direction),
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

-- The result of a trial, in a few words.
local function outcome_of(c, n)
   return function(record)
      local one = M.of_copies(c, record, n)
      return ("lost %s of %s copies"):format(format.count(one.lost), format.count(one.tx))
   end
end

-- Add the load of one row of streams, from a time on. @param o  as of M.make
local function add_load(c, list, o, begin, to_groups)
   local unicast = o.unicast or 0
   M.add(c, list, "load", { frame = to_groups, fps = o.fps * (1 - unicast), seconds = o.seconds,
      delay = begin, tags = o.tag and { first = o.seconds / 2, every = 1, count = 1 } or nil })
   for k, receiver in ipairs(o.unicast and c.receivers or {}) do
      local fps = o.fps * unicast / #c.receivers
      list[#list + 1] = {
         name = ("unicast %s->%s"):format(c.source, receiver), from = c.source, to = receiver,
         frame = to_port(c, c.source, receiver), loads = { { fps = fps, seconds = o.seconds } },
         delay = begin + (k - 0.5) / #c.receivers / fps, measure = {},
      }
   end
   M.add_burden(c, list, { seconds = o.seconds, delay = begin })
end

--- Make a trial with a load.
-- @param o.n         groups
-- @param o.fps       of the source
-- @param o.seconds   of the load
-- @param o.phase     of the search
-- @param o.unicast   share of the frames that are unicast, or nil
-- @param o.tag       whether the delay of the frame in the middle is kept
-- @param o.any_loss  whether any lost frame matters, but not the number
-- @param o.rounds    in place of seconds: frames to each group, each round a stream of its own ("load", then
-- "round2", ...)
-- @param o.held      frames to each group in a round, one after the other; nil: 1
-- @return its record
function M.make(c, o)
   local n, list, probe = o.n, {}, c.probe_fps
   local joins = n / probe + PAUSE
   local members, reporting = M.members(c, n, joins, 0)
   local verify = joins + reporting + c.o.join_wait
   local begin = verify + n / probe + PAUSE
   local to_groups = M.template(c, n)
   M.add(c, list, "probe", { frame = to_groups, fps = probe, seconds = n / probe, delay = 0 })
   M.add(c, list, "verify", { frame = to_groups, fps = probe, seconds = n / probe, delay = verify })
   local finish = begin + (o.seconds or 0)
   if o.rounds then
      local to_each, each = M.template(c, n, o.held), n * (o.held or 1) / o.fps
      for round = 1, o.rounds do
         M.add(c, list, round == 1 and "load" or "round" .. round, { frame = to_each, fps = o.fps,
            seconds = each, delay = begin + (round - 1) * each })
      end
      finish = begin + o.rounds * each
   else
      add_load(c, list, o, begin, to_groups)
   end
   for _, member in ipairs(members) do
      member.leave = member.leave + finish + c.o.drain
   end
   return c.session:trial {
      test = "rfc3918." .. c.key, phase = o.phase, frame_size = c.frame_size, direction = c.source,
      fps = o.fps, seconds = finish, streams = list, members = members, any_loss = o.any_loss,
      tags = o.tag and { first = 0, every = 1, count = 1 } or nil,
      tunnelled = c.ingress ~= nil or c.egress ~= nil,
      drain = c.o.drain + reporting + c.o.forget, outcome = o.outcome or outcome_of(c, n),
   }
end

-- Were frames of `verify` lost? Then a group is missing, or their rate exceeds the device's.
local function is_unverified(c, record)
   return tables.any(M.at_receivers(c, record, "verify"), function(direction) return direction.lost > 0 end)
end

--- Make a trial with a load. Where frames that verify are lost it is made again with half as many of them a
-- second, until none is lost or they take longer than the load; the trials that follow have as few.
-- @param o  as M.make()
-- @return as M.of_copies()
function M.verified(c, o)
   local record = M.make(c, o)
   while is_unverified(c, record) and 2 * o.n / c.probe_fps <= o.seconds do
      c.probe_fps = c.probe_fps / 2
      record = M.make(c, o)
   end
   return M.of_copies(c, record, o.n)
end

--- Seconds of a trial with everything around it, where the load lasts so long.
function M.seconds(plan, n, load)
   local o, receivers = plan.rfc3918, #M.roles(plan).receivers
   return 2 * (n / o.probe_rate + PAUSE) + 2 * n * receivers * o.reports / o.report_rate + o.join_wait + load
      + o.drain + o.forget + o.learning_wait + o.settle
end

return M
