-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 6, without TCP: what becomes of bursts that several ports send to one at the same
-- instant, again and again. One sender first, then two, up to all ports but the one that receives.
--
-- Their latency shows how long they wait for each other, and their loss what exceeds the buffer. For senders
-- of TCP in addition see stateful_incast.lua.
local common = require "framegauge.methods.rfc8239.common"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

M.NAME = "rfc8239.incast"

local INTERVAL = 0.01 -- seconds from burst to burst, where a burst is shorter
local WHOLE = 1e-9 -- of an interval: by how much a whole number of them may miss it

--- The bursts of each sender in a trial, which lasts as long as whole bursts do.
-- @param tester  the tester, or what is known of it before it is open: max_fps(self, frame_size)
-- @return { frames = of a burst, interval = seconds from one to the next, number = of bursts, seconds = of
-- the trial, fps = the load of a sender }
function M.bursts(plan, tester)
   local o, interval = plan.rfc8239, plan.rfc8239.incast.burst_interval
   if not interval then
      local burst = o.incast.burst_frames / (tester:max_fps(math.max(unpack(o.frame_sizes))) or math.huge)
      interval = INTERVAL
      while interval <= burst do
         interval = 2 * interval
      end
   end
   local number = math.max(1, math.floor(o.trial / interval + WHOLE))
   return { frames = o.incast.burst_frames, interval = interval, number = number,
      seconds = number * interval, fps = o.incast.burst_frames / interval }
end

--- Streams of bursts to the last port.
-- @param bursts       as bursts() has them
-- @param first, last  numbers of the ports that send them
function M.streams(plan, tester, bursts, first, last, frame_size)
   local receiver, list = tester.ports[#tester.ports], {}
   for i = first, last do
      list[#list + 1] = common.stream(plan, tester, tester.ports[i], receiver, frame_size, {
         load = { shape = "bursts", burst = bursts.frames, burst_fps = tester:max_fps(frame_size),
            fps = bursts.fps, frames = bursts.number * bursts.frames, seconds = bursts.seconds },
      })
   end
   return list
end

local function measure(plan, tester, session, senders, frame_size)
   local o, records, whole = plan.rfc8239, {}, tester:max_fps(frame_size)
   local bursts = M.bursts(plan, tester)
   for i = 1, o.iterations do
      records[i] = session:trial {
         test = M.NAME, phase = ("%d senders"):format(senders), frame_size = frame_size,
         direction = "->" .. tester.ports[#tester.ports].name, fps = bursts.fps, seconds = bursts.seconds,
         line_fps = whole, streams = M.streams(plan, tester, bursts, 1, senders, frame_size),
         setting = tostring(senders),
      }
   end
   local ratios = tables.field(records, "loss_ratio")
   local worst = tables.greatest(records, "lost")
   local latency = common.latency(plan, worst.latency, frame_size, tester.ports[#tester.ports].serial_rate)
   local row = common.row(records, {
      test = "incast", senders = senders, receiver = tester.ports[#tester.ports].name,
      frame_size = frame_size,
      burst_frames = bursts.frames, burst_interval_s = bursts.interval,
      load_percent = senders * bursts.fps / whole * 100, tx = worst.tx, lost = worst.lost,
         loss_ratio = worst.loss_ratio,
      lost_per_burst = worst.lost / math.max(1, worst.tx / senders / bursts.frames),
      -- what still waits at the end arrives later: the line carries no more
      goodput_bps = math.min(worst.rx / bursts.seconds, whole) * 8 * frame_size, latency = latency,
      jitter = common.jitter(latency),
      latency_mean_max_ns = latency and stats.max(tables.map(records, function(record)
         local one = common.latency(plan, record.latency, frame_size, tester.ports[#tester.ports].serial_rate)
         return one and one.max_ns
      end)),
   })
   common.repeated(plan, row, ratios)
   return row
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
      for senders = 1, #tester.ports - 1 do
         rows[#rows + 1] = measure(plan, tester, session, senders, frame_size)
      end
   end
end

--- The trials to come: as common.parts().
function M.parts(plan, _, tester)
   return common.parts(plan, M.NAME, (#plan.ports - 1) * plan.rfc8239.iterations,
      M.bursts(plan, tester).seconds)
end

return M
