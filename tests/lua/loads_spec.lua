-- SPDX-License-Identifier: BSD-3-Clause

-- Loads of the plan's streams: the arithmetic of rates and mixes, and that what is sent is what was asked.
local Tester = require "framegauge.tester"
local loads = require "framegauge.traffic.loads"
local plans = require "framegauge.plan"
local sizes = require "framegauge.traffic.sizes"
local stream_config = require "framegauge.traffic.stream_config"

local IMIX = sizes.describe(sizes.cycle { list = { "imix" } })

local function rate(value, unit, layer)
   return { value = value, unit = unit, layer = layer }
end

describe("the rate of a mix", function()
   it("is that of its mean size", function()
      assert.near(3343736.07, loads.fps(rate(1, "ratio"), IMIX, 10e9, 0), 0.1)
      assert.near(3343736.07, loads.fps(rate(10e9, "bps", 1), IMIX, nil, 0), 0.1)
      assert.near(1e9 / (8 * 4246 / 12), loads.fps(rate(1e9, "bps", 2), IMIX, nil, 0), 1e-3)
      assert.near(1e9 / (8 * (4246 / 12 - 22)), loads.fps(rate(1e9, "bps", 3), IMIX, nil, 1), 1e-3)
      assert.equal(1000, loads.fps(rate(1000, "fps"), IMIX, nil, 0))
      assert.is_nil(loads.fps(rate(1, "ratio"), IMIX, nil, 0))
   end)

   it("has nine times between ten frames of a burst, and the gap behind the last", function()
      local load = loads.of({ rate = rate(1, "ratio"), burst = 10, gap = 1e-3, within = rate(100000, "fps") },
         { sizes = IMIX, bps = 10e9, tags = 0 }, 1)[1]
      assert.near(10 / (9 / 100000 + 1e-3), load.fps, 1e-6)
   end)
end)

describe("the frames of a profile", function()
   local function frames(profile, seconds)
      return loads.frames(loads.of({ profile = profile }, { sizes = IMIX, tags = 0 }, seconds))
   end
   local function step(fps, seconds)
      return { rate = rate(fps, "fps"), ["for"] = seconds }
   end

   it("are counted over all its steps", function()
      assert.equal(1400, frames({ step(1400, 1e-3) }, 1))
      assert.equal(100, frames({ step(100, 1e-3) }, 1))
      assert.equal(775, frames({
         { from = rate(0, "fps"), to = rate(1500, "fps"), over = 1e-3 },
         { from = rate(1500, "fps"), to = rate(100, "fps"), over = 1e-3 },
      }, 1))
      -- the first frame of a pause's predecessor leaves at once, and only the last step rounds
      assert.equal(1, frames({ step(100, 1e-3), step(0, 1) }, 1))
      assert.equal(0, frames({ step(100, 1e-3) }, 1e-3))
   end)
end)

local HEAD = [[
test: traffic
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24}
  west: {device: wire1, ipv4: 198.19.1.2/24}
reference_device: {rate: 1Gbps, buffer: 4096, latency: 20us}
streams:
]]

-- Run streams for half a second of the wire's time. @return counts by name
local function run(text)
   local plan, errors = plans.load_text(HEAD .. text, "plan")
   assert(plan, errors and tostring(errors[1]))
   local tester = assert(Tester.open(plan))
   local ok, raw = pcall(tester.trial, tester, {
      streams = stream_config.streams(tester, 0.5), learning_wait = 0.01, drain = 0.1, settle = 0,
   })
   tester:close()
   assert(ok, raw)
   local by_name = {}
   for _, direction in ipairs(raw.directions) do
      by_name[direction.name] = direction
      assert.equal(direction.intended_frames, direction.tx, direction.name)
      assert.equal(direction.tx, direction.rx, direction.name)
   end
   return by_name
end

describe("streams of the plan", function()
   it("send what was asked for, side by side", function()
      local got = run [[
  mix: {size: imix, rate: 20%}
  bits: {size: {genome: ag, order: random}, rate: 100Mbps L2}
  frames: {size: [64, 1518], rate: 1234fps}
  bursts: {rate: {rate: 8kfps, burst: 80}}
  spaced: {rate: {burst: 10, per_second: 100, within: 100kfps}}
  apart: {rate: {burst: 10, gap: 10ms, within: 100kfps}}
  ramp: {rate: {from: 1kfps, to: 3kfps, over: 300ms}}
  back: {from: west, rate: {profile: [{rate: 1kfps, for: 100ms}, {from: 1kfps, to: 3kfps, over: 100ms}]}}
  random: {rate: {poisson: 10kfps, seed: 4}}
]]
      local function near(expected, name)
         assert.near(expected, got[name].tx, 1, name)
      end
      near(0.2 * 0.5 * 1e9 / (8 * (4246 / 12 + 20)), "mix")
      near(0.5 * 100e6 / (8 * 791), "bits")
      near(617, "frames")
      near(4000, "bursts")
      near(500, "spaced")
      near(500, "apart") -- each 10.09 ms one begins: 50 in half a second, and all are whole
      near(600, "ramp")
      near(100 + 200 + 100 + 200 + 100, "back")
      assert.near(5000, got.random.tx, 4 * math.sqrt(5000))
   end)

   it("are spread over the line", function()
      local lines = {}
      for i = 1, 50 do
         lines[i] = ("  s%d: {rate: 2%%}\n"):format(i)
      end
      for _, direction in pairs(run(table.concat(lines))) do
         -- stored 512 ns, 20 us in the device; no frame waits for one of another stream
         assert.near(20512, direction.latency.max_ns, 1)
      end
   end)
end)
