-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 2: whether a switch carries line rate on all ports, and with which latency and jitter.
--
-- No search: it is a question of yes or no. Ports in pairs, then all to all, every frame size at line rate.
local common = require "framegauge.methods.rfc8239.common"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"

local M = {}

M.NAME = "rfc8239.line_rate"

local PATTERNS = { "pairs", "full-mesh" }

local function spread(records, value)
   local list = tables.map(records, value)
   return list[1] and { min_ns = stats.min(list), mean_ns = stats.mean(list), max_ns = stats.max(list) }
end

local function measure(plan, tester, session, pattern, frame_size)
   local o, records = plan.rfc8239, {}
   local fps, whole = common.line_fps(plan, tester, frame_size)
   local directions = topology.directions(tester.ports, pattern, false)
   for i = 1, o.iterations do
      records[i] = session:trial {
         test = M.NAME, phase = pattern, frame_size = frame_size, direction = pattern,
            directions = directions,
         fps = fps, seconds = o.trial, line_fps = whole,
      }
   end
   local ratios = tables.map(records, function(record) return record.rx / math.max(1, record.tx) * 100 end)
   local worst = tables.greatest(records, "lost")
   local latency = common.latency(plan, worst.latency, frame_size, tester.ports[1].serial_rate)
   local row = common.row(records, {
      test = "line_rate", pattern = pattern, frame_size = frame_size, ports = #tester.ports,
      load_percent = o.line * 100, throughput_percent = stats.min(ratios),
      received_percent = stats.min(ratios) * o.line, tx = worst.tx, lost = worst.lost,
      loss_ratio = worst.loss_ratio, latency = latency, jitter = common.jitter(latency),
      latency_mean = spread(records, function(record)
         local one = common.latency(plan, record.latency, frame_size, tester.ports[1].serial_rate)
         return one and one.mean_ns
      end), trial_s = o.trial,
   })
   common.repeated(plan, row, ratios)
   common.judge(row, worst.lost == 0, ("%d frames lost at %.6g %% of the line"):format(worst.lost,
      row.load_percent))
   return row
end

local function patterns_of(ports)
   return #ports > 2 and PATTERNS or { "pairs" }
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, pattern in ipairs(patterns_of(tester.ports)) do
      for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
         rows[#rows + 1] = measure(plan, tester, session, pattern, frame_size)
      end
   end
end

--- The trials to come: as common.parts().
function M.parts(plan)
   local o = plan.rfc8239
   return common.parts(plan, M.NAME, #patterns_of(plan.ports) * o.iterations, o.trial)
end

return M
