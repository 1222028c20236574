-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 6, without TCP: what becomes of bursts that several ports send to one at the same
-- instant, again and again. One sender first, then two, up to all ports but the one that receives.
--
-- Their latency says how long they wait for each other, and their loss what the buffer does not hold.
local common = require "framegauge.methods.rfc8239.common"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"

local M = {}

M.NAME = "rfc8239.incast"

local function streams_of(plan, bench, senders, frame_size, whole)
   local o, receiver, list = plan.rfc8239, bench.ports[#bench.ports], {}
   local bursts = math.floor(o.trial / o.incast.burst_interval)
   for i = 1, senders do
      list[i] = common.stream(plan, bench, bench.ports[i], receiver, frame_size, {
         load = { shape = "bursts", burst = o.incast.burst_frames, burst_fps = whole,
            fps = o.incast.burst_frames / o.incast.burst_interval, frames = bursts * o.incast.burst_frames,
            seconds = bursts * o.incast.burst_interval },
      })
   end
   return list
end

local function measure(plan, bench, session, senders, frame_size)
   local o, records, whole = plan.rfc8239, {}, bench:max_fps(frame_size)
   local fps = o.incast.burst_frames / o.incast.burst_interval
   for i = 1, o.iterations do
      records[i] = session:trial {
         test = M.NAME, phase = ("%d senders"):format(senders), frame_size = frame_size,
         direction = "->" .. bench.ports[#bench.ports].name, fps = fps, seconds = o.trial, line_fps = whole,
         streams = streams_of(plan, bench, senders, frame_size, whole), setting = tostring(senders),
      }
   end
   local ratios = tables.field(records, "loss_ratio")
   local worst = records[1]
   for _, record in ipairs(records) do
      worst = record.lost > worst.lost and record or worst
   end
   local latency = common.latency(plan, worst.latency, frame_size, bench.ports[#bench.ports].line_rate)
   local row = common.row(records, {
      test = "incast", senders = senders, receiver = bench.ports[#bench.ports].name, frame_size = frame_size,
      burst_frames = o.incast.burst_frames, burst_interval_s = o.incast.burst_interval,
      load_percent = senders * fps / whole * 100, tx = worst.tx, lost = worst.lost,
         loss_ratio = worst.loss_ratio,
      lost_per_burst = worst.lost / math.max(1, worst.tx / senders / o.incast.burst_frames),
      goodput_bps = worst.rx / o.trial * 8 * frame_size, latency = latency, jitter = common.jitter(latency),
      latency_mean_max_ns = latency and stats.max(tables.map(records, function(record)
         local one = common.latency(plan, record.latency, frame_size, bench.ports[#bench.ports].line_rate)
         return one and one.max_ns
      end)),
   })
   common.repeated(plan, row, ratios)
   return row
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, bench, session, rows)
   for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
      for senders = 1, #bench.ports - 1 do
         rows[#rows + 1] = measure(plan, bench, session, senders, frame_size)
      end
   end
end

--- What lies ahead: as line_rate.parts().
function M.parts(plan)
   return tables.map(plan.rfc8239.frame_sizes, function(frame_size)
      return { test = M.NAME, frame_size = frame_size, load_s = plan.rfc8239.trial,
         trials = (#plan.ports - 1) * plan.rfc8239.iterations }
   end)
end

return M
