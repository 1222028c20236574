-- SPDX-License-Identifier: BSD-3-Clause

--- What traffic costs that is more than one plain stream: fields that vary, a mix of sizes, many streams.
-- Each is beside the plain stream on the same device and, where testpmd has its like, beside that.
local job = require "framegauge.core.job"
local shapes = require "shapes"
local tester = require "tester"
local testpmd = require "testpmd"

local NULL = [[
ports:
  east: {device: "vdev:net_null_east,no-rx=1", line_rate: 800Gbps, ipv4: 198.18.1.2/24}
  west: {device: "vdev:net_null_west,no-rx=1", line_rate: 800Gbps, ipv4: 198.19.1.2/24}
]]
local WIRE = [[
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24}
  west: {device: wire1, ipv4: 198.19.1.2/24}
reference_device: {rate: 10Gbps, buffer: 512, latency: 20us, time: free}
]]
local BEYOND, BEYOND_MIX = 1e9, 2e8 -- frames per second nobody can make, and a line could carry
local LINE_10G = 14.88e6
local SECONDS = 0.5 -- of each measurement
local WIRE_SECONDS = 0.1 -- of the wire's time; and nine times as much

-- Frames per second that leave for the null device.
local function send(cpus, shape, fps)
   return tester.with(shapes.open(cpus, NULL, shape, fps), function(bench)
      local frames, ns = 0, 0
      for _, stream in ipairs(shapes.send(bench, SECONDS).directions) do
         frames, ns = frames + stream.tx, math.max(ns, stream.tx_duration_ns)
      end
      return frames / ns * 1e9
   end)
end

-- What the lcore needs for a trial, seconds of its own time, and the frames that were measured.
local function carry_for(bench, seconds, measured)
   local clock, frames = tester.worker_clock(), 0
   local begin = clock()
   for _, stream in ipairs(shapes.send(bench, seconds, measured).directions) do
      if stream.rx ~= stream.intended_frames then
         error(("%d of %d frames of a stream came through"):format(stream.rx, stream.intended_frames), 0)
      end
      frames = frames + stream.rx
   end
   return clock() - begin, frames
end

-- Frames per second of the lcore's own time that go over the wire and are measured. By the difference of two
-- trials: until thousands of streams are compiled the lcore looks again and again whether they are.
local function carry(cpus, shape, measured)
   return tester.with(shapes.open(cpus, WIRE, shape, LINE_10G), function(bench)
      local short, few = carry_for(bench, WIRE_SECONDS, measured)
      local long, many = carry_for(bench, 9 * WIRE_SECONDS, measured)
      return (many - few) / (long - short)
   end)
end

-- What is sent to the null device, beside one plain stream and, if asked for, testpmd's flowgen.
local function sent(what, shape, o)
   local work = { what = what }
   function work.start(machine)
      local peer = o.flowgen and machine.peers and testpmd.start({ main = machine.main,
         forwarder = machine.worker }, { "net_null0,no-rx=1" }, { "--txpkts=60", "--forward-mode=flowgen" })
      local peers = { { name = "one plain stream", measure = function()
         return send(machine, shapes.plain, BEYOND)
      end } }
      if o.flowgen then
         table.insert(peers, { name = "testpmd flowgen", aim = o.aim, measure = peer and function()
            peer:command("start")
            job.sleep(0.1)
            local fps = peer:rate("Tx", { 0 }, SECONDS)
            peer:command("stop")
            return fps
         end })
      end
      return {
         ours = function()
            return send(machine, shape, o.fps or BEYOND)
         end,
         peers = peers,
         close = function()
            return peer and peer:close()
         end,
      }
   end
   return work
end

-- What goes over the wire, beside one plain stream.
local function carried(what, shape, measured)
   local work = { what = what }
   function work.start(machine)
      return {
         ours = function()
            return carry(machine, shape, measured)
         end,
         peers = { { name = "one plain stream", measure = function()
            return carry(machine, shapes.plain)
         end } },
         close = function() end,
      }
   end
   return work
end

--- The works, by name.
return {
   fields1 = sent("tx, 1 field varies, checksums right", shapes.vary(1), { flowgen = true }),
   fields4 = sent("tx, 4 fields vary, checksums right", shapes.vary(4), { flowgen = true, aim = 1 }),
   fields8 = sent("tx, 8 fields vary, checksums right", shapes.vary(8), { flowgen = true }),
   imix = sent("tx, IMIX 7:4:1", shapes.imix, { fps = BEYOND_MIX }),
   streams100 = sent("tx, 100 streams of one rate", shapes.streams(100), {}),
   streams1000 = sent("tx, 1,000 streams of one rate", shapes.streams(1000), {}),
   streams10000 = sent("tx, 10,000 streams of one rate", shapes.streams(10000), {}),
   rates100 = sent("tx, 100 streams of as many rates", shapes.mixed(100), {}),
   rates10000 = sent("tx, 10,000 streams of as many rates", shapes.mixed(10000), {}),
   wire100 = carried("wire with 100 streams", shapes.streams(100)),
   wire1000 = carried("wire with 1,000 streams", shapes.streams(1000)),
   wire10000 = carried("wire with 10,000 streams", shapes.streams(10000)),
   measured = carried("wire with all measured that can be", shapes.plain, true),
}
