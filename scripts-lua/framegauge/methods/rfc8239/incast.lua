-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 6, without TCP: what becomes of bursts that several ports send to one at the same
-- instant, again and again. One sender first, then two, up to all ports but the one that receives.
--
-- Their latency says how long they wait for each other, and their loss what the buffer does not hold. Senders
-- of TCP beside them: stateful_incast.lua.
local common = require "framegauge.methods.rfc8239.common"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

M.NAME = "rfc8239.incast"

--- Streams of bursts to the last port.
-- @param first, last  numbers of the ports that send them
function M.streams(plan, tester, first, last, frame_size)
   local o, receiver, list = plan.rfc8239, tester.ports[#tester.ports], {}
   local bursts = math.floor(o.trial / o.incast.burst_interval)
   for i = first, last do
      list[#list + 1] = common.stream(plan, tester, tester.ports[i], receiver, frame_size, {
         load = { shape = "bursts", burst = o.incast.burst_frames, burst_fps = tester:max_fps(frame_size),
            fps = o.incast.burst_frames / o.incast.burst_interval, frames = bursts * o.incast.burst_frames,
            seconds = bursts * o.incast.burst_interval },
      })
   end
   return list
end

local function measure(plan, tester, session, senders, frame_size)
   local o, records, whole = plan.rfc8239, {}, tester:max_fps(frame_size)
   local fps = o.incast.burst_frames / o.incast.burst_interval
   for i = 1, o.iterations do
      records[i] = session:trial {
         test = M.NAME, phase = ("%d senders"):format(senders), frame_size = frame_size,
         direction = "->" .. tester.ports[#tester.ports].name, fps = fps, seconds = o.trial, line_fps = whole,
         streams = M.streams(plan, tester, 1, senders, frame_size), setting = tostring(senders),
      }
   end
   local ratios = tables.field(records, "loss_ratio")
   local worst = common.worst(records)
   local latency = common.latency(plan, worst.latency, frame_size, tester.ports[#tester.ports].line_rate)
   local row = common.row(records, {
      test = "incast", senders = senders, receiver = tester.ports[#tester.ports].name,
      frame_size = frame_size,
      burst_frames = o.incast.burst_frames, burst_interval_s = o.incast.burst_interval,
      load_percent = senders * fps / whole * 100, tx = worst.tx, lost = worst.lost,
         loss_ratio = worst.loss_ratio,
      lost_per_burst = worst.lost / math.max(1, worst.tx / senders / o.incast.burst_frames),
      goodput_bps = worst.rx / o.trial * 8 * frame_size, latency = latency, jitter = common.jitter(latency),
      latency_mean_max_ns = latency and stats.max(tables.map(records, function(record)
         local one = common.latency(plan, record.latency, frame_size, tester.ports[#tester.ports].line_rate)
         return one and one.max_ns
      end)),
   })
   common.repeated(plan, row, ratios)
   return row
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, rows)
   for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
      for senders = 1, #tester.ports - 1 do
         rows[#rows + 1] = measure(plan, tester, session, senders, frame_size)
      end
   end
end

--- What lies ahead: as common.parts().
function M.parts(plan)
   return common.parts(plan, M.NAME, (#plan.ports - 1) * plan.rfc8239.iterations, plan.rfc8239.trial)
end

return M
