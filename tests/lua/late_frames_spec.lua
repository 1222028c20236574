-- SPDX-License-Identifier: BSD-3-Clause

-- A frame that arrives within the waiting time is not lost, however late its number is: devices that reorder
-- over tens of thousands of frames, by arithmetic and by captures of the same trial.
--
-- FRAMEGAUGE_DRAWS=1000 in the environment draws as many devices; FRAMEGAUGE_SEED another sequence of them.
local files = require "framegauge.text.json"
local late_frames = require "late_frames"
local scratch = require "scratch"
local uv = require "luv"

local PORTS = [[
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
]]

-- Runs a plan. @return the result, what was printed, the exit status
local function run(text, options)
   local path, plan = scratch.path(), scratch.path() .. ".yaml"
   scratch.write(plan, PORTS .. text)
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), plan, path,
      options or ""))
   assert(status == 0 or status == 3, output)
   return files.decode(scratch.read(path .. "/result.json")), output, status
end

local function traffic(device, stream, drain)
   local result, output, status = run(([[
test: traffic
reference_device: {rate: 100Mbps, latency: 20us, switching: cut-through, %s}
traffic: {duration: 500ms, learning_wait: 10ms, drain: %s}
streams: {s: {size: 64, rate: %s}}
]]):format(device, drain or "1s", stream))
   return result.results.traffic[1], output, status
end

describe("a frame that arrives within the waiting time", function()
   teardown(scratch.remove)

   it("is not lost for RFC 2544: a device without loss carries the line", function()
      -- 148,809 frames a second: 150 ms are 22,321 numbers
      local result = run [[
test: rfc2544
reference_device: {rate: 100Mbps, latency: 20us, reorder: {every: 10007, by: 0, late: 150ms}}
rfc2544: {frame_sizes: [64], tests: [throughput], bidirectional: false, learning_wait: 10ms, drain: 200ms,
  settle: 0s, throughput: {trial: 500ms, search_trial: 300ms}}
]]
      local row = result.results.throughput[1]
      assert.same({ "valid", 100 }, { row.validity, math.floor(row.throughput_percent * 100 + 0.5) / 100 })
   end)

   it("is not lost for Y.1564 either", function()
      local result = run [[
test: y1564
reference_device: {rate: 100Mbps, latency: 20us, reorder: {every: 10007, by: 0, late: 150ms}}
y1564:
  services: {data: {frame_size: 64, cir: 40Mbps, cbs: 64KiB,
    acceptance: {flr: 0%, ftd: 1s, fdv: 1s, avail: 99%}}}
  learning_wait: 10ms
  drain: 300ms
  settle: 0s
  configuration: {tests: [step-load], trial: 1s}
  performance: {duration: 1s}
]]
      assert.same({ "valid", "pass" }, { result.validity, result.outcome })
   end)

   it("counts as reordered by any number of places", function()
      for _, by in ipairs { 4095, 4096, 40000 } do
         -- of 62,000 frames three are held back, until `by` have passed or, at the end, for 900 ms
         local row = traffic(("reorder: {every: 20000, by: %d, late: 900ms}"):format(by), "124kfps")
         assert.same({ "valid", 0, 0, 3 }, { row.validity, row.lost, row.stale, row.reordered }, by)
         assert.equal(by, row.reordering_extent_max_frames)
      end
   end)

   it("is a further copy, however late", function()
      local row = traffic("duplicate: {every: 100, late: 400ms}", "100kfps")
      assert.same({ "valid", 0, 0, 500, 500 },
         { row.validity, row.lost, row.stale, row.duplicates, row.measured.duplicated })
   end)

   it("is in delay, jitter and IPDV", function()
      -- 50 ms in the mean, exponential: 5,000 numbers, and ten times as many the latest
      local row = traffic("jitter: {mean: 50ms, reorders: true}", "100kfps")
      assert.same({ "valid", 0, 0, 49999 },
         { row.validity, row.lost, row.measured.ipdv_unknown, row.measured.ipdv_count })
      assert.near(50e6, row.latency.mean_ns, 5 * 50e6 / math.sqrt(50000) + 20e3)
   end)

   it("is no longer told from a copy where it is later, and the loss is an interval then", function()
      -- Of 59,524 frames 11 are lost and 58 are held back for 23,809 numbers; 4,096 of these are remembered
      -- for a waiting time of 10 ms. The first 36 arrive while the trial lasts
      local result = run [[
test: rfc2544
reference_device: {rate: 100Mbps, latency: 20us, loss_every: 5000, reorder: {every: 1009, by: 0,
  late: 200ms}}
rfc2544: {frame_sizes: [64], tests: [frame_loss], bidirectional: false, learning_wait: 10ms, drain: 10ms,
  settle: 0s, frame_loss: {trial: 500ms, max: 80%, step: 10%}}
]]
      local row = result.results.frame_loss[1]
      assert.equal("tester-limited", row.validity)
      assert.equal("east->west: of 69 frames lost 36 may have come: 36 frames came too late to tell first copies from duplicates", row.reasons[1])
   end)
end)

local SIZES = { 64, 128, 512, 1518 }

-- A device and streams, as a plan.
local function drawn(draw)
   local mbps, device, streams, loads = draw(0, 2) > 0 and 100 or 10, {}, {}, draw(1, 3)
   local function perhaps(chance, ...)
      if draw(1, 100) <= chance then
         device[#device + 1] = string.format(...)
      end
   end
   perhaps(60, "jitter: {mean: %dms, reorders: true}", draw(1, 100))
   perhaps(60, "reorder: {every: %d, by: 0, late: %dms}", draw(20, 2000), draw(1, 999))
   perhaps(60, "duplicate: {every: %d, late: %dms}", draw(50, 2000), draw(0, 900))
   perhaps(40, "loss_every: %d", draw(10, 5000))
   device[#device + 1] = ("rate: %dMbps, latency: %dus, switching: cut-through, seed: %d"):format(mbps,
      draw(1, 500), draw(1, 1e6))
   for i = 1, loads do
      streams[i] = ("  s%d: {size: %d, rate: %d%%}"):format(i, SIZES[draw(1, #SIZES)], draw(5,
         math.floor(90 / loads)))
   end
   local t_max = draw(1, 4) == 1 and draw(50, 900) / 1000 or nil
   return ("test: traffic\nreference_device: {%s}\n"
      .. "traffic: {duration: %dms, learning_wait: 10ms, drain: 2s%s}\nstreams:\n%s\n"):format(
      table.concat(device, ", "), draw(300, 1000), t_max and (", t_max: %gs"):format(t_max) or "",
      table.concat(streams, "\n")), t_max
end

local function compare(plan, t_max)
   local path = scratch.path() .. ".pcap"
   local result = run(plan, ("--capture 'west=%s'"):format(path))
   local streams = late_frames.read(path)
   os.remove(path)
   for i, row in ipairs(result.results.traffic) do
      local f, m = late_frames.figures(streams[i], row.tx, t_max), row.measured
      local why = plan .. row.stream
      assert.same({ f.rx, f.lost, f.duplicates, f.reordered, f.expired, f.pairs, 0, 0 }, { row.rx, row.lost,
         row.duplicates, row.reordered, row.expired, m.ipdv_count, m.ipdv_unknown, row.stale }, why)
      assert.same({ f.min_ns, f.max_ns }, { row.latency.min_ns, row.latency.max_ns }, why)
      assert.near(f.mean_ns, row.latency.mean_ns, 0.01, why)
      assert.near(f.magnitude / f.pairs, m.ipdv_mean_magnitude_ns, 0.01, why)
      assert.near(f.jitter_ns, m.jitter_ns, 1, why)
      assert.equal("valid", row.validity, why)
   end
end

describe("many streams of very late frames", function()
   teardown(scratch.remove)

   -- The reference device has 2^20 frames on their way at most; the memory of this many streams holds more
   it("are measured as a capture of the same trial shows them", function()
      local streams = {}
      for i = 1, 1500 do
         streams[i] = ("  s%d: {size: 64, rate: 200fps}"):format(i)
      end
      compare([[
test: traffic
reference_device: {rate: 250Mbps, latency: 20us, switching: cut-through, loss_every: 97,
  jitter: {mean: 200ms, max: 1s, reorders: true}, duplicate: {every: 101, late: 700ms}}
traffic: {duration: 500ms, learning_wait: 10ms, drain: 2s}
streams:
]] .. table.concat(streams, "\n") .. "\n")
   end)
end)

describe("random devices", function()
   teardown(scratch.remove)

   it("are measured as a capture of the same trial shows them", function()
      local draw = late_frames.draws()
      for _ = 1, late_frames.count() do
         compare(drawn(draw))
      end
   end)
end)
