-- SPDX-License-Identifier: BSD-3-Clause

--- How many addresses does a bridge's table hold (RFC 2889, 5.7, with two ports)?
--
--    framegauge script scripts-lua/examples/mac-table.lua
--
-- A bridge that has learned the stations behind a port does not forward what they send to each other; what
-- it does not know it floods. So stations behind west introduce themselves, then one of them sends a frame to
-- each of them, and frames that come out at east are for stations that are not in the table. The most
-- stations are searched at which nothing does. RFC 2889 watches a third port for that; with two ports all
-- that is flooded comes out at the other one. Two more places are taken by the tester's own ports, which
-- announce themselves. Between trials a real bridge must have the time to forget: its ageing time.
local Tester = require "framegauge.tester"
local plan = require "framegauge.plan"
local stream_config = require "framegauge.stream_config"

local CAPACITY = 1234 -- of the reference device, to be found
local MOST, FPS, OWN = 4096, 10000, 2
local PLAN = [[
test: traffic
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, mac_table: {size: %d, ageing: 10s}}
streams:
   stations: {from: west, rate: %dfps, frame: [{ethernet: {
      source: {from: "02:00:00:10:00:00", count: %d}, destination: "02:00:00:00:00:01"}}, ipv4, udp]}
   between: {from: west, rate: %dfps, frame: [{ethernet: {
      source: "02:00:00:10:00:00", destination: {from: "02:00:00:10:00:00", count: %d}}}, ipv4, udp]}
]]

-- Frames to this number of stations that come through, though the bridge could know all of them.
local function flooded(stations)
   local text = PLAN:format(CAPACITY, FPS, stations, FPS, stations)
   local tester = assert(Tester.open(assert(plan.load_text(text, "built-in plan"))))
   local streams, counts = stream_config.streams(tester, stations / FPS), nil
   for i = 1, 2 do
      local raw = tester:trial { streams = { streams[i] }, learning_wait = 0, drain = 0.1, settle = 0 }
      counts = raw.directions[1]
      if counts.tx ~= stations then
         error(("%d of %d frames were sent"):format(counts.tx, stations))
      end
   end
   tester:close()
   return counts.rx
end

local low, high = 1, MOST
while low < high do
   local stations = math.ceil((low + high) / 2)
   local lost = flooded(stations)
   print(("%5d stations: %d unknown"):format(stations, lost))
   if lost == 0 then
      low = stations
   else
      high = stations - 1
   end
end
print(("the table holds %d addresses, %d of them the tester's"):format(low + OWN, OWN))
if low + OWN ~= CAPACITY then
   error("the reference device holds " .. CAPACITY)
end
