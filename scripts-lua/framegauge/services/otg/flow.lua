-- SPDX-License-Identifier: BSD-3-Clause

--- A flow of the API as a stream: the template of its frames, their sizes, their times.
local ethernet = require "framegauge.core.ethernet"
local frame = require "framegauge.traffic.frame"
local headers = require "framegauge.services.otg.headers"
local octets = require "framegauge.core.octets"
local read = require "framegauge.services.otg.read"
local sizes = require "framegauge.traffic.sizes"
local tables = require "framegauge.core.tables"
local tags = require "framegauge.services.otg.tags"

local M = {}

local FCS, SIGNATURE = 4, 18
local LARGEST, SMALLEST = 16128, 64
local PARTS = 4096 -- frames in which weights are told apart
local ENDLESS_LAG = 3600 -- seconds that a frame may be late where all of them must be sent

local MIXES = {
   imix = { { 64, 7 }, { 570, 4 }, { 1518, 1 } },
   standard_imix = { { 58, 58.67 }, { 62, 2 }, { 594, 23.66 }, { 1518, 15.67 } },
   ipsec_imix = { { 90, 58.67 }, { 92, 2 }, { 594, 23.66 }, { 1418, 15.67 } },
   ipv6_imix = { { 60, 58.67 }, { 496, 2 }, { 594, 23.66 }, { 1518, 15.67 } },
   tcp_imix = { { 90, 58.67 }, { 92, 2 }, { 594, 23.66 }, { 1518, 15.67 } },
}

local function weighted(pairs_of)
   local sum, mix = 0, {}
   for _, pair in ipairs(pairs_of) do
      sum = sum + pair[2]
   end
   for i, pair in ipairs(pairs_of) do
      mix[i] = { size = pair[1], weight = math.max(1, math.floor(pair[2] / sum * PARTS + 0.5)) }
   end
   return sum > 0 and sizes.cycle { mix = mix, order = "random" } or nil
end

-- The sizes of a flow, one frame after the other: function(size, path, found).
local cycle_of = {}

function cycle_of.fixed(size)
   return { size.fixed }
end

function cycle_of.increment(size, path, found)
   local o = size.increment
   if o.step == 0 or o["end"] < o.start then
      return found:fault(path .. ".increment", "start %d, end %d, step %d is no range", o.start, o["end"],
         o.step)
   end
   return sizes.cycle { from = o.start, to = math.min(o["end"], LARGEST), step = o.step }
end

function cycle_of.random(size, path, found)
   local o = size.random
   if o.min > o.max or o.max > LARGEST then
      return found:fault(path .. ".random", "%d to %d is no range of sizes; at most %d", o.min, o.max,
         LARGEST)
   end
   return sizes.cycle { random = ("%d-%d"):format(math.max(SMALLEST, o.min), o.max) }
end

function cycle_of.weight_pairs(size, path, found)
   local o = size.weight_pairs
   if o.choice == "predefined" then
      return weighted(MIXES[o.predefined])
   end
   local list = tables.map(o.custom, function(pair) return { pair.size, math.max(0, pair.weight) } end)
   return list[1] and weighted(list) or found:fault(path .. ".weight_pairs.custom", "has no weights")
end

-- Raise the sizes below the least one. @return the cycle, nil after a fault
local function enough_room(cycle, size, least, why, c)
   local path, low = c.path .. ".size", 0
   for i, one in ipairs(cycle) do
      if one < least or one < SMALLEST then
         cycle[i], low = math.max(least, SMALLEST), low + 1
      end
      if one > LARGEST then
         return c.found:fault(path, "%d is above %d", one, LARGEST)
      end
   end
   if low > 0 and size.choice == "fixed" then
      return c.found:fault(path .. ".fixed", "%d is too small; at least %d%s", size.fixed, cycle[1],
         least > SMALLEST and why or "")
   elseif low > 0 then
      c.found:warn(path, "sizes below %d are sent with %d", math.max(least, SMALLEST), math.max(least,
         SMALLEST))
   end
   return cycle
end

-- Bytes or words that count up or down.
local function counting_payload(choice)
   local out, up = {}, choice:find "^increment" ~= nil
   if choice:find "byte$" then
      for i = 0, 255 do
         out[i + 1] = string.char(up and i or 255 - i)
      end
   else
      for i = 0, LARGEST / 2 do
         out[i + 1] = octets.of_number(up and i or 65535 - i, 2)
      end
   end
   return table.concat(out)
end

local counting_payloads = {} -- by choice: many flows have the same one

-- What a payload repeats.
local function payload_of(payload)
   if payload.choice == "fixed" then
      local text = read.bytes(payload.fixed.pattern)
      return payload.fixed["repeat"] and text or text .. ("\0"):rep(math.max(0, LARGEST - #text))
   end
   if not counting_payloads[payload.choice] then
      counting_payloads[payload.choice] = counting_payload(payload.choice)
   end
   return counting_payloads[payload.choice]
end

-- Bytes in front of each layer.
local function offsets_of(layers)
   local offsets, before = {}, {}
   for i, layer in ipairs(layers) do
      offsets[i] = before[1] and frame.build(LARGEST, before).header or 0
      before[i] = { layer[1], fields = layer.fields }
   end
   return offsets
end

local LENGTHS = { ipv4 = 0, ipv6 = 40, udp = 0 } -- bytes of the header that the field `length` leaves out

-- Where the headers hold a second Ethernet frame, its FCS takes the last bytes: what must be written then.
-- @return function(size) -> layers
local function with_inner_fcs(layers)
   local inner
   for i = #layers, 2, -1 do
      inner = inner or layers[i][1] == "ethernet" and i or nil
   end
   if not inner then
      return function()
         return layers
      end
   end
   local offsets = offsets_of(layers)
   return function(size)
      local list = {}
      for i, layer in ipairs(layers) do
         list[i] = layer
         if i > inner and LENGTHS[layer[1]] then
            local fields = { { name = "length", value = size - 2 * FCS - offsets[i] - LENGTHS[layer[1]] } }
            tables.append(fields, layer.fields)
            list[i] = { layer[1], fields = fields, bytes = layer.bytes }
         end
      end
      return list
   end
end

-- A builder of a flow's templates: function(size) -> the template, or nil and the reason. Each is
-- built once. What is not measured leaves as it is described.
local function builder(layers, payload, c)
   local at_size = c.inner_fcs and with_inner_fcs(layers) or function()
      return layers
   end
   local o, by_size = { payload = payload, unsigned = not c.is_measured }, {}
   return function(size)
      if not by_size[size] then
         local ok, template = pcall(frame.build, size, at_size(size), o)
         if not ok then
            return nil, (tostring(template):gsub("\n.*", ""))
         end
         by_size[size] = template
      end
      return by_size[size]
   end
end

-- The templates of all sizes, by size; nil after a fault.
local function templates_of(build, cycle, c)
   local by_size = {}
   for _, size in ipairs(cycle) do
      local template, why = build(size)
      if not template then
         return c.found:fault(c.path .. ".packet", "%s", why)
      end
      by_size[size] = template
   end
   return by_size
end

-- Bytes of the headers; nil after a fault. A frame of the flow has them, or, where it is too small, the
-- largest.
local function header_bytes(build, size, c)
   local template, why = size and build(size)
   if not template then
      template, why = build(LARGEST)
   end
   return template and template.header or c.found:fault(c.path .. ".packet", "%s", why)
end

-- Is the MAC that frames go to left to the server?
local function is_auto(packet)
   local first = packet[1].ethernet
   return first ~= nil and (first.dst == nil or first.dst.choice == "auto")
end

-- The layers, with one MAC after the other that frames go to.
local function layers_to(layers, macs, c)
   local first = { layers[1][1], fields = {}, bytes = layers[1].bytes }
   for i, field in ipairs(layers[1].fields) do
      first.fields[i] = field.name == "destination" and headers.destination(macs, c) or field
   end
   return tables.joined({ first }, { unpack(layers, 2) })
end

-- Frames of a flow: template, sizes.
local function frames_of(flow, c)
   local before = #c.found.errors
   local packet = flow.packet[1] and flow.packet or { read.default "FlowHeader" }
   local layers = headers.layers(packet, c.path .. ".packet", c.found)
   if #c.found.errors > before then
      return nil
   end
   local payload = payload_of(flow.payload or read.common_default "FlowPayload")
   local build, size = builder(layers, payload, c), flow.size or read.default "FlowSize"
   local cycle = cycle_of[size.choice](size, c.path .. ".size", c.found)
   local header = header_bytes(build, cycle and cycle[1], c)
   if not (header and cycle) then
      return nil
   end
   local least = header + (c.is_measured and SIGNATURE or 0) + FCS
   if not flow.size and least > size.fixed then
      cycle[1] = least
      c.found:warn(c.path .. ".size", "none given; %d, as the headers need it", least)
   end
   cycle = enough_room(cycle, size, least, c.is_measured and " for the headers and the test signature"
      or " for the headers", c)
   local templates = cycle and templates_of(build, cycle, c)
   local function templates_to(macs)
      return templates_of(builder(layers_to(layers, macs, c), payload, c), cycle, c)
   end
   return templates and { cycle = cycle, templates = templates, about = sizes.describe(cycle),
      templates_to = c.is_device and is_auto(packet) and templates_to or nil }
end

local BITS = { bps = 1, kbps = 1e3, mbps = 1e6, gbps = 1e9 }

-- Frames per second, and whether bits and not frames are evenly spaced.
local function rate_of(rate, about, line_rate)
   if rate.choice == "pps" then
      return rate.pps, nil
   end
   local bps = rate.choice == "percentage" and rate.percentage / 100 * line_rate
      or rate[rate.choice] * BITS[rate.choice]
   return bps / ((about.mean + ethernet.OVERHEAD) * 8), ethernet.OVERHEAD
end

local PER_SECOND = { nanoseconds = 1e-9, microseconds = 1e-6 }

-- Seconds of a delay or gap; bytes at the rate of the line.
local function seconds_of(o, line_rate)
   return o.choice == "bytes" and o.bytes * 8 / line_rate or o[o.choice] * PER_SECOND[o.choice]
end

local PREAMBLE = 8

-- The load of each kind of duration: function(o, load, c) changes { fps =, overhead = }
local shape = {}

function shape.continuous(_, load, c)
   load.max_lag = c.max_lag
end

function shape.fixed_packets(o, load)
   load.frames, load.max_lag = o.packets, ENDLESS_LAG
end

function shape.fixed_seconds(o, load, c)
   load.seconds, load.timed, load.max_lag = math.max(o.seconds, 1e-9), true, c.max_lag
end

function shape.burst(o, load, c)
   if c.over_lag then
      return c.found:fault(c.path .. ".duration.burst", "not supported over a LAG")
   end
   local gap = seconds_of(o.inter_burst_gap or read.default "FlowDurationInterBurstGap", c.line_rate)
   local inside = load.fps
   local period = (o.packets - 1) / inside + (c.about.mean + PREAMBLE) * 8 / c.line_rate + gap
   load.shape, load.burst, load.burst_fps = "bursts", o.packets, inside
   load.fps = o.packets / math.max(period, o.packets / inside)
   load.frames, load.max_lag, load.overhead = o.bursts > 0 and o.bursts * o.packets or nil, ENDLESS_LAG, nil
end

-- The load of a flow, its delay and its share of the line; nil after a fault.
local function load_of(flow, about, c)
   local rate = flow.rate or read.default "FlowRate"
   local duration = flow.duration or read.default "FlowDuration"
   local fps, overhead = rate_of(rate, about, c.line_rate)
   local l1_bps = fps * (about.mean + ethernet.OVERHEAD) * 8
   if fps <= 0 then
      return c.found:fault(c.path .. ".rate", "0 sends nothing")
   elseif l1_bps > c.line_rate * 1.0001 then
      return c.found:fault(c.path .. ".rate",
         "%.0f bit/s at layer 1 is more than the line carries, %.0f bit/s",
         l1_bps, c.line_rate)
   end
   local o, load = duration[duration.choice], { fps = fps, overhead = about.kinds[2] and overhead or nil }
   shape[duration.choice](o, load, { about = about, line_rate = c.line_rate, max_lag = c.max_lag,
      over_lag = c.over_lag, found = c.found, path = c.path })
   if o.gap ~= 12 then
      c.found:warn(("%s.duration.%s.gap"):format(c.path, duration.choice), "is ignored; the rate decides")
   end
   return {
      load = load, l1_bps = l1_bps, delay = o.delay and seconds_of(o.delay, c.line_rate) or 0,
   }
end

local function check_metrics(metrics, c)
   local path = c.path .. ".metrics"
   if metrics.latency and metrics.latency.enable and not metrics.enable then
      c.found:fault(path .. ".latency.enable", "needs metrics.enable")
   end
   local predefined = metrics.predefined_metric_tags
   if predefined and predefined.rx_name and not metrics.enable then
      c.found:fault(path .. ".predefined_metric_tags.rx_name", "needs metrics.enable")
   end
end

--- Translate one.
-- @param flow  Flow that was read
-- @param c     { found =, path = of the flow, line_rate = bit/s, max_lag = seconds that a frame may be late
--              where time is kept, inner_fcs =, is_device = whether it is between devices, over_lag = whether
--              it leaves over a LAG }
-- @return { name =, cycle = sizes, templates = by size, templates_to = function(list of MACs) -> templates
-- whose frames go to one after the other, where the flow leaves that open, about = of the sizes, load =,
-- delay = seconds, l1_bps =, metrics =, tags = (services.otg.tags) or nil }; nil after a fault
function M.stream(flow, c)
   local metrics = flow.metrics or read.default "FlowMetrics"
   check_metrics(metrics, c)
   c.is_measured = metrics.enable
   local tags_of_flow = tags.read(flow, c.path, c.found)
   local frames = frames_of(flow, c)
   local times = frames and load_of(flow, frames.about, c)
   return times and {
      name = flow.name, cycle = frames.cycle, templates = frames.templates,
      templates_to = frames.templates_to, about = frames.about, load = times.load,
      delay = times.delay, l1_bps = times.l1_bps, metrics = metrics, tags = tags_of_flow,
   }
end

return M
