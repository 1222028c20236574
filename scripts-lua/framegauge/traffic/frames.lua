-- SPDX-License-Identifier: BSD-3-Clause

--- The frames that a plan would send, before any port is open: its streams, or those of its method.
local bench_streams = require "framegauge.bench.streams"
local frame = require "framegauge.frame"
local line = require "framegauge.line"
local load = require "framegauge.method.load"
local octets = require "framegauge.octets"
local stack = require "framegauge.traffic.stack"
local topology = require "framegauge.traffic.topology"

local M = {}

-- The rate of the line of a port as far as the plan knows it.
local function line_rate(plan, i)
   return plan.ports[i].line_rate or (plan.reference_device and plan.reference_device.rate)
end

local function direction(plan, from, to)
   return plan.ports[from].name .. "->" .. plan.ports[to].name
end

local function own_streams(plan)
   local list, macs = {}, stack.placeholders(plan.ports)
   for i, stream in ipairs(plan.streams) do
      local from, to = stack.ends(plan.ports, stream)
      local rate = line_rate(plan, from)
      list[i] = {
         name = stream.name, direction = direction(plan, from, to),
         template = stack.template(plan.ports, stream, macs),
         fps = load.fps(stream.rate, stream.size, rate and line.max_fps(rate, stream.size)),
      }
   end
   return list
end

-- What stands for a bench where no port is open.
local function closed_bench(plan)
   local macs, ports = stack.placeholders(plan.ports), {}
   for i, port in ipairs(plan.ports) do
      ports[i] = { name = port.name, mac = octets.mac_text(macs.port(i)) }
   end
   return {
      plan = plan, ports = ports,
      gateway_mac = function(_, i, version)
         return macs.gateway(i, version)
      end,
   }
end

local function of_rfc2544(plan)
   local list, bench = {}, closed_bench(plan)
   local directions = topology.directions(plan)
   for _, size in ipairs(plan.rfc2544.frame_sizes) do
      for _, modifier in ipairs { false, unpack(plan.rfc2544.modifiers) } do
         local made = bench_streams.of_trial(bench, {
            directions = directions, frame_size = size, modifier = modifier or nil,
         })
         for i = 1, made.count do
            local one = made.array[i - 1]
            local name = size .. " bytes" .. (modifier and ", " .. modifier or "")
            list[#list + 1] = {
               name = one.unmeasured and name .. ", unmeasured" or name, template = made.frames[i],
               direction = direction(plan, one.tx_port + 1, one.rx_port + 1),
            }
         end
      end
   end
   return list
end

--- The streams of a plan.
-- @return list of { name =, direction = "east->west", template =, fps = frames per second or nil where that
-- is not known }; empty where the plan has no streams and its method makes its own as it goes
function M.streams(plan)
   if plan.streams[1] then
      return own_streams(plan)
   end
   return plan.rfc2544 and of_rfc2544(plan) or {}
end

--- Frames of a stream, as they would leave.
-- @param index  of the stream in the list, its number in the signature
-- @return iterator: number of the frame, its octets without FCS, when it leaves in ns
function M.of_stream(stream, index, count)
   return function(_, number)
      number = number + 1
      if number < count then
         local time_ns = stream.fps and math.floor(number * 1e9 / stream.fps) or 0
         return number, frame.make(stream.template, index, number, time_ns), time_ns
      end
      return nil
   end, nil, -1
end

return M
