-- SPDX-License-Identifier: BSD-3-Clause

-- What the tester says of itself: how it is measured, when it is believed, what becomes of it in a run.
local Tester = require "fake_tester"
local calibrate = require "framegauge.run.calibrate"
local calibration = require "framegauge.run.calibration"
local fake_plan = require "fake_plan"
local generator = require "framegauge.report.generator"
local json = require "framegauge.text.json"
local precision = require "framegauge.tester.precision"
local run = require "framegauge.run"
local scratch = require "scratch"
local uv = require "luv"

local DAY = 24 * 3600

local function silently(fn, ...)
   local stdout = io.stdout
   rawset(io, "stdout", { write = function() end, flush = function() end })
   local results = { pcall(fn, ...) }
   rawset(io, "stdout", stdout)
   assert(results[1], tostring(results[2]))
   return unpack(results, 2)
end

local function with_tester(device, fn, ...)
   local tester = Tester.new(device)
   package.loaded["framegauge.tester"] = {
      open = function(plan)
         tester.plan = plan
         return tester
      end,
   }
   local results = { silently(fn, ...) }
   package.loaded["framegauge.tester"] = nil
   return tester, unpack(results)
end

local function read(path)
   return json.decode(scratch.read(path))
end

-- What looks at real frames has nothing to look at on a tester that only plays one.
local function without_frames(fn, ...)
   local departures, host, probe = precision.departures, precision.host, precision.probe
   precision.departures = function() return {} end
   precision.host = function()
      return { seconds = 1, rounds = 1, longest_ns = 0, away_ppm = 0, stalls = { 0, 0, 0, 0, 0 } }
   end
   precision.probe = function()
      return { source = "ieee1588", sent = 9, unstamped = 0, count = 9, min_ns = 1, mean_ns = 2, max_ns = 3,
         error_bound_ns = 1 }
   end
   local results = { pcall(fn, ...) }
   precision.departures, precision.host, precision.probe = departures, host, probe
   assert(results[1], tostring(results[2]))
   return unpack(results, 2)
end

-- Calibrate a tester by its frames per second. @return the file
local function calibrated(plan, tester)
   local path = scratch.path()
   local device = { rate = 1e9, capacity = 1e9, tester = tester }
   without_frames(with_tester, device, calibrate.main, plan, { out = path })
   return path
end

describe("calibrate", function()
   teardown(scratch.remove)

   it("finds the load that the tester carries, and its latency at a tenth of it", function()
      local found = read(calibrated(fake_plan(), 3e5))
      local row = found.frame_sizes[1]
      assert.same({ 64, 1488095, "tester" }, { row.frame_size, row.theoretical_fps, row.limited_by })
      assert.near(3e5, row.load_fps, 1489)
      assert.equal(0.1 * row.load_fps, row.latency_low.fps)
      assert.equal(20000, row.latency_low.min_ns)
      assert.equal(row.load_fps, row.latency_at_load.fps)
      assert.same({ 81274, "maximum" }, { found.frame_sizes[3].load_fps, found.frame_sizes[3].limited_by })
      assert.same(calibration.machine(), found.machine)
      assert.same(generator.of(), found.generator)
      assert.same({ "wire0", "wire1" }, { found.ports[1].device, found.ports[2].device })
      assert.matches("^%d+%-%d+%-%d+T%d+:%d+:%d+Z$", found.date)
   end)

   it("takes the device out, whatever the plan has there", function()
      local plan = fake_plan()
      plan.ports[1].kind, plan.ports[2].kind = "memif", "memif"
      local looped = calibrate.looped(plan)
      assert.is_nil(looped.ports[1].gateway4)
      assert.equal(looped.ports[2].device .. ",server", looped.ports[1].device)
      -- the socket comes when the port is opened, and goes with it; nothing else is left of its name
      assert.is_nil(uv.fs_stat(looped.ports[2].device:match "^memif:(.*)%.sock$"))
      assert.equal("198.18.1.1", plan.ports[1].gateway4)
      plan.reference_device = { rate = 1e9, capacity = 1000, latency = 1, time = "free" }
      looped = calibrate.looped(plan)
      assert.is_nil(looped.reference_device.capacity)
      assert.equal(0, looped.reference_device.latency)
   end)

   it("keeps it where a run on the same machine and ports looks for it", function()
      local home = scratch.path()
      uv.os_setenv("XDG_DATA_HOME", home)
      local device = { rate = 1e9, capacity = 1e9 }
      local tester = without_frames(with_tester, device, calibrate.main, fake_plan(), {})
      local state = calibration.find(fake_plan(), tester.ports, generator.of(), os.time())
      tester.ports[1].device = "wire7"
      local other = calibration.find(fake_plan(), tester.ports, generator.of(), os.time())
      uv.os_unsetenv "XDG_DATA_HOME"
      assert.equal("current", state.state)
      assert.equal("missing", other.state)
   end)

   it("joins two memif ports in one process", function()
      local plan, out = scratch.path(), scratch.path()
      local file = assert(io.open(plan, "w"))
      file:write "test: rfc2544\nports: {a: {device: 'memif:/none/a'}, b: {device: 'memif:/none/b'}}\n"
      file:write "host: {max_lag: 100ms}\n"
      file:write "rfc2544: {frame_sizes: [64], throughput: {max: 2kfps, min: 500fps, resolution: 1kfps}}\n"
      file:close()
      local command = ("'%s' calibrate '%s' --quick --out '%s' 2>&1"):format(uv.exepath(), plan, out)
      local output, status = scratch.shell(command)
      assert.equal(0, status, output)
      local found = read(out)
      assert.same({ "memif:/none/a", "memif", json.null }, {
         found.ports[1].device, found.ports[1].driver, found.ports[1].mode,
      })
      assert.equal("tsc", found.time)
      local row = found.frame_sizes[1]
      assert.equal(64, row.frame_size)
      if row.load_fps ~= json.null then -- a busy machine may have none to spare
         assert.is_true(row.load_fps >= 500 and row.load_fps <= 2000)
         assert.is_true(row.latency_low.min_ns > 0 and row.latency_low.min_ns <= row.latency_low.max_ns)
         assert.equal("tsc", row.latency_low.source)
         local host = found.precision.host
         assert.is_true(host.rounds > 0 and host.away_ppm >= 0 and host.away_ppm <= 1e6)
         for _, departures in ipairs(found.precision.departures) do
            assert.is_true(departures.min_ns <= departures.p50_ns and departures.p50_ns <= departures.max_ns)
            assert.is_true(departures.error_p50_ns <= departures.error_max_ns)
         end
      end
   end)

   it("sees that the wire departs frames to the nanosecond", function()
      local path = scratch.path()
      local plan = require("framegauge.plan").load_text("test: rfc2544\n"
         .. "ports: {a: {device: wire0}, b: {device: wire1}}\nreference_device: {rate: 1Gbps}\n"
         .. "rfc2544: {frame_sizes: [64], throughput: {search_trial: 10ms, trial: 10ms}}\n", "wire")
      silently(calibrate.main, plan, { out = path })
      local found = read(path).precision
      assert.equal(json.null, found.host)
      assert.same({ 1, 10, 50, 100, 10 }, (function()
         local shares = {}
         for i, row in ipairs(found.departures) do
            shares[i] = row.percent
         end
         return shares
      end)())
      for _, row in ipairs(found.departures) do
         local spare = row.pattern == "constant" and 1 or 32 -- bursts are whole
         assert.near(row.fps * 0.01 - 1, row.count, spare)
         assert.is_true(row.error_max_ns <= 1, row.pattern .. ": off by " .. row.error_max_ns)
         assert.near(row.pattern == "constant" and row.intended_ns or 672, row.p50_ns, 2)
      end
   end)

   it("sees departures that are not as intended", function()
      local plan = require("framegauge.plan").load_text("test: rfc2544\n"
         .. "ports: {a: {device: wire0}, b: {device: wire1}}\n", "wire")
      local tester = assert(require("framegauge.tester").open(plan))
      local trial = tester.trial
      tester.trial = function(self, o) -- sends a tenth slower than it is told
         o.fps = o.fps / 1.1
         return trial(self, o)
      end
      local rows = precision.departures(tester, {
         direction = "a->b", frame_size = 64, load_fps = 1e5, seconds = 0.01,
      })
      tester:close()
      assert.near(rows[4].intended_ns / 10, rows[4].error_p50_ns, rows[4].intended_ns * 0.001)
   end)
end)

describe("a calibration", function()
   teardown(scratch.remove)

   local tester = Tester.new { rate = 1e9 }

   -- The state for a run, after the file was changed.
   local function state_after(change, plan, now)
      local path = calibrated(fake_plan())
      local kept = read(path)
      if change then
         change(kept)
      end
      local file = assert(io.open(path, "w"))
      file:write(json.encode(kept))
      file:close()
      plan = plan or fake_plan()
      plan.calibration = path
      return calibration.find(plan, tester.ports, generator.of(), now or os.time())
   end

   it("is current on the same machine, with the same ports and program, for 30 days", function()
      assert.same({ "current", {} }, { state_after().state, state_after().reasons })
      assert.equal("current", state_after(nil, nil, os.time() + 29 * DAY).state)
      local state = state_after(nil, nil, os.time() + 31 * DAY)
      assert.same({ "stale", { "it is older than 30 days" } }, { state.state, state.reasons })
      assert.same({}, state.frame_sizes)
   end)

   for what, case in pairs {
      ["another host"] = { function(c) c.machine.host = "0" end, "of another host" },
      ["another kernel"] = { function(c) c.machine.kernel = "Linux 2" end, "another kernel %(Linux 2; now" },
      ["another program"] = { function(c) c.generator.version = "0" end, "another version of the program" },
      ["other ports"] = { function(c) c.ports[2].driver = "net_null" end, "of another set of ports" },
      ["one direction"] = { function(c) c.pattern = "one way, pairs" end, "of another pattern of traffic" },
      ["other sizes"] = { function(c) table.remove(c.frame_sizes, 2) end, "no frames of 512 bytes" },
      ["no date"] = { function(c) c.date = "today" end, "older than 30 days" },
   } do
      it("is stale with " .. what, function()
         local state = state_after(case[1])
         assert.equal("stale", state.state)
         assert.equal(1, #state.reasons)
         assert.matches(case[2], state.reasons[1])
      end)
   end

   it("is not needed in the time of a wire", function()
      local plan = fake_plan()
      plan.reference_device = { time = "real" }
      assert.equal("not-needed", calibration.find(plan, tester.ports, generator.of(), 0).state)
   end)

   it("that the plan names must be there and be one", function()
      local plan = fake_plan()
      plan.calibration = "/none.json"
      local state, message = calibration.find(plan, tester.ports, generator.of(), 0)
      assert.is_nil(state)
      assert.matches("calibration: /none.json", message, 1, true)
      plan.calibration = uv.exepath()
      assert.is_nil((calibration.find(plan, tester.ports, generator.of(), 0)))
   end)
end)

local SERVICES = [[
test: y1564
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24}
  west: {device: wire1, ipv4: 198.18.1.3/24}
reference_device: {rate: 1Gbps}
y1564:
  services:
    small: {cir: 10Mbps, frame_size: 128, directions: forward, cbs: 2000, acceptance: {flr: 0}}
    mixed: {cir: 10Mbps, emix: ab, directions: forward, cbs: 2000, acceptance: {flr: 0}}
    other: {cir: 10Mbps, frame_size: 256, directions: forward, cbs: 2000, acceptance: {flr: 0}}
]]
local STREAMS = [[
test: traffic
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
streams:
  a: {size: [64, 128], rate: 1kfps}
  b: {from: east, size: 128, rate: 1kfps}
]]

local function plan_of(text)
   local plan, problems = require("framegauge.plan").load_text(text, "mine")
   return plan or error(tostring(problems[1]))
end

-- A current one: what the tester carries and adds at 64 and 128 bytes; nothing is known of 256.
local function current()
   return { state = "current", date = "2026-01-01T00:00:00Z", reasons = {}, frame_sizes = {
      { frame_size = 64, load_fps = 1e6, latency_min_ns = 3000 },
      { frame_size = 128, load_fps = 5e5, latency_min_ns = 4000 },
      { frame_size = 256, load_fps = json.null, latency_min_ns = json.null },
   } }
end

describe("a calibration of other tests", function()
   teardown(scratch.remove)

   it("is made of plans of Y.1564 and of traffic, at their frame sizes", function()
      for _, text in ipairs { SERVICES, STREAMS } do
         local found = read(calibrated(plan_of(text), 3e5))
         assert.same(text == SERVICES and { 64, 128, 256 } or { 64, 128 }, (function()
            local sizes = {}
            for i, row in ipairs(found.frame_sizes) do
               sizes[i] = row.frame_size
            end
            return sizes
         end)())
         assert.near(3e5, found.frame_sizes[1].load_fps, 3000)
         assert.equal(20000, found.frame_sizes[1].latency_low.min_ns)
      end
   end)

   it("takes the tester's own time off the transfer delays of services, beside those measured", function()
      local function row()
         return { ftd = { min_ns = 10000, mean_ns = 11000, max_ns = 12000 },
            green = { ftd = { min_ns = 10000, mean_ns = 11000, max_ns = 12000 } } }
      end
      local services = {}
      for i = 1, 3 do
         services[i] = { configuration = { row(), { tx = 0 } }, performance = { row() } }
      end
      calibration.apply(current(), { y1564 = { services = services } }, plan_of(SERVICES))
      for i, own in ipairs { 4000, 3000 } do
         for _, one in ipairs {
            services[i].configuration[1], services[i].configuration[1].green, services[i].performance[1],
         } do
            assert.same({ min_ns = 10000, mean_ns = 11000, max_ns = 12000 }, one.ftd)
            assert.same({ min_ns = 10000 - own, mean_ns = 11000 - own, max_ns = 12000 - own },
               one.ftd_corrected)
         end
         assert.is_nil(services[i].configuration[2].ftd_corrected)
      end
      assert.is_nil(services[3].performance[1].ftd_corrected)
   end)

   it("takes the least of a stream's sizes off its latency", function()
      local rows = {
         { frame_size = 96, latency = { min_ns = 9000 } }, { frame_size = 128, latency = { min_ns = 9000 } },
      }
      calibration.apply(current(), { traffic = rows }, plan_of(STREAMS))
      assert.same({ 6000, 5000 }, { rows[1].latency.corrected.min_ns, rows[2].latency.corrected.min_ns })
   end)

   it("tells of loads that are more than the tester carries", function()
      local limits = calibration.limits(current())
      local function at(fps, other)
         return { { trial = 7, directions = {
            { direction = "a", intended_fps = fps }, { direction = "b", intended_fps = other },
         } } }
      end
      -- a frame of `a` takes 1.5 us of the tester in the mean, one of `b` 2 us
      assert.is_nil(calibration.beyond(plan_of(STREAMS), limits, at(4e5, 2e5)))
      assert.is_nil(calibration.beyond(plan_of(STREAMS), nil, at(9e9, 9e9)))
      local found = calibration.beyond(plan_of(STREAMS), limits, at(4e5, 5e5))
      assert.same({ 1, 7 }, { found.trials, found.trial })
      assert.near(1.6, found.load_max_ratio, 1e-9)
      found = calibration.beyond(plan_of(SERVICES), limits, { { trial = 3, frame_size = 128, directions = {
         { direction = "small east->west green", intended_fps = 6e5 },
         { direction = "other east->west green", intended_fps = 9e9 }, -- which nobody calibrated
      } } })
      assert.near(1.2, found.load_max_ratio, 1e-9)
   end)
end)

describe("a run with a calibration", function()
   teardown(scratch.remove)

   local function run_with(plan, device)
      local out = scratch.path()
      with_tester(device, run.main, plan, { out = out })
      return read(out .. "/result.json"), out
   end

   local device = { rate = 1e9, capacity = 9e5 }

   it("tries no load that the tester does not carry, and says whose limit that is", function()
      local plan = fake_plan()
      plan.calibration = calibrated(plan, 3e5)
      local result = run_with(plan, device)
      assert.equal("current", result.calibration.state)
      local limit = result.calibration.frame_sizes[1].load_fps
      for _, trial in ipairs(result.trials) do
         assert.is_true(trial.frame_size ~= 64 or trial.intended_fps <= limit)
         assert.equal("valid", trial.validity)
      end
      local row = result.results.throughput[1]
      assert.same({ limit, "tester-limited", "tester" }, { row.throughput_fps, row.validity, row.limited_by })
      assert.matches("the tester itself carries no more than", row.reasons[1], 1, true)
      row = result.results.throughput[3]
      assert.same({ 81274, "valid", "maximum" }, { row.throughput_fps, row.validity, row.limited_by })
   end)

   it("takes the tester's own latency off, beside the figures as they were measured", function()
      local plan = fake_plan { frame_sizes = { 64 } }
      plan.calibration = calibrated(plan)
      local result, path = run_with(plan, device)
      local latency = result.results.throughput[1].latency
      assert.same({ "current", 20000, 20512.5 }, {
         latency.calibration, latency.tester_min_ns, latency.mean_ns,
      })
      assert.same({ 0, 512.5 }, { latency.corrected.min_ns, latency.corrected.mean_ns })
      assert.is_nil(result.trials[1].latency.corrected)
      local csv = scratch.read(path .. "/throughput.csv")
      assert.matches("latency_calibration,latency_tester_min_ns,latency_corrected_min_ns", csv, 1, true)
      assert.matches(",current,20000,0,512.5,", csv, 1, true)
      assert.matches("Calibrated on 2", scratch.read(path .. "/report.html"), 1, true)
   end)

   it("tells of a burst at line rate that the tester does not carry", function()
      local plan = fake_plan { tests = { "back_to_back" }, frame_sizes = { 64 } }
      plan.calibration = calibrated(plan, 3e5)
      local result, path = run_with(plan, { rate = 1e9, capacity = 9e5 })
      assert.is_true(result.calibration.beyond.trials > 0)
      assert.near(1488095 / result.calibration.frame_sizes[1].load_fps,
         result.calibration.beyond.load_max_ratio, 1e-3)
      assert.matches("asked for more than the tester carries", scratch.read(path .. "/report.html"), 1, true)
   end)

   it("says that there is none", function()
      uv.os_setenv("XDG_DATA_HOME", scratch.path())
      local result, path = run_with(fake_plan { frame_sizes = { 64 } }, device)
      uv.os_unsetenv "XDG_DATA_HOME"
      assert.equal("missing", result.calibration.state)
      assert.equal("missing", result.results.throughput[1].latency.calibration)
      assert.matches("Not calibrated: the tester", scratch.read(path .. "/report.html"), 1, true)
   end)
end)
