-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold for a plan whose test is `traffic`. As in plan/rules.lua, each rule gets the values and the
-- list of problems.
local line = require "framegauge.line"
local ports = require "framegauge.plan.port_rules"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local units = require "framegauge.units"
local wanted = require "framegauge.traffic.wanted"

local M = {}

local function there_are_streams(values, found)
   if #values.streams == 0 and not found:has_below "streams" then
      found:add("streams", "the test traffic sends the plan's streams, and there is none",
         "streams by name, such as voice: {size: 200, rate: 10Mbps L2}")
   end
end

local function streams_fit_their_lines(values, found)
   local sums = {}
   for _, stream in ipairs(values.streams) do
      local from = stack.ends(values.ports, stream)
      local rate = from and ports.line_rate(values, values.ports[from])
      if rate and not found:has_below("streams." .. stream.name) then
         local _, fps = wanted.fps(values.ports, stream, rate)
         sums[from] = (sums[from] or 0) + line.l1_bps(fps, select(2, sizes.of(stream)).mean)
         if sums[from] > rate * (1 + 1e-9) then
            found:add(("streams.%s.rate"):format(stream.name),
               ("with it the streams from %s are %s at layer 1, more than its line carries (%s)"):format(
                  values.ports[from].name, units.format_bits(sums[from]), units.format_bits(rate)))
            return
         end
      end
   end
end

--- All of them, in order.
M.rules = { there_are_streams, streams_fit_their_lines }

return M
