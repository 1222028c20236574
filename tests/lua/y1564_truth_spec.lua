-- SPDX-License-Identifier: BSD-3-Clause

-- Service activation of the reference device, set up as agreed and set up wrongly: which step notices, and
-- why.
local fixture = require "fixture"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local runs = require "y1564_runs"
local schema = require "result_schema"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local CONFIGS, measure, run, step_of = runs.CONFIGS, runs.measure, runs.run, runs.step_of

-- "C.2 IR, E.2 exact burst FLR": what failed one way.
local function failures(service, direction)
   local list = {}
   for _, row in ipairs(service.configuration) do
      if row.outcome == "fail" and row.direction == (direction or "east->west") then
         list[#list + 1] = row.step .. " " .. table.concat(row.failed, " ")
      end
   end
   return table.concat(list, ", ")
end

local function reasons(row)
   return table.concat(row.reasons, "; ")
end

local CONFIGURATION = "y1564.tests=[configuration]"
local NO_EXCESS = {
   "y1564.services.data.eir=0", "y1564.services.data.ebs=0", "reference_device.profiles.data.eir=0",
   "reference_device.profiles.data.ebs=0",
}

-- Three services side by side, for all that look at them: a run of its own would be the same.
local THREE = "--quick"
local SHORT = "y1564.performance.duration=2s"

local function three_services()
   return runs.of(fixture.run("y1564-three-services", THREE))
end

local function without_excess(...)
   local list = { CONFIGURATION, "--quick" }
   for _, sets in ipairs { NO_EXCESS, { ... } } do
      for _, set in ipairs(sets) do
         list[#list + 1] = set
      end
   end
   return unpack(list)
end

describe("a device that keeps to what was agreed", function()
   teardown(scratch.remove)

   it("passes every step, with the rates that its buckets allow", function()
      local trial = 3
      local services, status = run("one-service", "y1564.configuration.trial=3s", SHORT)
      -- While green drains by 62.5 Mbit/s no token of yellow is taken, and those that come are lost.
      local excess = 150e6 + (2 * 64000 - 64000 / 62.5 * 50) * 8 / trial
      local data = services.data
      assert.equal(0, status)
      assert.equal("pass", data.outcome)
      for _, direction in ipairs { "east->west", "west->east" } do
         assert.equal("", failures(data, direction))
         for _, share in ipairs { 25, 50, 75, 100 } do
            local row
            for _, one in ipairs(data.configuration) do
               row = one.name == ("CIR, %d %%"):format(share) and one.direction == direction and one or row
            end
            assert.equal(0, row.lost)
            assert.near(share * 1e6, row.received_ir_bps, 8 * 512 / trial)
            for _, bound in ipairs { "min", "mean", "max" } do -- to a frame, and half of one that is not sent
               assert.near(share * 1e6, row.ir[bound .. "_bps"], 1.5 * 8 * 512)
            end
         end
         assert.near(150e6, step_of(data, "B.2", direction).received_ir_bps, 8 * 512 / trial)
         local policed = step_of(data, "C.2", direction)
         assert.near(162.5e6, policed.offered_ir_bps, 8 * 512 / trial)
         assert.near(excess, policed.received_ir_bps, 2 * 8 * 512 / trial)
         assert.near(1 - excess / 162.5e6, policed.loss_ratio, 2 * 8 * 512 / trial / 162.5e6)
         assert.near(150e6 + 2 * 64000 * 8 / trial, policed.limits.ir_max_bps, 8 * 512 / trial)
      end
      assert.equal(2, #data.performance)
      for _, row in ipairs(data.performance) do
         assert.equal("pass", row.outcome)
         assert.near(100e6, row.received_ir_bps, 1e4)
      end
   end)

   it("passes with three services side by side, none moved by another", function()
      local services, status, _, path = three_services()
      assert.equal(0, status)
      assert.is_true(schema.validate(path .. "/result.json"))
      -- The device stores: a frame waits for the rest of a longer one before it. 1,518 bytes of data take
      -- 12,144 ns at 1 Gbit/s, 1,374 of video 10,992, 218 of voice 1,744.
      local rest = { voice = 12144 - 1744, video = 12144 - 10992, data = 0 }
      for name, cir in pairs { voice = 2e6, video = 40e6, data = 200e6 } do
         assert.equal("pass", services[name].outcome)
         assert.equal(2, #services[name].performance)
         for _, row in ipairs(services[name].performance) do
            assert.near(cir, row.received_ir_bps, 1e-4 * cir)
            assert.equal(0, row.lost)
            assert.is_true(row.fdv_ns <= rest[name], name .. ": " .. row.fdv_ns)
         end
      end
   end)

   it("has the counts that its loss ratio is of, of green frames where there are others", function()
      local services, _, _, path = three_services()
      local colours = 0
      for _, service in pairs(services) do
         for _, row in ipairs(tables.joined(service.configuration, service.performance)) do
            if type(row.tx) == "number" then
               assert.equal(row.loss_ratio, row.judged_lost / row.judged_tx)
               local green = type(row.green) == "table" and row.green or row
               assert.same({ green.tx, green.lost }, { row.judged_tx, row.judged_lost })
               colours = colours + (row.judged_lost ~= row.lost and 1 or 0)
            end
         end
      end
      assert.is_true(colours > 0)
      assert.matches(",lost,judged_tx,judged_rx,judged_lost,loss_ratio,",
         scratch.read(path .. "/configuration.csv"), 1, true)
      assert.matches("<th[^>]*>Judged<", scratch.read(path .. "/report.html"))
   end)

   it("passes without an excess rate, with bursts of its bucket", function()
      local services = measure("one-service", without_excess())
      assert.equal("pass", services.data.outcome)
      local over = step_of(services.data, "D.2 over").burst
      assert.is_true(over.inferred.min_bytes <= 64000 and 64000 <= over.inferred.max_bytes)
   end)

   it("passes with frames of several sizes, though it drops the large ones first", function()
      local services = measure("one-service", "--quick", SHORT,
         "y1564.services.data={emix: abceg, cir: 100Mbps, cbs: 64000, eir: 50Mbps, ebs: 64000, acceptance: {flr: 0%}}")
      assert.equal("pass", services.data.outcome)
      local policed = step_of(services.data, "C.2")
      -- 150 Mbit/s, what the buckets held, and a cycle of frames; much less is lost of frames than of bits
      assert.near(150.6e6, policed.received_ir_bps, 0.3e6)
      assert.is_true(policed.loss_ratio < 0.05)
      assert.near(100e6, services.data.performance[1].received_ir_bps, 1e4)
   end)

   it("passes with excess traffic alone, green or yellow", function()
      for colour, yellow in pairs { blind = "", aware = ", dscp: 10, marking: dscp, yellow: 12" } do
         local services, status = run("one-service", "--quick",
            ("y1564.services.data={cir: 0bps, eir: 50Mbps, ebs: 64000, colour: %s%s}"):format(colour, yellow),
            ("reference_device.profiles.data={eir: 50Mbps, ebs: 64000, colour: %s, marking: dscp}"):format(
            colour))
         assert.equal(0, status)
         assert.equal(0, #services.data.performance)
         assert.same({ "B.2", "C.2", "E.2", "E.2 exact", "E.2 over" }, (function()
            local names = {}
            for i = 1, 5 do
               names[i] = services.data.configuration[i].step
               assert.equal("pass", services.data.configuration[i].outcome)
            end
            return names
         end)())
      end
   end)

   it("passes when the far end sends everything back, and says so", function()
      local services, status, _, path = run("loopback", "--quick", SHORT)
      assert.equal(0, status)
      assert.equal("pass", services.data.outcome)
      assert.equal(1, #services.data.performance)
      -- 20 us in the device, and the frame twice on the line
      assert.near(20000 + 2 * 4096, services.data.performance[1].ftd.mean_ns, 1)
      local page = scratch.read(path .. "/report.html")
      assert.is_truthy(page:find("FTD: round trip", 1, true))
      assert.is_nil(page:find("one-way", 1, true))
   end)

   it("passes in 802.1ad, with rates of the line, and marked by DEI", function()
      local services = measure("one-service", "--quick", CONFIGURATION, "y1564.rate_unit=ulr",
         "y1564.services.data={vlan: 7, outer_vlan: 700, pcp: 3, cir: 103906250bps, cbs: 64000, eir: 51953125bps, ebs: 64000, colour: aware, marking: dei, acceptance: {flr: 0%}}",
         "reference_device.profiles.data={vlan: 700, inner_vlan: 7, pcp: [3], cir: 100Mbps, cbs: 64000, eir: 50Mbps, ebs: 64000, colour: aware, marking: dei}")
      assert.equal("pass", services.data.outcome)
      assert.near(162.5e6, step_of(services.data, "C.1").offered_ir_bps, 1e4)
      assert.equal(0, step_of(services.data, "C.1").green.lost)
      assert.is_true(step_of(services.data, "C.1").yellow.lost > 0)
   end)
end)

describe("a device that is set up wrongly", function()
   teardown(scratch.remove)

   it("without a policer fails policing", function()
      local services, status, result = run("one-service", "--quick", CONFIGURATION,
         "reference_device.profiles={}")
      assert.equal(1, status)
      assert.equal("fail", result.outcome)
      assert.equal("C.2 IR, E.2 over burst", failures(services.data))
      assert.is_truthy(reasons(step_of(services.data, "C.2")):find "policer is missing")
   end)

   it("with too low a rate loses of CIR, and only turns it yellow where there is an excess rate", function()
      local low = "reference_device.profiles.data.cir=90Mbps"
      local services = measure("one-service", without_excess(low, "y1564.configuration.trial=3s"))
      local row = step_of(services.data, "A.2")
      assert.equal("CIR, 100 %", row.name)
      assert.same({ "FLR" }, row.failed)
      assert.near(0.1 - 64000 * 8 / 3 / 100e6, row.loss_ratio, 2 * 4096 / 3 / 100e6)
      services = measure("one-service", "--quick", CONFIGURATION, low)
      assert.equal(0, step_of(services.data, "A.2").lost)
   end)

   it("with too low a rate is not said to have too small a bucket", function()
      for cir, excess in pairs { ["90Mbps"] = false, ["95Mbps"] = true } do
         local low = "reference_device.profiles.data.cir=" .. cir
         local services = excess and measure("one-service", "--quick", CONFIGURATION, low)
            or measure("one-service", without_excess(low))
         for _, suffix in ipairs { "", " exact", " over" } do
            local row = step_of(services.data, (excess and "E.2" or "D.2") .. suffix)
            assert.same({ "IR" }, row.failed)
            assert.matches("rate too low", reasons(row), 1, true)
            assert.is_nil(row.burst.inferred)
         end
      end
      -- what is lost of the groups by a rate that is hardly too low is not the burst's
      local services = measure("one-service", without_excess("reference_device.profiles.data.cir=99.5Mbps",
         "reference_device.profiles.data.cbs=3072", "y1564.services.data.cbs=3072"))
      local row = step_of(services.data, "D.2 over")
      assert.is_true(row.burst.group_lost > 0)
      assert.equal("pass", row.outcome)
      assert.is_true(row.burst.inferred.min_bytes <= 3072 and 3072 <= row.burst.inferred.max_bytes)
   end)

   it("with a bucket a fifth too small fails the burst of the agreed size", function()
      local services = measure("one-service", without_excess "reference_device.profiles.data.cbs=51200")
      assert.equal("D.2 exact FLR, D.2 over burst", failures(services.data))
      local inferred = step_of(services.data, "D.2 over").burst.inferred
      assert.is_true(inferred.min_bytes <= 51200 and 51200 <= inferred.max_bytes)
      services = measure("one-service", "--quick", CONFIGURATION, "reference_device.profiles.data.ebs=51200")
      -- at this rate enough flows in to let the agreed burst pass all the same
      assert.equal("E.2 over burst", failures(services.data))
   end)

   it("that does not heed colours drops green frames for yellow ones", function()
      local services = measure("three-services", "--quick", CONFIGURATION,
         "reference_device.profiles.voice.colour=blind", "reference_device.profiles.video.colour=blind")
      assert.equal("C.1 FLR", failures(services.voice))
      assert.is_truthy(failures(services.video):find "C.1 FLR")
      assert.equal("", failures(services.data))
   end)

   it("that shapes in place of policing delays what it should drop", function()
      local services = measure("one-service", without_excess "reference_device.profiles.data.shaping=20ms")
      local row = step_of(services.data, "C.2")
      assert.equal("fail", row.outcome)
      assert.is_truthy(reasons(row):find "shaping")
      assert.equal("pass", step_of(services.data, "A.2").outcome)
      assert.is_truthy(failures(services.data):find "D.2 over burst")
   end)

   it("in one direction fails in that one", function()
      local services = measure("one-service", "--quick", CONFIGURATION,
         "reference_device.reverse={profiles: {}}")
      assert.equal("", failures(services.data, "east->west"))
      assert.equal("C.2 IR, E.2 over burst", failures(services.data, "west->east"))
   end)

   it("that loses frames fails every conformance", function()
      local services = measure("one-service", without_excess("reference_device.loss_every=1000",
         "y1564.configuration.tests=[cir]"))
      assert.same({ "FLR" }, step_of(services.data, "A.1").failed)
   end)

   it("is spared the rest after a failure, if so", function()
      local services = measure("one-service", "--quick", CONFIGURATION, "reference_device.latency=2ms",
         "y1564.configuration.stop_at_failure=true")
      assert.equal(2, #services.data.configuration, "one step each way")
      assert.same({ "FTD" }, services.data.configuration[1].failed)
   end)
end)

describe("availability over 15 minutes", function()
   teardown(scratch.remove)

   local SLOW = "y1564.services.data={frame_size: 1518, cir: 10Mbps, cbs: 64000, acceptance: {flr: 0.1%}}"

   local function performance(outage)
      local services, status, result = run("one-service", "y1564.tests=[performance]", SLOW,
         "y1564.performance.outage=" .. outage)
      assert.equal(1, status)
      assert.equal(2, #services.data.performance)
      return services.data.performance, result.trials[1]
   end

   it("is less by an outage of 12 seconds, whose loss does not count", function()
      for _, row in ipairs(performance "12s") do
         assert.near(98.667, row.availability_percent, 0.001)
         assert.equal(12, row.unavailable_s)
         assert.equal(0, row.loss_ratio)
         assert.is_true(row.lost > 0 and row.judged_lost == 0 and row.judged_tx < row.tx - row.lost + 1)
         assert.equal("AVAIL", row.failed[#row.failed])
      end
   end)

   it("is whole with one of 9 seconds, whose loss does", function()
      local rows, trial = performance "9s"
      for _, row in ipairs(rows) do
         assert.equal(100, row.availability_percent)
         assert.equal(9, row.severely_errored_s)
         assert.near(0.01, row.loss_ratio, 1e-5)
         assert.same({ "IR", "FLR" }, row.failed)
      end
      -- and stands in the series where it was
      local series = trial.directions[1].series
      assert.equal(900, #series.tx)
      for second = 1, 900 do
         local out = second > 60 and second <= 69
         assert.is_true(series.tx[second] > 800)
         assert.near(out and 0 or series.tx[second], series.rx[second], 1)
      end
   end)
end)

describe("a run of Y.1564", function()
   teardown(scratch.remove)

   local function command(...)
      return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), table.concat({ ... }, " ")))
   end
   local PLAN = ("'%sy1564-three-services-reference.yaml' %s"):format(CONFIGS, THREE)

   it("holds the figures of its services against what is expected", function()
      local function run_for(expectations)
         local path = scratch.path()
         local output, status = command("run", PLAN, "'--set=y1564.tests=[performance]'",
            "--set=y1564.performance.duration=2s", "--out", ("'%s'"):format(path), expectations)
         return status, output, path
      end
      local status, _, path = run_for("--expect 'voice.flr<=0%' --expect 'video.avail>=100%' --expect 'data.ir>=199.9Mbps' --expect 'voice.ftd<=1ms'")
      assert.equal(0, status)
      for _, one in ipairs(json.decode(scratch.read(path .. "/result.json")).expectations) do
         assert.is_true(one.met)
      end
      assert.matches("<dt>Tested</dt><dd>%d%d%d%d%-", scratch.read(path .. "/report.html"))
      local junit
      status, _, path = run_for "--expect 'voice.ftd<=1us'"
      junit = scratch.read(path .. "/junit.xml")
      assert.equal(1, status)
      assert.equal(2, select(2, junit:gsub('the device fell short of voice.ftd&lt;=1us', "")))
      for text, why in pairs {
         ["speech.flr<=0%"] = "subject 'speech'", ["voice.speed<=0%"] = "no figure 'speed'",
         ["voice.flr>=0%"] = "criterion with <=", ["throughput>=95%"] = "no figure 'throughput'",
         ["voice.ftd<=fast"] = "fast",
      } do
         local output
         status, output = run_for("--expect '" .. text .. "'")
         assert.equal(2, status)
         assert.matches(why, output, 1, true)
      end
   end)

   it("is foreseen to the last trial", function()
      local output, status = command("run --dry-run", PLAN)
      assert.equal(0, status)
      local _, _, result = three_services()
      assert.is_truthy(output:find(("Estimate: %d trials"):format(#result.trials), 1, true), output)
      for _, trial in ipairs(result.trials) do
         assert.is_truthy(output:find(trial.phase, 1, true), trial.phase)
      end
   end)

   it("gives the same bytes twice, and goes on where it was killed", function()
      local whole, again = select(4, three_services()), scratch.path()
      assert.equal(0, select(2, command("run", PLAN, "--out", ("'%s'"):format(again))))
      for _, name in ipairs { "result.json", "trials.jsonl", "configuration.csv", "performance.csv" } do
         assert.equal(scratch.read(whole .. "/" .. name), scratch.read(again .. "/" .. name))
      end
      local broken = interrupted(whole, 17, 12)
      local output, status = command("run --resume", ("'%s'"):format(broken))
      assert.equal(0, status, output)
      for _, name in ipairs { "result.json", "trials.jsonl" } do
         assert.equal(scratch.read(whole .. "/" .. name), scratch.read(broken .. "/" .. name))
      end
   end)

   it("that is interrupted keeps what there is", function()
      local path = scratch.path()
      local script = [[
         '%s' run %s --set reference_device.time=real --set y1564.configuration.trial=100ms \
            --set y1564.learning_wait=10ms --set y1564.drain=50ms \
            --out '%s' >/dev/null &
         pid=$!
         until [ "$(cat '%s/trials.jsonl' 2>/dev/null | wc -l)" -ge 3 ]; do
            sleep 0.02
            kill -0 $pid || exit
         done
         kill -INT $pid
         wait $pid]]
      local _, status = scratch.shell(script:format(uv.exepath(), PLAN, path, path))
      local result = json.decode(scratch.read(path .. "/result.json"))
      assert.equal(130, status)
      assert.is_true(result.interrupted)
      assert.is_true(schema.validate(path .. "/result.json"))
      local services = result.results.y1564.services
      assert.is_true(#services[1].configuration >= 3)
      assert.equal("not-applicable", services[3].validity)
      assert.is_truthy(scratch.read(path .. "/report.html"):find("The run was interrupted", 1, true))
   end)

   it("is rendered again to the same bytes", function()
      local path = select(4, run("one-service", "--quick", SHORT))
      local page = scratch.read(path .. "/report.html")
      assert.equal(0, select(2, command("report", ("'%s'"):format(path))))
      assert.equal(page, scratch.read(path .. "/report.html"))
   end)

   it("is one suite for each service in JUnit", function()
      local path = select(4, run("three-services", "--quick", CONFIGURATION,
         "reference_device.profiles.data.ebs=64KiB"))
      local text = scratch.read(path .. "/junit.xml")
      for name, counts in pairs { voice = { "0", "0" }, video = { "0", "2" }, data = { "4", "2" } } do
         local failed, skipped = text:match(
            'failures="(%d+)" hostname="[^"]*" name="framegauge.y1564.' .. name .. '" skipped="(%d+)"')
         assert.same(counts, { failed, skipped }, name)
      end
      assert.is_truthy(text:find('<failure message="the bucket holds', 1, true))
   end)
end)
