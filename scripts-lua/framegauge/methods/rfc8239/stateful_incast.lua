-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 6: senders of TCP and senders of bursts, all to one port at once.
--
-- First one port sends bursts, and one, two, up to all others but the receiver send by TCP at full speed.
-- Then one port sends by TCP and several send bursts. TCP runs on our own engine at both ends, a connection
-- or more from each port; the bursts are test frames, whose delay and loss show how the switch treats frames
-- that do not slow down. Both are in one trial, on one clock.
local common = require "framegauge.methods.rfc8239.common"
local ethernet = require "framegauge.core.ethernet"
local incast = require "framegauge.methods.rfc8239.incast"
local l4_trial = require "framegauge.tester.l4.trial"
local octets = require "framegauge.core.octets"
local records = require "framegauge.tester.l4.record"
local settings = require "framegauge.methods.l4.settings"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME = "rfc8239.stateful_incast"

--- Bytes of the largest IP packet of TCP.
M.MTU = 1500

local FIRST_PORT = 5001 -- where the receiver listens for the first sender; for the next one, the next
local LEAST_CAPACITY = 64 -- connections
local L2 = 18 -- bytes of a frame around its IP packet
local WHOLE = 1e-9 -- of an interval of bursts: by how much a whole number of them may miss it

--- How many ports send by TCP, and how many send bursts, of n ports.
-- @usage #incast.series(5) --> 5
function M.series(n)
   local list = {}
   for tcp = 1, n - 2 do
      list[#list + 1] = { tcp = tcp, udp = 1 }
   end
   for udp = 2, n - 2 do
      list[#list + 1] = { tcp = 1, udp = udp }
   end
   return list
end

--- The most payload of TCP, bits per second, that a line has room for next to bursts.
-- @param rate    of the line, bits per second
-- @param tcp     framegauge.core.ethernet's name of TCP: with or without time stamps
-- @param bursts  frames of bursts a second on that line
-- @usage incast.ideal(10e9, "ipv4", "tcp", 10000, 1518) / 1e6 --> 9376.05
function M.ideal(rate, ip, tcp, bursts, frame_size, tags)
   local left = rate - bursts * ethernet.l1_bps(1, frame_size)
   return math.max(0, left) / rate * ethernet.goodput(rate, M.MTU, ip, tcp, tags)
end

--- Jain's index: 1 where all have the same, 1/n where one has it all.
-- @usage incast.fairness { 3, 1 } --> 0.8
function M.fairness(list)
   local sum, squares = 0, 0
   for _, x in ipairs(list) do
      sum, squares = sum + x, squares + x * x
   end
   return squares > 0 and sum * sum / (#list * squares) or 1
end

-- The client at port k and its server at the last one.
local function apps_of(c, k)
   local ports, n = c.plan.ports, #c.plan.ports
   local client = {
      test = "TCP_STREAM", address = ports[k][c.ip], remote = ports[n][c.ip],
      next_hop = octets.mac(c.tester.ports[n].mac), port = FIRST_PORT + k - 1,
      connections = c.own.connections,
      tcp = settings.tcp(c.own.tcp),
   }
   return client, setmetatable({ server = true, address = ports[n][c.ip], addresses = 1 },
      { __index = client })
end

-- The receiver first, then the senders.
local function sides_of(c)
   local room = math.max(LEAST_CAPACITY, 2 * c.own.connections * c.tcp)
   local sides = { { port = #c.tester.ports, apps = {}, capacity = room } }
   for k = 1, c.tcp do
      local client, server = apps_of(c, k)
      sides[1].apps[k] = server
      sides[k + 1] = { port = k, apps = { client }, capacity = room }
   end
   return sides
end

-- The TCP results of each port that sent by TCP.
local function senders_of(sides)
   local list = {}
   for k = 2, #sides do
      local measured = sides[1].apps[k - 1].measured
      local seconds = sides[1].apps[k - 1].measured_s
      list[k - 1] = {
         port = sides[k].role, goodput_bps = seconds > 0 and measured.octets_in * 8 / seconds or 0,
         retransmitted_segments = records.count(sides[k], "segments_retransmitted"),
         timeouts = records.count(sides[k], "timeouts"), tx = sides[k].station.tx_frames,
      }
   end
   return list
end

local function make(c, number)
   local o, receiver = c.plan.rfc8239, c.tester.ports[#c.tester.ports]
   local ask = {
      test = M.NAME, phase = ("%d TCP, %d bursts"):format(c.tcp, c.udp), frame_size = c.frame_size,
      direction = "->" .. receiver.name, fps = c.bursts.fps,
      seconds = c.bursts.seconds, line_fps = c.whole, setting = tostring(number),
      streams = incast.streams(c.plan, c.tester, c.bursts, c.tcp + 1, c.tcp + c.udp, c.frame_size),
      outcome = function(record)
         return ("%.4g Mbit/s by TCP, %d frames of bursts lost"):format(
            stats.sum(record.tcp.senders, "goodput_bps") / 1e6, record.lost)
      end,
   }
   function ask.make(asked)
      local sides, engine = l4_trial.run(c.tester, {
         sides = sides_of(c), streams = ask.streams, seconds = ask.seconds, omit = c.own.omit * ask.seconds,
         drain = o.drain, learning_wait = o.learning_wait, settle = o.settle, mtu = M.MTU, seed = number,
      })
      for i, side in ipairs(sides) do
         side.role = i == 1 and receiver.name or c.tester.ports[i - 1].name
      end
      local senders, record = senders_of(sides), trial.record(engine, asked)
      local by_tcp = records.of(asked, c.tester, sides, engine, stats.sum(senders, "goodput_bps") == 0)
      record.validity, record.reasons = verdict.merge { record, by_tcp }
      for _, side in ipairs(sides) do -- the streams count them as foreign
         record.unsolicited = math.max(0, record.unsolicited - side.station.rx_frames)
      end
      record.tcp = {
         senders = senders, lost = math.max(0, stats.sum(senders, "tx") - sides[1].station.rx_frames),
      }
      return record
   end
   return c.session:trial(ask)
end

-- The least rate of burst frames on the line while TCP was measured: all received frames except those sent
-- before, and those that the line can have carried after. A segment that had begun before counts.
local function beside_tcp(c, record, line_fps)
   local bursts, after = c.bursts, 0
   local omitted = c.own.omit * bursts.seconds
   for _, direction in ipairs(record.directions) do
      after = math.max(after, (direction.last_arrival_ns or 0) / 1e9 - bursts.seconds)
   end
   local before = math.ceil(omitted / bursts.interval - WHOLE) * bursts.frames * c.udp
   local segment = ethernet.l1_bps(1, M.MTU + L2) / ethernet.l1_bps(1, c.frame_size)
   local frames = math.max(0, record.rx - before - after * line_fps)
   return (frames - segment) / (bursts.seconds - omitted)
end

-- A figure of TCP, summed up over the ports that sent, of each iteration.
local function of_tcp(list, key)
   return tables.map(list, function(record) return stats.sum(record.tcp.senders, key) end)
end

local function measure(plan, tester, session, series, frame_size)
   local o, list, receiver = plan.rfc8239, {}, tester.ports[#tester.ports]
   local ip = plan.ports[1].ipv4 and "ipv4" or "ipv6"
   local c = { plan = plan, tester = tester, session = session, tcp = series.tcp, udp = series.udp, ip = ip,
      frame_size = frame_size, own = o.stateful_incast, whole = tester:max_fps(frame_size),
      bursts = incast.bursts(plan, tester) }
   for i = 1, o.iterations do
      list[i] = make(c, i)
   end
   local worst, goodput = tables.greatest(list, "lost"), stats.mean(of_tcp(list, "goodput_bps"))
   local line_fps = ethernet.lines_fps({ receiver }, frame_size)
   local ideal = M.ideal(receiver.line_rate, ip, c.own.tcp.timestamps and "tcp+ts" or "tcp",
      stats.mean(tables.map(list, function(record) return beside_tcp(c, record, line_fps) end)), frame_size,
      plan.ports[#tester.ports].vlan and 1 or 0)
   local latency = common.latency(plan, worst.latency, frame_size, receiver.serial_rate)
   local row = common.row(list, {
      test = "stateful_incast", tcp_ports = series.tcp, udp_ports = series.udp, receiver = receiver.name,
      connections = c.own.connections * series.tcp, frame_size = frame_size,
      burst_frames = c.bursts.frames, burst_interval_s = c.bursts.interval,
      load_percent = series.udp * c.bursts.fps / c.whole * 100,
      goodput_bps = goodput, ideal_goodput_bps = ideal,
      goodput_percent = ideal > 0 and goodput / ideal * 100 or nil,
      fairness = stats.min(tables.map(list, function(record)
         return M.fairness(tables.field(record.tcp.senders, "goodput_bps"))
      end)),
      retransmitted_segments = stats.sum(of_tcp(list, "retransmitted_segments")),
      timeouts = stats.sum(of_tcp(list, "timeouts")),
      tcp_lost = stats.sum(tables.field(list, "tcp"), "lost"), tx = worst.tx, lost = worst.lost,
      loss_ratio = worst.loss_ratio, latency = latency, jitter = common.jitter(latency),
   })
   common.repeated(plan, row, of_tcp(list, "goodput_bps"))
   return row
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
      for _, series in ipairs(M.series(#tester.ports)) do
         rows[#rows + 1] = measure(plan, tester, session, series, frame_size)
      end
   end
end

--- The trials to come: as common.parts().
function M.parts(plan, _, tester)
   return common.parts(plan, M.NAME, #M.series(#plan.ports) * plan.rfc8239.iterations,
      incast.bursts(plan, tester).seconds)
end

return M
