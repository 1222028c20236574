-- SPDX-License-Identifier: BSD-3-Clause

-- Mixes of frame sizes, and marks, in the tests of RFC 2544, held against arithmetic. The reference device
-- takes for each frame the time of the line or of its capacity, whichever is longer.
local files = require "framegauge.text.json"
local mixes = require "framegauge.core.mixes"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local Tester = require "framegauge.tester"
local uv = require "luv"

local PLAN = [[
ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}
test: rfc2544
]]
local RUN = PLAN .. [[
reference_device: {rate: 100Mbps, capacity: 20kfps, buffer: 8, latency: 20us}
rfc2544:
  frame_sizes: [imix, 512, emix]
  tests: [throughput, latency, frame_loss, back_to_back]
  bidirectional: false
  learning_wait: 10ms
  drain: 20ms
  settle: 0
  throughput: {trial: 500ms, search_trial: 50ms}
  latency: {rate: 1200fps, trial: 100ms, tag_after: 50ms, repetitions: 60}
  frame_loss: {trial: 50ms, step: 10%}
  back_to_back: {limit: 50ms, repetitions: 1}
]]

local RATE, CAPACITY, OVERHEAD = 1e8, 20e3, 20

local function seconds(bytes)
   return bytes * 8 / RATE
end

-- Seconds that the device takes for a frame, in the mean of a cycle.
local function forwarding(size)
   local sum, cycle = 0, mixes.cycle(size)
   for _, one in ipairs(cycle) do
      sum = sum + math.max(1 / CAPACITY, seconds(one + OVERHEAD))
   end
   return sum / #cycle
end

-- Frames that a queue of 8 loses of frames that leave the tester evenly by their bits. A frame that comes
-- while the queue is full is lost, small frames more often than large ones.
local function lost_of(size, fps, frames)
   local cycle, lost, begins, free, queue = mixes.cycle(size), 0, 0, 0, {}
   local second_per_byte = 1 / (fps * (mixes.mean(size) + OVERHEAD))
   for i = 0, frames - 1 do
      local one = cycle[i % #cycle + 1]
      local there = begins + seconds(one)
      while queue[1] and queue[1] <= there do
         table.remove(queue, 1)
      end
      if #queue >= 8 then
         lost = lost + 1
      else
         local start = math.max(there, free)
         free = start + math.max(1 / CAPACITY, seconds(one + OVERHEAD))
         queue[#queue + 1] = start
      end
      begins = begins + (one + OVERHEAD) * second_per_byte
   end
   return lost
end

local function problem(group, ports)
   local plan, errors = plans.load_text((ports or PLAN) .. "reference_device: {rate: 100Mbps}\nrfc2544: {"
      .. group .. "}\n", "x.yaml", {})
   return plan == nil and tostring(errors[1]) or nil, plan
end

describe("a mix of frame sizes", function()
   local result, text

   setup(function()
      local path, plan = scratch.path(), scratch.path() .. ".yaml"
      scratch.write(plan, RUN)
      local status
      text, status = scratch.shell(("'%s' run '%s' --out '%s' 2>&1"):format(uv.exepath(), plan, path))
      assert(status == 0, text)
      result = files.decode(scratch.read(path .. "/result.json"))
      result.csv = scratch.read(path .. "/throughput.csv")
      result.html = scratch.read(path .. "/report.html")
   end)
   teardown(scratch.remove)

   it("has the throughput and the line rate of its sizes", function()
      for _, row in ipairs(result.results.throughput) do
         local mean, whole = mixes.mean(row.frame_size), 1 / forwarding(row.frame_size)
         assert.equal(math.floor(RATE / 8 / (mean + OVERHEAD)), row.theoretical_fps)
         assert.equal("valid", row.validity)
         -- a buffer of 8 frames lets a trial of half a second pass that is 16 frames/s above the capacity
         assert.near(whole + 8, row.throughput_fps, 16 + 2e-3 * row.theoretical_fps)
         assert.near(row.throughput_fps * mean * 8 / 1e6, row.throughput_l2_mbps, 1e-6)
         assert.near(row.throughput_fps * (mean + OVERHEAD) * 8 / 1e6, row.throughput_l1_mbps, 1e-6)
      end
   end)

   it("has the mean latency of its sizes, first bit to first bit, by the tagged frames too", function()
      for _, row in ipairs(result.results.latency) do
         if row.frame_size ~= 512 then
            local stored = 20e3 + seconds(mixes.mean(row.frame_size)) * 1e9
            assert.equal("fifo", row.definition)
            assert.equal(60, row.tagged_frames)
            -- 120 frames of each trial, and 60 tags: multiples of both cycles
            assert.near(stored, row.every_frame_latency.mean_ns, 20)
            assert.near(stored, row.latency_mean_ns, 20)
         end
      end
   end)

   it("loses what the device has no time for", function()
      local seen = {}
      for _, row in ipairs(result.results.frame_loss) do
         local lost = lost_of(row.frame_size, row.intended_fps, row.tx)
         assert.near(lost, row.lost, lost == 0 and 0 or 0.02 * lost + 2, row.frame_size)
         seen[row.frame_size] = true
      end
      assert.same({ imix = true, [512] = true, emix = true }, seen)
   end)

   it("fills the buffer by its burst", function()
      for _, row in ipairs(result.results.back_to_back) do
         local line, own = seconds(mixes.mean(row.frame_size) + OVERHEAD), forwarding(row.frame_size)
         -- 8 frames wait and one is under way; where in the cycle the buffer is full shifts it by some frames
         assert.near(9 * own / (own - line), row.burst_mean_frames, 12)
      end
   end)

   it("stands in tables, files and charts by its name", function()
      assert.matches("throughput  imix  trial 1 ", text, 1, true)
      assert.matches("\n imix  a%->b ", text)
      assert.matches("^frame_size,.-\nimix,a%->b", result.csv)
      assert.matches("Throughput at 512 bytes", result.html, 1, true)
      assert.matches(">imix</text>", result.html, 1, true)
      assert.is_nil(result.html:find("mix bytes", 1, true))
   end)

   it("is refused where frames of one size are counted", function()
      local expected = { ["tests: [bursty_traffic]"] = "counts pauses in frame times",
         ["modifiers: [broadcast]"] = "broadcasts take turns",
         ["tests: [throughput, reset]"] = "reset counts time in gaps between frames",
         ["tests: [latency], latency: {definition: lifo}"] = "lifo takes off the time of a frame" }
      for group, why in pairs(expected) do
         assert.matches("not imix: .*" .. why, problem("frame_sizes: [64, imix], " .. group))
      end
      local late = "frame_sizes: [imix], tests: [latency], latency: {rate: 100fps, trial: 200ms, tag_after: %s}"
      assert.matches("each repetition of imix tags the next frame, up to 110 ms later", problem(late:format "100ms"))
      assert.is_nil(problem(late:format "80ms"))
      local _, errors = plans.load_text((PLAN:gsub("rfc2544", "rfc2889"))
         .. "reference_switch: {}\nrfc2889: {frame_sizes: [imix]}\n", "x.yaml", {})
      assert.matches("imix is a mix of sizes; expected one size", tostring(errors[1]), 1, true)
   end)

   it("is refused where streams share a port", function()
      local plan = assert(plans.load_text(PLAN .. "reference_device: {rate: 100Mbps}\n", "x.yaml", {}))
      local tester = assert(Tester.open(plan))
      local ok, err = pcall(tester.trial, tester, { frame_size = "imix", fps = 1000, duration = 0.01,
         directions = { "a->b" }, burst = { frames = 4, interval_frames = 8 } })
      tester:close()
      assert.is_false(ok)
      assert.matches("neither in bursts nor in turn", tostring(err), 1, true)
   end)
end)

describe("marks of RFC 2544", function()
   local TAGGED = PLAN:gsub("24}", "24, vlan: 100}")
   local MARKS = "outer_vlan: 200, pcp: 5, dei: true, dscp: 46"

   it("are in every test frame, the priority in the outermost tag", function()
      local path = scratch.path() .. ".yaml"
      scratch.write(path, TAGGED .. "reference_device: {rate: 100Mbps}\nrfc2544: {frame_sizes: [72], "
         .. MARKS .. "}\n")
      local text = scratch.shell(("'%s' frames '%s'"):format(uv.exepath(), path))
      scratch.remove()
      local count = 0
      for tags in text:gmatch "(88 a8 b0 c8\n.-)45 b8" do -- 5 and DEI in VLAN 200; IPv4 with DSCP 46
         assert.matches("81 00 00 64 08 00 $", tags)
         count = count + 1
      end
      assert.equal(2, count)
   end)

   it("need a tag, and room for it", function()
      for _, mark in ipairs { "outer_vlan: 200", "pcp: 5", "dei: true" } do
         local text = problem("frame_sizes: [128], " .. mark)
         assert.matches("expected a vlan at every port", text, 1, true)
      end
      assert.matches("64 bytes do not hold an IPv4 test frame with two VLAN tags; expected at least 72: a tag counts as part of the frame", problem("frame_sizes: [64], " .. MARKS, TAGGED), 1, true)
      assert.matches("imix: 64 bytes do not hold", problem("frame_sizes: [imix]", TAGGED), 1, true)
   end)
end)
