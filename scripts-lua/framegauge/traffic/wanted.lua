-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a plan as a trial takes them (framegauge.bench.streams).
local line = require "framegauge.line"
local load = require "framegauge.method.load"
local stack = require "framegauge.traffic.stack"

local MEASURE = { "variation", "payload" } -- framegauge.bench.measures

local M = {}

--- Frames per second of a stream.
-- @param line_rate  bits per second of the line it is sent on; nil: it has none
-- @return nil for a share of a line that is not known
function M.fps(stream, line_rate)
   return load.fps(stream.rate, stream.size, line_rate and line_rate / line.l1_bps(1, stream.size))
end

--- The streams.
-- @param bench    with plan, ports and gateway_mac
-- @param seconds  how long each is sent
-- @return list of { name =, from =, to =, frame =, frame_size =, loads =, measure = }
function M.streams(bench, seconds)
   local list, macs = {}, stack.known(bench)
   for i, stream in ipairs(bench.plan.streams) do
      local from, to = stack.ends(bench.plan.ports, stream)
      list[i] = {
         name = stream.name, from = bench.ports[from].name, to = bench.ports[to].name,
         frame = stack.template(bench.plan.ports, stream, macs), frame_size = stream.size,
         loads = { { fps = M.fps(stream, bench.ports[from].line_rate), seconds = seconds } },
         measure = MEASURE,
      }
   end
   return list
end

return M
