-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: what rate to expect of the ports of a plan. Each sends for a second as fast as it takes frames,
-- and what arrives at the other end of the cable, if one is there, is counted. Only for plans that may send:
-- one with a port that reaches a network has `isolated_network: true`, or it could not be read.
local Bench = require "framegauge.tester"
local calibrate = require "framegauge.run.calibrate"
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local topology = require "framegauge.traffic.topology"
local units = require "framegauge.text.units"

local M = {}

local SIZES = { 64, 1518 }
local SECONDS = 1
local MOST_FPS = 20e6 -- asked of a port without a line rate; what it does not take is given up

local function row_of(name, size, direction)
   local sent = direction.tx / SECONDS
   local text = ("%s bytes: sends %s frames/s (%s)"):format(size, format.count(sent),
      units.format_bits(ethernet.l1_bps(sent, size), 1))
   if direction.rx == 0 then
      text = text .. ", nothing arrives: there is no cable, or a filter"
   else
      text = ("%s, %s arrive"):format(text, format.count(direction.rx / SECONDS))
   end
   return { state = "ok", topic = name, finding = text }
end

local function measure(plan)
   local looped = calibrate.looped(plan)
   local bench, problem = Bench.open(looped, { frame_sizes = SIZES })
   if not bench then
      return { { state = "problem", topic = "ports", finding = tostring(problem) } }
   end
   local rows = {}
   for _, name in ipairs((topology.directions(looped.ports, looped.needs.topology, looped.needs.one_way))) do
      for _, size in ipairs(SIZES) do
         local raw = bench:trial {
            frame_size = size, directions = { name }, fps = bench:max_fps(size) or MOST_FPS,
            duration = SECONDS,
         }
         rows[#rows + 1] = row_of(name, size, raw.directions[1])
      end
   end
   bench:close()
   rows[#rows].use = "the most, with loss; 'framegauge calibrate' finds what the tester carries without"
   return rows
end

--- Measure the ports of a plan.
-- @return list of rows
function M.examine(plan)
   return job.run(measure, plan)
end

return M
