-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 held against reference switches, its arithmetic against worked examples, and runs of its plan.
local buffer = require "framegauge.methods.rfc8239.buffer"
local common = require "framegauge.methods.rfc8239.common"
local ethernet = require "framegauge.core.ethernet"
local fixture = require "fixture"
local head_of_line = require "framegauge.methods.rfc8239.head_of_line"
local incast = require "framegauge.methods.rfc8239.incast"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local method = require "framegauge.methods.rfc8239.method"
local microburst = require "framegauge.methods.rfc8239.microburst"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local small_runs = require "small_runs"
local stateful_incast = require "framegauge.methods.rfc8239.stateful_incast"
local tables = require "framegauge.core.tables"
local truth = require "rfc8239_truth"
local uv = require "luv"

local function wrong(n, keys, switch)
   local _, errors = plans.load_text(truth.plan_of("x", n, switch or "", keys), "x.yaml")
   return errors and tostring(errors[1]) or ""
end

describe("the terms of RFC 8238", function()
   it("count latency from the first bit in to the last bit out, less the cables", function()
      local plan = { rfc8239 = { definition = "filo", cable = 5e-9 } }
      local seen = { min_ns = 20512, mean_ns = 20512, max_ns = 20600 }
      local latency = common.latency(plan, seen, 64, 1e9)
      assert.same({ 21014, 21102 }, { latency.min_ns, latency.max_ns })
      assert.truthy(latency.definition:find "FILO")
      latency = common.latency(plan, seen, 64, nil) -- a line whose rate the plan alone declares
      assert.equal(20502, latency.min_ns)
      assert.truthy(latency.definition:find "FIFO")
      plan.rfc8239 = { definition = "fifo", cable = 0 }
      assert.equal(20512, common.latency(plan, seen, 64, 1e9).min_ns)
   end)

   it("count jitter from the least delay", function()
      assert.same({ range_ns = 50, p99_ns = 30 }, common.jitter { min_ns = 100, p99_ns = 130, max_ns = 150 })
   end)

   it("tell how results vary", function()
      local row = { reasons = {} }
      common.repeated({ rfc8239 = { max_rsd = 0.1 } }, row, { 100, 103, 99 })
      assert.near(-3.8835, row.pv_percent, 1e-4)
      assert.near(2.0679, row.rsd_percent, 1e-4)
      assert.same({ true, 0 }, { row.repeatable, #row.reasons })
      common.repeated({ rfc8239 = { max_rsd = 0.02 } }, row, { 100, 103, 99 })
      assert.is_false(row.repeatable)
      assert.truthy(row.reasons[1]:find("unrepeatable", 1, true))
   end)
end)

describe("the patterns of RFC 8239", function()
   it("send frame k of ingress i to egress (i + k) mod e", function()
      local seen = {}
      for _, turn in ipairs(microburst.turns({ "a", "b", "c", "d", "x", "y" }, 4, 3)) do
         seen[#seen + 1] = ("%s%s%d@%d"):format(turn.from, turn.to, turn.frames, turn.first)
      end
      assert.equal("ax2@0 ay1@1 by2@0 bx1@1 cx2@0 cy1@1 dy2@0 dx1@1", table.concat(seen, " "))
      assert.equal(1, #microburst.turns({ "a", "x", "y" }, 1, 1))
   end)

   it("congest the last egress of a group, and spare the others", function()
      local seen = {}
      for _, flow in ipairs((head_of_line.flows({}, { "i", "j", "e", "f", "g", "h" }))) do
         seen[#seen + 1] = ("%s%s%g%s"):format(flow.from, flow.to, flow.share, flow.innocent and "!" or "")
      end
      assert.equal("ie0.25! if0.25! ig0.25! ih0.25 jh1", table.concat(seen, " "))
   end)
end)

describe("incast with TCP", function()
   it("has one port with bursts beside TCP, then one with TCP beside bursts", function()
      local seen = {}
      for i, one in ipairs(stateful_incast.series(5)) do
         seen[i] = one.tcp .. "+" .. one.udp
      end
      assert.equal("1+1 2+1 3+1 1+2 1+3", table.concat(seen, " "))
      assert.equal(1, #stateful_incast.series(3))
   end)

   it("has at most what bursts leave of the line", function()
      assert.near(9376.0e6, stateful_incast.ideal(10e9, "ipv4", "tcp", 10000, 1518), 5e4)
      assert.equal(0, stateful_incast.ideal(1e9, "ipv4", "tcp", 90000, 1518))
   end)

   it("is fair where all ports have the same", function()
      local of = stateful_incast.fairness
      assert.same({ 1, 0.5, 0.8, 1 }, { of { 7, 7, 7 }, of { 5, 0 }, of { 3, 1 }, of { 0, 0 } })
   end)
end)

describe("the three figures of a buffer", function()
   -- a and o at a line of 1 Mfps, which sends as fast; interval of 1 ms, quarter of 0.25 s
   local function flows(last_ns, first_lost_s, rx)
      local points = { interval_s = 1e-3, quarter_s = 0.25, first_lost_s = first_lost_s, before_ns = last_ns,
         last_ns = last_ns, rx = rx or 125000 }
      return {
         { fps = 999800, extra_fps = 0, lost = 10, latency = { min_ns = 1000, max_ns = last_ns },
            points = points },
         { fps = 10000, extra_fps = 10000, lost = 10, latency = { min_ns = 1000, max_ns = last_ns },
           points = points },
      }
   end

   it("agree for a queue", function()
      local f = buffer.figures(flows(1001000, 0.102), 1e6)
      assert.is_true(f.is_full)
      assert.near(1000, f.by_latency_frames, 1e-6)
      assert.near(1020, f.by_count_frames, 1e-6)
      assert.near(0.102 * 9800, f.by_balance_frames, 1e-6)
      assert.is_true(buffer.agree(f))
   end)

   -- what they show of a plain queue of 1000 frames, whatever the clock of its line
   it("agree where the egress is faster by what two clocks may differ", function()
      for _, ppm in ipairs { -200, 100, 200 } do
         local fps = 1e6 * (1 + ppm * 1e-6)
         local f = buffer.figures(flows(1000 + 1000 / fps * 1e9, 1000 / (1009800 - fps), fps / 8), 1e6)
         assert.near(10000 / (1009800 - fps) * 1000, f.by_count_frames, 1e-6)
         assert.is_true(buffer.agree(f), ppm)
      end
   end)

   it("disagree where an egress sends less than its line carries", function()
      local fps = 0.95e6
      assert.is_false(buffer.agree(buffer.figures(flows(1000 + 1000 / fps * 1e9, 1000 / (1009800 - fps),
         fps / 8), 1e6)))
   end)

   it("disagree where frames are lost before the latency is at its greatest", function()
      assert.is_false(buffer.agree(buffer.figures(flows(1001000, 0.05), 1e6)))
   end)

   it("are none where nothing was lost, or the latency still grows", function()
      local list = flows(1001000, 0.102)
      list[1].points.before_ns = 900000
      list[2].points.before_ns = 900000
      assert.is_false(buffer.figures(list, 1e6).is_full)
      list = flows(1001000)
      list[1].lost, list[2].lost = 0, 0
      assert.is_false(buffer.figures(list, 1e6).is_full)
   end)
end)

describe("a plan of RFC 8239", function()
   it("has room for its frames over IPv6, or says so", function()
      local text = truth.plan_of("x", 4, "", "tests: [line_rate], frame_sizes: [64]"):gsub(
         "{device: wire(%d)}", "{device: wire%1, ipv6: 2001:2:0:%1::2/64}")
      assert.truthy(text:find("ipv6", 1, true))
      local _, errors = plans.load_text(text, "x.yaml")
      local said = tostring(errors and errors[1])
      assert.truthy(said:find("64 bytes do not hold a test frame over IPv6", 1, true))
   end)

   it("is told what does not fit", function()
      assert.equal("", wrong(8, ""))
      for _, one in ipairs {
         { 3, "tests: [head_of_line]", "head_of_line with 3 ports; expected at least 4 ports" },
         { 2, "tests: [buffer]", "buffer with 2 ports" },
         { 5, "tests: [buffer], buffer: {procedures: [pairs]}", "pairs with 5 ports; expected at least 6" },
         { 6, "microburst: {ingresses: [3]}", "3 of 6 ports congest no other; expected 4 to 5" },
         { 6, "definition: lifo", "filo or fifo" },
         { 6, "tests: [incast], incast: {burst_interval: 10us}", "burst_interval: shorter than a burst" },
         { 2, "tests: [stateful_incast]", "stateful_incast with 2 ports; expected at least 3" },
      } do
         assert.truthy(wrong(one[1], one[2]):find(one[3], 1, true), wrong(one[1], one[2]))
      end
   end)

   it("is not told of bursts that it does not send, and makes time for those it sends", function()
      assert.equal("", wrong(4, "tests: [line_rate], incast: {burst_interval: 10us}"))
      -- a burst of 100 frames of 1518 bytes takes 12.3 ms at 100 Mbit/s; trials of 50 ms
      for _, one in ipairs { { "10Mbps", 0.16, 0.16 }, { "100Mbps", 0.02, 0.04 }, { "1Gbps", 0.01, 0.05 } } do
         local text = truth.plan_of("x", 4, "rate: " .. one[1], "trial: 50ms")
         local plan, errors = plans.load_text(text, "x")
         assert(plan, errors and tostring(errors[1]))
         local bursts = incast.bursts(plan, { max_fps = function(_, size)
            return ethernet.max_fps(plan.reference_switch.rate, size)
         end })
         assert.near(one[2], bursts.interval, 1e-9)
         assert.near(one[3], bursts.seconds, 1e-9)
      end
   end)

   -- with any procedures: a run begins with a trial that its parts foresee
   it("foresees the frame size of its buffers", function()
      for procedures, sizes in pairs {
         ["[port]"] = { 1518 }, ["[many_to_one]"] = { 1518 }, ["[port], frame_size: 64"] = { 64 },
         ["[efficiency, port], frame_size: 128"] = { 64, 1518, 128 }, ["[efficiency, port]"] = { 64, 1518 },
      } do
         local plan = assert(plans.load_text(truth.plan_of("x", 4, "",
            ("tests: [buffer], frame_sizes: [64, 1518], buffer: {procedures: %s}"):format(procedures)), "x"))
         assert.same(sizes, tables.field(method.parts(plan, plan.ports), "frame_size"))
      end
   end)

   it("says where it departs from the RFC", function()
      local plan = assert(plans.load_text(truth.plan_of("x", 4, "", "tests: [line_rate], line: 100%"), "x"))
      assert.same({ "line rate is 100 %: more than a line whose clock is slow may carry" },
         method.conformance(plan).notes)
      plan = assert(plans.load_text(truth.plan_of("x", 4, "", "tests: [line_rate]"), "x"))
      assert.is_true(method.conformance(plan).conforms)
   end)
end)

describe("RFC 8239 on a reference switch", function()
   for _, device in ipairs(truth.DEVICES) do
      it("comes to figures within the bounds: " .. device.name, function()
         local results, counters = truth.measure(device)
         for _, check in ipairs(device.checks(results, counters)) do
            assert.is_true(check.measured >= check.low and check.measured <= check.high,
               ("%s: %g is not %g"):format(check.what, check.measured, check.truth))
         end
         for _, rows in pairs(results) do
            for _, row in ipairs(rows) do
               local fails = row.outcome == "fail" and not row.head_of_line_blocking
               assert.same({ "valid", false }, { row.validity, fails })
            end
         end
      end)
   end

   it("fails where a line carries less", function()
      local results = truth.measure { name = "x", ports = 4, switch = "capacity: 5Mfps, buffer: 16",
         keys = "iterations: 1, tests: [line_rate], frame_sizes: [64], trial: 20ms" }
      local pairs_of_ports, mesh = unpack(results.line_rate)
      local share = 5e6 / (4 * 0.9998 * 1e9 / 672)
      for _, row in ipairs { pairs_of_ports, mesh } do
         assert.same({ "valid", "fail" }, { row.validity, row.outcome })
         assert.near(share * 100, row.throughput_percent, 0.1)
      end
   end)

   -- 3.6 ms and a third of a second do not divide the trial, 0.3 is not three times 0.1 in binary
   for _, one in ipairs {
      { "100ms", "3600us", 27 }, { "300ms", "100ms", 3 }, { "300ms", "200ms", 1 }, { "100ms", "150ms", 1 },
   } do
      local trial, interval, number = unpack(one)
      it(("offers the load of whole bursts: every %s in %s"):format(interval, trial), function()
         local results, _, session = truth.measure { name = "x", ports = 3,
            switch = "rate: 100Mbps, buffer: 10",
            keys = ("iterations: 1, tests: [incast], frame_sizes: [1024], trial: %s, incast: {burst_frames: 8, burst_interval: %s}"):format(trial, interval) }
         local seconds = tonumber(interval:match "%d+") * (interval:find "us" and 1e-6 or 1e-3)
         for k, row in ipairs(results.incast) do
            assert.same({ "valid", {}, number * 8 * k }, { row.validity, row.reasons, row.tx })
            assert.near(number * seconds, session.trials[k].duration_s, 1e-9)
            assert.near((row.tx - row.lost) * 8 * 1024 / (number * seconds), row.goodput_bps, 1)
         end
      end)
   end

   it("is not measured by frames that it floods", function()
      local row = truth.measure {
         name = "x", ports = 4, switch = "rate: 100Mbps, buffer: 100, mac_table: {size: 1}",
         keys = "iterations: 1, tests: [incast], frame_sizes: [512], trial: 50ms, incast: {burst_frames: 20, burst_interval: 10ms}",
      }.incast[2]
      assert.equal("invalid", row.validity)
      assert.matches("came out at ports that they were not for", table.concat(row.reasons, "; "))
   end)

   -- an engine that carries one line and not two: the second source alone makes innocent frames be lost
   it("does not take a slow engine for head of line blocking", function()
      local results = truth.measure { name = "x", ports = 4, switch = "rate: 10Mbps, capacity: 4008fps, buffer: 16",
         keys = "iterations: 1, tests: [head_of_line], frame_sizes: [512], trial: 1s" }
      for _, row in ipairs(results.head_of_line) do
         assert.same({ "not-applicable", false }, { row.validity, row.head_of_line_blocking })
         assert.truthy(row.reasons[1]:find("lost without congestion, too", 1, true))
      end
   end)

   it("says what a buffer holds at least that does not fill", function()
      local row = truth.measure({ name = "x", ports = 3, switch = "buffer: 4000", keys = "iterations: 1, tests: [buffer], frame_sizes: [64], trial: 20ms, buffer: {procedures: [port], trial_max: 40ms}" })
         .buffer[1]
      assert.same({ "not_reached", "valid" }, { row.finding, row.validity })
      assert.is_nil(row.buffer_octets)
      assert.equal(math.floor(0.0098 * 1e9 / 672 * 0.04) * 64, row.at_least_octets)
   end)

   -- a queue of 200 frames, whatever the count is high by
   for _, one in ipairs {
      { "ppm: 100", "1%" }, { "ppm: 0", "0.5%" }, { "ppm: 0", "0.1%" }, { "ppm: 0", "1%, line: 99.9%" },
   } do
      it(("finds that a plain queue is one: %s, surplus %s"):format(unpack(one)), function()
         local surplus, line = one[2]:match "([^,]*)(.*)"
         local row = truth.measure({ name = "x", ports = 3, switch = "rate: 100Mbps, buffer: 200, " .. one[1],
            keys = ("iterations: 1, tests: [buffer], frame_sizes: [512], trial: 500ms, buffer: {procedures: [port], oversubscription: %s, trial_max: 16s}%s"):format(surplus,
            line) }).buffer[1]
         assert.same({ "plain", "valid" }, { row.finding, row.validity })
         assert.near(200, row.buffer_frames, 1)
      end)
   end

   it("makes a trial longer until the buffer is full", function()
      local row, _, session = truth.measure { name = "x", ports = 3, switch = "buffer: 1024",
         keys = "iterations: 1, tests: [buffer], frame_sizes: [64], trial: 20ms, buffer: {procedures: [port], trial_max: 1s}" }
      assert.same({ "plain", 0.32 }, { row.buffer[1].finding, row.buffer[1].trial_s })
      assert.near(1024, row.buffer[1].buffer_frames, 1)
      assert.equal(3, #session.trials)
   end)

   it("gives the same rows twice", function()
      local device = { name = "x", ports = 4, switch = "queues: shared, buffer: 64KiB",
         keys = "iterations: 1, frame_sizes: [256], trial: 100ms, microburst: {verify: 1}" }
      assert.same(truth.measure(device), (truth.measure(device)))
   end)
end)

describe("a run of RFC 8239", function()
   teardown(scratch.remove)

   local path

   setup(function()
      local output, status
      path, output, status = fixture.run("rfc8239", small_runs.RFC8239)
      assert.equal(0, status, output)
   end)

   it("writes what the schema says, and draws it", function()
      local result = json.decode(scratch.read(path .. "/result.json"))
      assert.is_true(result_schema.validate(path .. "/result.json"))
      assert.near(131072, result.results.rfc8239.buffer[2].buffer_octets, 2 * 1518)
      assert.truthy(scratch.read(path .. "/report.html"):find("Latency of incast", 1, true))
   end)

   it("fails where the device does not reach what is expected", function()
      local plan = "'%s' run '%sconfigs/rfc8239-reference.yaml' %s --set 'rfc8239.tests=[buffer]' --out '%s' --expect 'buffer>=200000@port' 2>&1"
      local output, status = scratch.shell(plan:format(uv.exepath(), scratch.PROJECT,
         small_runs.RFC8239:gsub(" %-%-expect.*", ""), scratch.path()))
      assert.equal(1, status, output)
   end)

   it("goes on where it ended", function()
      local _, trials = scratch.read(path .. "/trials.jsonl"):gsub("\n", "")
      local half = interrupted(path, trials - 1) -- the earlier ones are of every test
      local output, status = scratch.shell(("'%s' run --resume '%s' 2>&1"):format(uv.exepath(), half))
      assert.equal(0, status, output)
      assert.is_true(scratch.read(path .. "/result.json") == scratch.read(half .. "/result.json"))
   end)
end)
