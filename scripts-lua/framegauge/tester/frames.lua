-- SPDX-License-Identifier: BSD-3-Clause

--- The frames that a plan would send, before any port is open: its streams, or its method's.
local tester_streams = require "framegauge.tester.streams"
local faults = require "framegauge.traffic.faults"
local frame = require "framegauge.traffic.frame"
local loads = require "framegauge.traffic.loads"
local mixes = require "framegauge.core.mixes"
local octets = require "framegauge.core.octets"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local topology = require "framegauge.traffic.topology"

local M = {}

-- The line rate of a port, as far as the plan knows it.
local function line_rate(plan, i)
   return plan.ports[i].line_rate or (plan.reference_device and plan.reference_device.rate)
end

local function direction(plan, from, to)
   return plan.ports[from].name .. "->" .. plan.ports[to].name
end

-- A template of each size.
local function templates(ports, stream, macs, cycle)
   local made = {}
   for _, size in ipairs(sizes.describe(cycle).kinds) do
      made[size] = stack.template(ports, stream, macs, size)
   end
   return made
end

-- A stream's errors on purpose.
local function add_errors(plan, stream, one, macs, fps)
   local function make(size)
      return stack.template(plan.ports, stream, macs, size)
   end
   local shortest = one.templates[sizes.describe(one.cycle).least]
   one.errors, one.oversize = faults.config(stream, shortest, { fps = fps or 0, make = make })
end

local function own_streams(plan)
   local list, macs = {}, stack.placeholders(plan.ports)
   for i, stream in ipairs(plan.streams) do
      local from, to = stack.ends(plan.ports, stream)
      local rate = line_rate(plan, from)
      local cycle, tags = sizes.of(stream), stack.tags(plan.ports, stream)
      local made = loads.of(stream.rate, { sizes = sizes.describe(cycle), bps = rate, tags = tags })
      list[i] = {
         name = stream.name, direction = direction(plan, from, to), cycle = cycle,
         templates = templates(plan.ports, stream, macs, cycle), most = stream.frames,
         fps = stream_config.fps(plan.ports, stream, rate),
         load = #made == 1 and not made[1].shape and made[1] or nil,
      }
      if stream.errors then
         add_errors(plan, stream, list[i], macs, stream_config.fps(plan.ports, stream, rate))
      end
   end
   return list
end

-- A stand-in for a tester while no port is open.
local function closed_tester(plan)
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

local function of_method(plan, frame_sizes, by_modifiers)
   local list, tester = {}, closed_tester(plan)
   local directions = topology.directions(plan.ports, plan.needs.topology, plan.needs.one_way)
   for _, size in ipairs(frame_sizes) do
      for _, modifier in ipairs { false, unpack(by_modifiers) } do
         local made = tester_streams.of_trial(tester, {
            directions = directions, frame_size = size, modifier = modifier or nil,
         })
         for i = 1, made.count do
            local one = made.array[i - 1]
            local name = mixes.text(size) .. (modifier and ", " .. modifier or "")
            list[#list + 1] = {
               name = one.unmeasured and name .. ", unmeasured" or name,
               cycle = mixes.cycle(size), templates = made.made[i].templates or { [size] = made.frames[i] },
               direction = direction(plan, one.tx_port + 1, one.rx_port + 1),
            }
         end
      end
   end
   return list
end

--- The streams of a plan.
-- @param frame_sizes, modifiers  of the test frames that the method makes where the plan has no streams, or
--                                nil
-- @return list of { name =, direction = "east->west", cycle = sizes that come again and again, templates =
-- by size, fps = frames per second in the mean or nil where that is not known, most = frames after which it
-- is done or nil, load = the load if it is a constant one }; empty where the plan has no streams and its
-- method makes its own as it goes
function M.streams(plan, frame_sizes, modifiers)
   if plan.streams[1] then
      return own_streams(plan)
   end
   return frame_sizes and of_method(plan, frame_sizes, modifiers) or {}
end

-- From the start to the departure of the next frame, ns, of a constant load.
local function gap_after(stream, size)
   local l = stream.load
   if not (l and l.fps and l.fps > 0) then
      return 0
   elseif not l.overhead then
      return 1e9 / l.fps
   end
   local mean = stream.mean or sizes.describe(stream.cycle).mean
   stream.mean = mean
   return 1e9 / l.fps * (size + l.overhead) / (mean + l.overhead)
end

-- A frame that may have an error on purpose: its bytes, its departure, its errors.
local function faulty(stream, index, at, number, kinds, names)
   local size = stream.cycle[number % #stream.cycle + 1]
   local template = names[#names] == "oversize" and stream.oversize or stream.templates[size]
   return faults.make(stream.errors, template, index, number, kinds, at), at, names
end

--- The frames of a stream, in the order of departure.
-- @param index  of the stream in the list, its number in the signature
-- @return iterator: which departure of the stream it is, from 0, its bytes without FCS, when it leaves in ns
-- (0 where the load is not a constant one), and the names of the errors in it (framegauge.traffic.faults)
function M.of_stream(stream, index, count)
   count = math.min(count, stream.most or count)
   local time_ns, next_fault = 0, stream.errors and faults.departures(stream.errors)
   return function(_, number)
      number = number + 1
      if number < count then
         local at = math.floor(time_ns)
         local size = stream.cycle[number % #stream.cycle + 1]
         time_ns = time_ns + gap_after(stream, size)
         if next_fault then
            return number, faulty(stream, index, at, next_fault())
         end
         return number, frame.make(stream.templates[size], index, number, at), at, {}
      end
      return nil
   end, nil, -1
end

return M
