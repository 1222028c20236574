-- SPDX-License-Identifier: BSD-3-Clause

--- What the reference device does to frames on their path, told in a plan, as a trial counts it.
local Tester = require "framegauge.tester"
local impairments = require "framegauge.tester.impairments"
local plans = require "framegauge.plan"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: %s
rfc2544: {frame_sizes: [128]}
]]

local FRAMES = 20000

local function load(device)
   local plan, errors = plans.load_text(PLAN:format(device), "path.yaml")
   assert(plan, errors and tostring(errors[1]))
   return plan
end

-- Both ways of a trial, 20000 frames each, and before them one announcement, which takes the same path.
local function measure(device)
   local tester = assert(Tester.open(load(device)))
   local raw = tester:trial {
      frame_size = 128, fps = 100000, duration = FRAMES / 100000, directions = { "east->west", "west->east" },
      learning_wait = 0, drain = 0.1, settle = 0,
   }
   tester:close()
   return raw.directions[1], raw.directions[2], raw
end

describe("the path through the reference device", function()
   it("loses what the plan says, each way", function()
      local east, west = measure "{loss_every: 100, loss_run: 3, reverse: {loss_pattern: ..x.}}"
      assert.same({ FRAMES * 0.97, FRAMES / 100, 3 }, { east.rx, east.loss_bursts,
         east.loss_burst_max_frames })
      -- what the reverse does not say is as the first way, so that it loses 3 of 100 besides, one of them
      -- twice
      assert.equal(FRAMES * (0.75 - 0.02), west.rx)
   end)

   it("reorders every n-th by k places", function()
      local east, west = measure "{reorder: {every: 50, by: 4}, reverse: {reorder: {every: 20, by: 1}}}"
      assert.same({ FRAMES / 50, 4, FRAMES }, { east.reordered, east.reordering_extent_max_frames, east.rx })
      assert.same({ FRAMES / 20, 1, FRAMES }, { west.reordered, west.reordering_extent_max_frames, west.rx })
   end)

   it("duplicates", function()
      local east, west = measure "{duplicate: {every: 8, late: 10us}, reverse: {duplicate: {random: 100%}}}"
      assert.same({ FRAMES, FRAMES / 8 }, { east.rx, east.duplicates })
      assert.same({ FRAMES, FRAMES }, { west.rx, west.duplicates })
   end)

   it("delays by a distribution", function()
      local east, west = measure "{latency: 10us, jitter: {mean: 20us, reorders: true}, reverse: {jitter: 0}}"
      -- stored: 128 bytes at 1 Gb/s; then uniform from 0 to twice the mean, and of the 5 frames that may
      -- meet behind it one waits for the other to be on the line
      local least, line = 10000 + 128 * 8, 148 * 8
      assert.near(least, east.latency.min_ns, 40000 / 100)
      assert.is_true(east.latency.max_ns > least + 39600 and east.latency.max_ns < least + 40000 + 4 * line)
      assert.near(least + 20000, east.latency.mean_ns, 5 * 40000 / math.sqrt(12 * FRAMES) + line / 2)
      assert.is_true(east.reordered > 0)
      assert.same({ least, least, 0 }, { west.latency.min_ns, west.latency.max_ns, west.reordered })
   end)

   it("corrupts so that a test frame is still known, if its signature is spared", function()
      local east, west, raw = measure
         "{corrupt: {every: 10, skip: 42, spare: 18}, reverse: {corrupt: {every: 10, skip: 106}}}"
      assert.is_true(east.altered.wrong_payload > 0)
      assert.equal(FRAMES, east.rx + east.altered.wrong_payload)
      assert.is_true(west.rx < FRAMES and not west.altered)
      assert.equal(1, raw.ports[2].unsolicited) -- the announcement
   end)

   it("is foretold in a dry run", function()
      local function lost(device)
         return impairments.lost(load(device).reference_device, 1000)
      end
      assert.equal(0, lost "{}")
      assert.equal(30, lost "{loss_every: 100, loss_run: 3}")
      assert.equal(1000, lost "{loss_every: 100, loss_run: 100}")
      assert.equal(250, lost "{loss_pattern: ...x}")
      assert.equal(12, lost "{loss_random: 1.2%}")
      assert.equal(200, lost "{loss_bursts: {begin: 10%, end: 40%}}")
      assert.equal(1000, lost "{loss_pattern: x, loss_random: 5%}")
   end)
end)
