-- SPDX-License-Identifier: BSD-3-Clause

--- What the traffic of a measurement looks like: one plain stream, fields that vary, mixes, many streams.
local stream_config = require "framegauge.traffic.stream_config"
local tester = require "tester"

local M = {}

-- Fields of IPv4 and UDP that change from frame to frame, in the order in which they are taken.
local FIELDS = {
   { "ipv4", "source", "{from: 198.18.0.1, to: 198.18.255.254}" },
   { "ipv4", "destination", "{from: 198.19.0.1, to: 198.19.255.254}" },
   { "udp", "source", "{from: 1024, to: 65535}" },
   { "udp", "destination", "{from: 1024, to: 65535}" },
   { "ipv4", "id", "{from: 0, to: 65535}" },
   { "ethernet", "source", '{from: "02:00:00:00:00:00", to: "02:00:00:00:ff:ff"}' },
   { "ipv4", "dscp", "{from: 0, to: 63}" },
   { "ipv4", "ttl", "{from: 32, to: 127}" },
}

-- The stack in which the first n of them change.
local function stack(n)
   local fields = { ethernet = {}, ipv4 = {}, udp = {} }
   for i = 1, n do
      local protocol, field, values = unpack(FIELDS[i])
      table.insert(fields[protocol], field .. ": " .. values)
   end
   local layers = {}
   for i, protocol in ipairs { "ethernet", "ipv4", "udp" } do
      layers[i] = ("{%s: {%s}}"):format(protocol, table.concat(fields[protocol], ", "))
   end
   return "[" .. table.concat(layers, ", ") .. "]"
end

local function one(keys)
   return function(fps)
      return ("  s: {%s, rate: %.0ffps}\n"):format(keys, fps)
   end
end

--- A single stream in which n fields change.
function M.vary(n)
   return one("frame: " .. stack(n))
end

M.plain = one "size: 64"

--- A single stream of 7 frames of 64, 4 of 570 and 1 of 1518 bytes.
M.imix = one "size: imix"

--- Streams, n of the same rate, each to a UDP port of its own.
function M.streams(n)
   return function(fps)
      local list = {}
      for i = 1, n do
         list[i] = ("  s%d: {frame: [ethernet, ipv4, {udp: {destination: %d}}], rate: %.3ffps}\n"):format(i,
            1024 + i, fps / n)
      end
      return table.concat(list)
   end
end

--- Streams, n of rates that all differ.
function M.mixed(n)
   return function(fps)
      local list = {}
      for i = 1, n do
         list[i] = ("  s%d: {rate: %.3ffps}\n"):format(i, fps * 2 * i / (n * (n + 1)))
      end
      return table.concat(list)
   end
end

--- Open a bench whose plan has the streams of a shape.
-- @param cpus   as for tester.open
-- @param ports  the plan's ports, and its reference device
-- @param shape  one of the above
-- @param fps    frames per second of all streams together
function M.open(cpus, ports, shape, fps)
   return tester.open(cpus, "test: traffic\n" .. ports .. "streams:\n" .. shape(fps))
end

--- Send a plan's streams.
-- @param bench     as open() gave it
-- @param seconds   of traffic
-- @param measured  measure all that the test "traffic" does, and not only what every trial does
-- @return the trial's counts
function M.send(bench, seconds, measured)
   local list = stream_config.streams(bench, seconds)
   for _, stream in ipairs(measured and {} or list) do
      stream.measure, stream.over_time, stream.t_max = nil, nil, nil
   end
   -- the ports' time goes on while many streams are compiled
   return bench:trial { streams = list, learning_wait = 0.2 + #list / 4000, drain = 0.001, settle = 0 }
end

return M
