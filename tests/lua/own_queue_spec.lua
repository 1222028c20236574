-- SPDX-License-Identifier: BSD-3-Clause

-- A delay begins when a frame's first bit leaves the tester, and does not contain the wait for other frames
-- of the tester's own port: devices with one delay for all frames, which several streams, a mix and random
-- departures find, and captures in which no frame leaves before the one ahead of it has.
--
-- FRAMEGAUGE_DRAWS=1000 in the environment draws as many sets of streams; FRAMEGAUGE_SEED another sequence.
local files = require "framegauge.text.json"
local late_frames = require "late_frames"
local own_queue = require "framegauge.traffic.own_queue"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local stream_config = require "framegauge.traffic.stream_config"
local uv = require "luv"

local PORTS = [[
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
]]
local TRAFFIC = PORTS .. [[
test: traffic
reference_device: {rate: %gMbps, latency: 20us, switching: cut-through}
traffic: {duration: 500ms, learning_wait: 10ms, drain: 100ms}
streams:
]]
local OVERHEAD, HEADER = 20, 14 -- bytes: preamble and gap; what a cut-through device reads before it sends

-- Runs a plan. @return the result, what was printed
local function run(text, options)
   local path, plan = scratch.path(), scratch.path() .. ".yaml"
   scratch.write(plan, text)
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), plan, path,
      options or ""))
   assert(status == 0 or status == 1 or status == 3, output)
   return files.decode(scratch.read(path .. "/result.json")), output
end

-- The rows of streams, in a valid result.
local function streams(...)
   local result = run(...)
   assert.equal("valid", result.validity)
   return result.results.traffic
end

-- Each stream has the one delay of the device.
local function constant(rows, delay_ns, why)
   for _, row in ipairs(rows) do
      local l, m = row.latency, row.measured
      assert.same({ 0, delay_ns, delay_ns, delay_ns, 0, 0 }, { row.lost, l.min_ns, l.mean_ns, l.max_ns,
         m.jitter_max_ns, m.pdv_max_ns }, row.stream .. (why or ""))
   end
end

-- By the capture: how far, in ns, a frame began before the one ahead of it had left the line.
local function overlap(path, mbps)
   local all, most = {}, -math.huge
   for _, frames in ipairs(late_frames.read(path)) do
      for _, frame in ipairs(frames) do
         all[#all + 1] = frame
      end
   end
   table.sort(all, function(one, other) return one.stamp < other.stamp end)
   for i = 2, #all do
      most = math.max(most, all[i - 1].stamp + (all[i - 1].size + OVERHEAD) * 8e3 / mbps - all[i].stamp)
   end
   return most
end

describe("a delay", function()
   teardown(scratch.remove)

   it("does not contain the wait for other streams of the port", function()
      local path = scratch.path() .. ".pcap"
      local result, output = run(TRAFFIC:format(100) .. [[
  big: {size: 1518, rate: 40%}
  small: {size: 64, rate: 9.7003kfps}
  mid: {size: 512, rate: 1.337kfps}
]], ("--capture 'west=%s'"):format(path))
      assert.equal("valid", result.validity)
      constant(result.results.traffic, 20000 + HEADER * 80)
      assert.is_true(overlap(path, 100) < 1)
      -- behind the longest frame of another stream at least, and behind one of each at most
      local small = result.results.traffic[2].own_queue_max_ns
      assert.is_true(small > 1530 * 80 and small <= (1538 + 532) * 80, small)
      assert.matches("small: frames waited up to 1[0-9.]+ us in the tester's own port", output)
   end)

   it("is the device's for a mix by frames, and for random departures", function()
      for _, stream in ipairs { "size: imix, rate: 20kfps", "size: 64, rate: {poisson: 50%}",
         "size: 1518, rate: {poisson: 95%}" } do
         local row = streams(TRAFFIC:format(100) .. ("  s: {%s}\n"):format(stream))[1]
         constant({ row }, 20000 + HEADER * 80, stream)
         assert.is_true(row.own_queue_max_ns > 0)
      end
   end)

   it("is whole where the device's is, though its seconds have no exact binary fraction", function()
      for device, delay in pairs { reference_device = 16061000 + HEADER * 800,
         reference_switch = 16061000 + HEADER * 800 } do
         local text = TRAFFIC:format(10):gsub("reference_device", device):gsub("latency: 20us", "latency: 16061us")
         constant(streams(text .. "  s: {size: 208, rate: 60%}\n"), delay)
      end
   end)

   it("of streams that take turns, and of one alone, has no wait to leave out", function()
      local rows = streams(TRAFFIC:format(100) .. "  s: {size: 64, rate: 100%}\n")
      assert.is_nil(rows[1].own_queue_max_ns)
      -- the line's 6,720 ns are a hair more than from one frame to the next at the rate as a number
      assert.is_true(rows[1].latency.max_ns - (20000 + HEADER * 80) <= 1)
      local ten = TRAFFIC:format(100)
      for i = 1, 10 do
         ten = ten .. ("  s%d: {size: 64, rate: 10%%}\n"):format(i)
      end
      constant(streams(ten), 20000 + HEADER * 80)
   end)

   it("is the device's where the rate changes within a frame: the next frame waits for none before it", function()
      local row = streams(TRAFFIC:format(100) .. "  s: {size: 64, rate: {profile: [{rate: 95%, for: 10ms}, {rate: 99%, for: 10ms}]}}\n")[1]
      constant({ row }, 20000 + HEADER * 80)
      assert.is_nil(row.own_queue_max_ns)
   end)

   it("is the device's on a slow line with long frames", function()
      local rows = streams(TRAFFIC:format(1):gsub("500ms", "3s") .. [[
  long: {size: 16128, rate: 30%}
  short: {size: 64, rate: 10%}
]])
      constant(rows, 20000 + HEADER * 8000)
      assert.is_true(rows[2].own_queue_max_ns > 16000 * 8000)
   end)

   it("is that of the reference switch", function()
      local rows = streams [[
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}, d: {device: wire3}}
test: traffic
reference_switch: {rate: 100Mbps, latency: 20us, switching: cut-through}
traffic: {duration: 500ms, learning_wait: 100ms, drain: 100ms}
streams:
  big: {from: a, to: b, size: 1518, rate: 400fps}
  small: {from: a, to: c, size: 64, rate: {poisson: 30%}}
  back: {from: c, to: a, size: imix, rate: {poisson: 80%}}
]]
      constant(rows, 20000 + HEADER * 80)
   end)

   it("has no variation in Y.1564 with three services and a constant device", function()
      local services = ""
      for _, s in ipairs { "voice: {vlan: 10, frame_size: 218, cir: 2Mbps, cbs: 8KiB",
         "video: {vlan: 20, frame_size: 1374, cir: 20.03Mbps, cbs: 64KiB",
         "data: {vlan: 30, frame_size: 1518, cir: 60Mbps, cbs: 64KiB" } do
         services = services .. "    " .. s .. ", acceptance: {flr: 0%, ftd: 2ms, fdv: 50us, avail: 99%}}\n"
      end
      local result = run(PORTS .. [[
test: y1564
reference_device: {rate: 100Mbps, latency: 1ms, switching: cut-through}
y1564:
  learning_wait: 10ms
  drain: 100ms
  settle: 0s
  configuration: {tests: [step-load], trial: 100ms}
  performance: {duration: 1s}
  services:
]] .. services)
      assert.same({ "valid", "pass" }, { result.validity, result.outcome })
      local n = 0
      for _, service in ipairs(result.results.y1564.services) do
         for _, row in ipairs(service.performance) do
            n = n + 1
            assert.same({ "pass", 0 }, { row.outcome, row.fdv_ns })
         end
      end
      assert.equal(6, n)
   end)
end)

describe("the wait in the tester's port", function()
   -- What `run --dry-run` foretells of the streams at 100 Mbit/s, ns; and what then was the longest of all.
   local function foretold(streams_text)
      local text = TRAFFIC:format(100) .. streams_text
      local plan = assert(plans.load_text(text, "plan"))
      local tester = { ports = { { line_rate = 100e6 }, { line_rate = 100e6 } } }
      local list = stream_config.times(plan.ports, plan.streams, tester, plan.traffic.duration)
      local least = own_queue.least(list, 100e6) or 0
      local longest = 0
      for _, row in ipairs(run(text).results.traffic) do
         longest = math.max(longest, row.own_queue_max_ns or 0)
      end
      return least, longest
   end

   it("is foretold where all streams are evenly paced", function()
      for _, text in ipairs { "  big: {size: 1518, rate: 40%}\n  small: {size: 64, rate: 9.7kfps}\n",
         "  s: {size: imix, rate: 20kfps}\n",
         "  s: {size: imix, rate: 90%}\n  t: {size: 300, rate: 777fps}\n" } do
         local least, longest = foretold(text)
         assert.is_true(least > 1000 and longest >= least and longest - least < 100, text)
      end
   end)

   it("is none where frames take turns", function()
      assert.same({ 0, 0 }, { foretold "  s: {size: imix, rate: 100%}\n" })
      assert.same({ 0, 0 }, { foretold "  a: {size: 64, rate: 40%}\n  b: {size: 64, rate: 40%}\n" })
   end)

   it("is longer with streams that are left out", function()
      local least, longest = foretold [[
  a: {size: 1518, rate: {poisson: 60%}}
  b: {size: 64, rate: 1kfps}
]]
      assert.equal(0, least)
      assert.is_true(longest > 0)
   end)
end)

local SIZES = { "64", "128", "512", "1518", "imix" }
local SHAPES = { "%d%%", "{poisson: %d%%}" }

describe("random streams of one port", function()
   teardown(scratch.remove)

   it("have the one delay of the device, and never overlap on the line", function()
      local draw = late_frames.draws()
      for _ = 1, late_frames.count() do
         local n, mbps, path = draw(1, 4), draw(0, 1) * 90 + 10, scratch.path() .. ".pcap"
         local plan = TRAFFIC:format(mbps)
         for i = 1, n do
            plan = plan .. ("  s%d: {size: %s, rate: %s}\n"):format(i, SIZES[draw(1, #SIZES)],
               SHAPES[draw(1, #SHAPES)]:format(draw(5, math.floor(90 / n))))
         end
         local result = run(plan, ("--capture 'west=%s'"):format(path))
         constant(result.results.traffic, 20000 + HEADER * 8e3 / mbps, plan)
         assert.is_true(overlap(path, mbps) < 1, plan)
         os.remove(path)
      end
   end)
end)
