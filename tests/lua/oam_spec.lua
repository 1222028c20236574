-- SPDX-License-Identifier: BSD-3-Clause

-- Active OAM: figures from records of probes that are written out here, and whole sessions through the
-- reference device, whose delays and losses are known.
local CommonTime = require "framegauge.tester.oam.common_time"
local api = require "framegauge.core.api"
local ffi = require "ffi"
local figures = require "framegauge.tester.oam.figures"
local json = require "framegauge.text.json"
local oam = require "framegauge.methods.oam.method"
local plan = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local truth = require "oam_truth"
local uv = require "luv"

local C = api.C
local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/oam-reference.yaml"
local SENT, ANSWERED = C.FG_OAM_PROBE_SENT, C.FG_OAM_PROBE_SENT + C.FG_OAM_PROBE_ANSWERED
local SYNCHRONISED = 0x8587 -- 1 us

-- Records of probes. @param count  how many; @param reply  function(number) -> fields, or nil: it was lost
local function probes(count, reply)
   local list = ffi.new("struct fg_oam_probe[?]", count)
   for i = 0, count - 1 do
      local p, got = list[i], reply(i)
      p.t1, p.unix_t1, p.flags = i * 1000000, i * 1000000 + 1, SENT
      if got then
         local there, stay, back, ahead = 20000, 5000, got.back or 16000, got.ahead or 0
         p.flags, p.estimate, p.ttl = ANSWERED, got.estimate or SYNCHRONISED, 255
         p.t2 = p.unix_t1 + there + ahead
         p.t3 = p.t2 + stay
         p.t4, p.unix_t4 = p.t1 + there + stay + back, p.unix_t1 + there + stay + back
         p.t3 = p.t3 + (got.wrong or 0)
         p.reflected = got.number or i
      end
   end
   return list
end

local function figures_of(list, count, o)
   local about = { timeout_ns = 1e9, duplicates = 0, numbers = "sequence", told = true, own_error_ns = 100,
      stamp_ns = 10 }
   for key, value in pairs(o or {}) do
      about[key] = value
   end
   return figures.of(list, count, about)
end

describe("figures of a session", function()
   it("are the delays of both ways and the time in the reflector", function()
      local row = figures_of(probes(10, function() return {} end), 10)
      assert.equal(36000, row.round_trip.p50_ns)
      assert.equal(20000, row.forward.max_ns)
      assert.equal(16000, row.backward.min_ns)
      assert.equal(5000, row.turnaround.mean_ns)
      assert.equal("measured", row.one_way)
      assert.near(100 + 1005.8 + 20, row.one_way_error_ns, 0.1)
   end)

   it("withhold one-way delays where no clock vouches for them, and bound the offset", function()
      local function ahead(estimate)
         return probes(10, function() return { ahead = 1000000, estimate = estimate } end)
      end
      local row = figures_of(ahead(0x0001), 10)
      assert.is_nil(row.forward)
      assert.matches("peer's error estimate says that its clock is not synchronised", row.one_way)
      assert.equal(36000, row.round_trip.p50_ns)
      assert.equal(1002000, row.clock_offset_ns)
      assert.equal(18000 + 10, row.clock_offset_error_ns)
      assert.equal(0, row.forward_variation_ns)
      -- a clock that claims to be right and cannot be
      row = figures_of(ahead(SYNCHRONISED), 10)
      assert.is_nil(row.backward)
      assert.matches("delay of one way is %-984000 ns, less than 0", row.one_way)
      row = figures_of(probes(10, function() return {} end), 10, { problem = "ours is not" })
      assert.equal("ours is not", row.one_way)
      row = figures_of(probes(10, function() return { estimate = 0x8500 } end), 10)
      assert.is_nil(row.forward, "a multiplier of 0")
   end)

   it("do without times that cannot be", function()
      for _, wrong in ipairs { -5001, 36001, 1e18, -1e18 } do
         local row = figures_of(probes(10, function(i) return { wrong = i == 4 and wrong or nil } end), 10)
         assert.equal(41000, row.round_trip.min_ns, "with the time in the reflector")
         assert.equal(41000, row.round_trip.max_ns)
         assert.is_nil(row.forward)
         assert.is_nil(row.turnaround)
         assert.is_nil(row.clock_offset_ns)
         assert.matches("less than no time, or longer than it was away", row.one_way)
      end
   end)

   it("tell on which way probes were lost", function()
      local reflected = { [0] = 0, 1, nil, 2, 3, nil, 5, 6, 7, 8 }
      local row = figures_of(probes(10, function(i)
         return reflected[i] and { number = reflected[i] }
      end), 10)
      assert.equal(2, row.lost)
      assert.equal(0.2, row.loss_ratio)
      assert.is_true(row.stateful)
      assert.equal(1, row.forward_lost)
      assert.equal(1, row.backward_lost)
      assert.equal(0, row.undecided_lost)
      -- the reflector has counted this session before
      row = figures_of(probes(10, function(i)
         return reflected[i] and { number = 40 + reflected[i] }
      end), 10)
      assert.equal(1, row.forward_lost)
      -- nothing came after number 6
      row = figures_of(probes(10, function(i)
         return i < 7 and reflected[i] and { number = reflected[i] }
      end), 10)
      assert.equal(3, row.undecided_lost)
      -- no number of its own, or a copy that it counted twice
      row = figures_of(probes(10, function(i) return i ~= 4 and {} end), 10)
      assert.is_false(row.stateful)
      assert.is_nil(row.forward_lost)
      row = figures_of(probes(10, function(i) return { number = i < 5 and i or i + 1 } end), 10)
      assert.is_nil(row.forward_lost)
   end)

   it("count synthetic losses, and say what they allow to be claimed", function()
      local row = figures_of(probes(41, function(i)
         return i ~= 3 and i ~= 7 and { number = i < 3 and i + 1 or i }
      end), 41, { numbers = "count" })
      assert.equal(1, row.forward_lost)
      assert.equal(1, row.backward_lost)
      row = figures_of(probes(600, function(i) return { number = i + 1 } end), 600, { numbers = "count" })
      assert.equal(0, row.loss_lower_ratio)
      assert.near(0.0050, row.loss_upper_ratio, 0.00005)
   end)

   it("count a service by the difference of counters that pass 2^32, and hide nothing below 0", function()
      local list = probes(4, function(i) return i ~= 2 and {} end)
      local told = { [0] = { 0xffffff00, 7, 7 }, { 0xffffff09, 12, 11 }, nil, { 0x0000001a, 32, 32 } }
      for i, counts in pairs(told) do
         list[i].reflected, list[i].returned, list[i].came = unpack(counts)
      end
      local service = figures_of(list, 4, { between = 10 }).service
      assert.equal(30, service.forward_sent)
      assert.equal(30 - 282, service.forward_lost)
      assert.equal(1, service.forward_most_lost)
      assert.equal(25, service.backward_sent)
      assert.equal(0, service.backward_lost)
      assert.equal(1, service.backward_most_lost)
      assert.is_nil(figures_of(probes(4, function(i) return i == 1 and {} end), 4, { between = 10 }).service)
   end)

   it("take what is late for lost", function()
      local row = figures_of(probes(10, function(i) return { back = i == 4 and 2e9 or nil } end), 10)
      assert.equal(1, row.late)
      assert.equal(1, row.lost)
      assert.equal(36000, row.round_trip.max_ns)
   end)

   it("are the tester's own where it was held up and probes were lost", function()
      local list, tester = probes(10, function() end), { gap_max_ns = 0, step_ns = 1e6 }
      list[2].t1, list[3].t1, list[4].t1 = 4500000, 4500000, 4500000 -- due at 2, 3 and 4 ms
      tester.off_schedule, tester.lag_max_ns = figures.lateness(list, 10, 0, 1000000, 1000000)
      assert.same({ 2, 2500000 }, { tester.off_schedule, tester.lag_max_ns })
      assert.equal(3, (figures.lateness(list, 10, 0, 1000000, 500000)), "with a frame of a service between")
      assert.equal("3 probes lost, but 2 probes left up to 2.5 ms late and close together",
         oam.held_up({ sent = 10, lost = 3 }, tester))
      assert.is_nil(oam.held_up({ sent = 10, lost = 0 }, tester))
      assert.is_nil(oam.held_up({ sent = 2000, lost = 3 }, tester))
      local blind = { off_schedule = 0, lag_max_ns = 0, gap_max_ns = 5.5e6, step_ns = 1e6 }
      assert.equal("3 probes lost, but the tester did not look at its ports for 5.5 ms, in which 5 frames come",
         oam.held_up({ sent = 10, lost = 3 }, blind))
      blind.step_ns = 5e6
      assert.is_nil(oam.held_up({ sent = 10, lost = 3 }, blind))
   end)

   it("are the tester's own where it was held up and frames of a service were lost", function()
      local function held_up(lost, forward, backward)
         return oam.held_up({ sent = 10, lost = lost, service = { forward_sent = 90, forward_lost = forward,
            backward_lost = backward } }, { off_schedule = 0, gap_max_ns = 5.5e6, step_ns = 1e6 })
      end
      assert.is_nil(held_up(0, 0, -2))
      assert.equal("4 frames of the service lost, but the tester did not look at its ports for 5.5 ms, in which 5 frames come",
         held_up(0, 4, -2))
      assert.matches("^1 probe and 6 frames of the service lost, but ", held_up(1, 4, 2))
   end)

   it("are no fault of the device where a card swallowed frames of a service", function()
      local port = { name = "east", rx_missed = 0, rx_no_mbuf = 0, tx_errors = 0, rx_errors = 0,
         card = { tx = 100, tx_unaccounted = 0, rx_unaccounted = 0, card_rx_total = 100, card_rx = 96,
            rx_missed = 0, rx_errors = 0 } }
      local function invalid(forward_lost)
         return (oam.reasons({ sent = 10, lost = 0, tester_drops = 0, service = { forward_sent = 90,
            forward_lost = forward_lost, backward_lost = 0 } },
            { ports = { port }, refused = 0, off_schedule = 0, gap_max_ns = 0, step_ns = 1e6 }))
      end
      assert.same({}, invalid(0))
      assert.matches("4 frames arrived at the card, reached no queue", invalid(4)[1])
   end)

   it("are none where nothing came back", function()
      local row = figures_of(probes(10, function() end), 10)
      assert.equal(10, row.lost)
      assert.is_nil(row.round_trip)
      assert.is_nil(row.stateful)
      assert.matches("no times", row.one_way)
   end)
end)

describe("the time that OAM packets carry", function()
   local function common(synchronised)
      local asked, drift = {}, { ns = 0LL }
      local one = CommonTime.open({ source = "auto" }, function(o)
         asked[#asked + 1] = o.source
         local good = o.source == synchronised
         return {
            state = function() return { synchronised = good, finding = "none", fix = "install one" } end,
            look = function() end, distance = function() return 42LL + drift.ns end,
            error = function() return good and 1000 or 16e9 end,
         }
      end)
      return one, asked, drift
   end

   it("is of the first source that is synchronised, and no PTP clock's", function()
      local one, asked = common "kernel"
      one:look()
      local ahead, estimate = one:look()
      assert.equal("chrony kernel", table.concat(asked, " "))
      assert.equal(42, tonumber(ahead))
      assert.equal(SYNCHRONISED, estimate)
      assert.is_nil(one:problem())
   end)

   it("is worse by what clocks drift apart from one look to the next", function()
      local one, _, drift = common "chrony"
      local _, first = one:look()
      assert.near(1000 + 100000, C.fg_oam_estimate_ns(first), 1000, "500 ppm of 200 ms, until it is known")
      drift.ns = 1000LL
      one:look()
      local gap = one.gap_ns
      assert.near(1000 + gap * one.rate, one:error(), 1)
      assert.is_true(one.rate > 0)
   end)

   it("says that it is not synchronised, and what mends it", function()
      local one = common "none"
      local _, estimate = one:look()
      assert.is_true(estimate < 0x8000)
      assert.near(16e9, C.fg_oam_estimate_ns(estimate), 0.2e9)
      assert.equal("none: install one", one:problem())
   end)
end)

-- Run the plan for the reference device. @return its rows by test, exit status, the folder, what was said
local function run(...)
   local path, by_test = scratch.path(), {}
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), CONFIG, path) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   local file = assert(io.open(path .. "/result.json"), output)
   local result = json.decode(file:read "*a")
   file:close()
   for _, row in ipairs(result.results.oam) do
      by_test[row.test] = row
   end
   return by_test, status, path, output
end

describe("a session through the reference device", function()
   teardown(scratch.remove)

   it("finds its delays and losses, to the nanosecond and the frame", function()
      local rows, status, path, output = run()
      local line, step = 8 * 128, 100 -- ns of a frame; of the wire's time
      assert.equal(0, status, output)
      for test, row in pairs(rows) do
         assert.equal("pass", row.outcome, test)
         assert.equal(1000, row.sent)
         assert.equal(test == "loss" and 0 or 20, row.lost, test) -- frames of the service are, every 50th of all
         local told = test == "loopback" or test == "synthetic_loss" or test == "loss"
         assert.equal(20000 + 15000 + 2 * line + (told and step or 0), row.round_trip.max_ns, test)
         assert.equal(row.round_trip.max_ns, row.round_trip.min_ns)
      end
      for _, test in ipairs { "stamp", "twamp_light", "delay" } do
         assert.equal(20000 + line, rows[test].forward.p50_ns, test)
         assert.equal(15000 + line, rows[test].backward.p50_ns, test)
         assert.equal(step, rows[test].turnaround.max_ns)
      end
      for _, test in ipairs { "stamp", "twamp_light", "synthetic_loss" } do
         assert.equal(20, rows[test].forward_lost, test)
         assert.equal(0, rows[test].backward_lost, test)
      end
      assert.equal(199, rows.loss.service.forward_lost)
      assert.equal(999 * 9, rows.loss.service.forward_sent)
      assert.equal(0, rows.loss.service.backward_lost)
      assert.equal(json.null, rows.delay.service)
      assert.is_true(schema.validate(path .. "/result.json"))
      assert.matches("Sessions", scratch.read(path .. "/report.html"))
   end)

   it("tells losses of both ways apart", function()
      local rows = run("oam.tests=[stamp, synthetic_loss]", "reference_device.reverse.loss_every=7",
         "oam.timestamp=ptp")
      for test, row in pairs(rows) do
         assert.equal(20, row.forward_lost, test)
         assert.equal(math.floor(980 / 7), row.backward_lost + row.undecided_lost, test)
      end
      assert.equal(20000 + 1024, rows.stamp.forward.max_ns)
   end)

   it("counts what a service loses on each way by LMM", function()
      local row, _, _, output = run("oam.tests=loss", "oam.count=200", "oam.between=4",
         "reference_device.loss_every=7", "reference_device.reverse.loss_every=11")
      local there, back = truth.lost_service(200, 4, 7, 11)
      assert.is_true(there > 100 and back > 50)
      row = row.loss
      assert.equal(there, row.service.forward_lost, output)
      assert.equal(back, row.service.backward_lost)
      assert.is_true(row.lost > 0 and row.service.forward_most_lost >= 1)
      assert.near(row.service.forward_lost / row.service.forward_sent, row.service.forward_loss_ratio, 1e-9)
   end)

   it("sees duplicates and what comes out of order", function()
      local rows, _, _, output = run("oam.tests=stamp", "reference_device.loss_every=0",
         "reference_device.duplicate.every=10", "oam.count=100")
      local row = rows.stamp
      assert.equal(0, row.lost)
      assert.matches("stamp, east%->west: of the replies 21 duplicate; a probe", output)
      assert.equal(10 + 11, row.duplicates, "of the probes, and of the 110 replies")
      assert.equal(json.null, row.forward_lost)
      row = run("oam.tests=stamp", "reference_device.loss_every=0", "reference_device.reorder.every=20",
         "reference_device.reorder.by=1", "oam.count=100", "oam.interval=10us",
         "reference_device.reverse.reorder.every=0").stamp
      assert.equal(5, row.reordered)
      assert.equal("pass", row.outcome)
   end)

   it("fails a peer that does not answer", function()
      local rows, status, _, output = run("oam.tests=[stamp, loopback]", "reference_device.loss_every=1",
         "oam.count=10", "oam.drain=10ms")
      assert.equal(1, status)
      assert.equal("fail", rows.stamp.outcome)
      assert.equal(1, rows.stamp.loss_ratio)
      assert.matches("no reply came", output)
   end)
end)

describe("a plan of a reflector", function()
   it("has a clock of UTC, where that goes into replies", function()
      local function wrong(mode, clock)
         local _, errors = plan.load_text(("test: reflect\nports: {a: {device: 'kernel:eth9', ipv4: 198.18.1.2/24}}\nreflect: {mode: %s}\nclock: {source: %s}\n"
            .. "isolated_network: true"):format(mode, clock), "plan")
         return errors and tostring(errors[1]) or "nothing"
      end
      assert.matches("clock.source: timestamps of OAM are of UTC", wrong("stamp", "phc"))
      assert.equal("nothing", wrong("stamp", "chrony"))
      assert.equal("nothing", wrong("signature", "phc"))
   end)
end)

describe("a plan of OAM", function()
   local function wrong(text, ports)
      local _, errors = plan.load_text(([[
test: oam
ports: %s
%s]]):format(ports or "{a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}",
         text), "plan")
      return errors and tostring(errors[1]) or "nothing"
   end
   local ONE = "{a: {device: 'kernel:eth9', ipv4: 198.18.1.2/24}}"

   it("has no more probes than the line carries, which would wait for each other", function()
      local function check(keys, rate)
         local one = assert(plan.load_text(("test: oam\noam: {%s}\n"):format(keys)
            .. "ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}", "plan"))
         return oam.check(one, { ports = { { line_rate = rate }, { line_rate = rate and 1e9 } } })
      end
      -- 1,000 bytes take 816 us at 10 Mbit/s
      assert.is_nil(check("frame_sizes: [90, 1000], interval: 816us", 1e7))
      assert.equal("oam: stamp: the line does not carry 1 frame of 1000 bytes every 815 us; give at least oam.interval: 816 us",
         check("frame_sizes: [90, 1000], interval: 815us", 1e7))
      assert.matches("does not carry 10 frames of 1000 bytes every 8.15 ms; give at least oam.interval: 8.16 ms",
         check("tests: loss, frame_sizes: 1000, interval: 8150us", 1e7), 1, true)
      assert.is_nil(check("frame_sizes: 1000, interval: 1us"))
   end)

   it("is refused where it cannot work, by key", function()
      assert.equal("nothing", wrong "oam: {tests: [stamp, delay]}")
      assert.matches("oam.frame_sizes: 89 bytes do not hold a probe of stamp.*at least 90",
         wrong "oam: {frame_sizes: 89}")
      assert.matches("ports: 1 of them, and no oam.peer", wrong("", ONE))
      assert.matches("oam.peer: how to get there is not known.*ports.a.gateway",
         wrong("oam: {peer: {ipv4: 198.18.9.9}}\nisolated_network: true", ONE))
      assert.matches("oam.peer: delay needs the MAC", wrong(
         "oam: {tests: delay, peer: {ipv4: 198.18.9.9}}\nisolated_network: true", ONE))
      assert.matches("oam.peer: stamp needs the reflector's address", wrong(
         "oam: {peer: {mac: '02:00:00:00:00:09'}}\nisolated_network: true", ONE))
      assert.matches("ports: 2 of them with oam.peer", wrong "oam: {peer: {ipv4: 198.18.1.9}}")
      assert.matches("clock.source: timestamps of OAM are of UTC", wrong "clock: {source: phc}")
      assert.matches("ports.a: stamp needs an address", wrong(
         "oam: {peer: {ipv6: '2001:2::9', mac: '02:00:00:00:00:09'}}\nisolated_network: true", ONE))
      assert.matches('"mpls" is not known', wrong "oam: {tests: mpls}")
   end)
end)
