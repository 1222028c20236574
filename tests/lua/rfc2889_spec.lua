-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 held against the reference switch: every figure within a bound that follows from the method.
local broadcast = require "framegauge.methods.rfc2889.broadcast"
local held = require "held"
local interrupted = require "interrupted"
local mesh = require "framegauge.methods.rfc2889.mesh"
local method = require "framegauge.methods.rfc2889.method"
local outlook = require "framegauge.methods.common.outlook"
local patterns = require "framegauge.traffic.patterns"
local plans = require "framegauge.plan"
local runs = require "rfc2889_runs"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local plan_of, run, wrong = runs.plan_of, runs.run, runs.wrong

local MESH = "frame_sizes: [64], trial: 100ms, search_trial: 10ms, step: 25%, "
-- where floods or many addresses take their time of a processor
local SHORT = "frame_sizes: [64], trial: 50ms, search_trial: 20ms, step: 50%, "
local LINE, RESOLUTION, TRIAL = 1e9 / 672, 1e-3, 0.1

-- The throughput is at most one resolution below the truth, and above it by what a buffer of the switch
-- swallows in a trial.
local function near_throughput(truth, row, buffered, trial)
   assert.is_true(row.throughput_fps <= truth + buffered / (trial or TRIAL) / row.senders, row.throughput_fps)
   assert.is_true(row.throughput_fps >= truth - RESOLUTION * LINE * 1.01, row.throughput_fps)
   assert.same({ "valid", 0 }, { row.validity, row.flood })
end

describe("the patterns of RFC 2889", function()
   local function seconds_of(name, n, k)
      local ports, list, turn = {}, {}, {}
      for i = 1, n do
         ports[i] = { name = tostring(i) }
      end
      for _, direction in ipairs(patterns.of(ports, name).directions) do
         local from, to = direction:match "^(%d+)%->(%d+)$"
         turn[from] = turn[from] or {}
         table.insert(turn[from], tonumber(to))
      end
      for i = 1, n do
         local of = turn[tostring(i)]
         list[i] = of and of[k % #of + 1] or 0
      end
      return list
   end

   it("send to all others in turn, no two to the same", function()
      local fourth = {}
      for k = 0, 5 do
         fourth[k + 1] = seconds_of("fully_meshed", 6, k)[4]
      end
      assert.same({ 5, 6, 1, 2, 3, 5 }, fourth)
      assert.same({ 3, 4, 5, 6, 1, 2 }, seconds_of("fully_meshed", 6, 1))
      for n = 2, 9 do
         for k = 0, n do
            local seen = {}
            for i, to in ipairs(seconds_of("fully_meshed", n, k)) do
               assert.is_true(to ~= i and not seen[to])
               seen[to] = true
            end
         end
      end
   end)

   it("go from one, to one, both, and from half to half", function()
      assert.same({ 3, 0, 0, 0 }, seconds_of("one_to_many", 4, 1))
      assert.same({ 0, 1, 1, 1 }, seconds_of("many_to_one", 4, 7))
      assert.same({ 4, 1, 1, 1 }, seconds_of("one_many_both", 4, 2))
      assert.same({ 4, 5, 6, 0, 0, 0 }, seconds_of("unidirectional", 6, 0))
      assert.same({ 5, 6, 4, 0, 0, 0 }, seconds_of("unidirectional", 6, 1))
   end)
end)

describe("a plan of RFC 2889", function()
   it("is told what does not fit", function()
      assert.truthy(wrong(3, "", "tests: [unidirectional]"):find("unidirectional with 3 ports", 1, true))
      assert.truthy(wrong(4, "", "tests: [mesh]"):find('"mesh" is not known', 1, true))
      assert.equal("", wrong(5, "", "tests: [fully_meshed, many_to_one]"))
      local _, errors = plans.load_text((plan_of(4, "", ""):gsub("reference_switch: {}\n", "")), "x.yaml")
      assert.truthy(tostring(errors[1]):find("every two wires have a device of their own", 1, true))
      _, errors = plans.load_text("test: rfc2889\nisolated_network: true\nports: {a: {device: kernel:x, gateway: 198.18.1.1}, b: {device: kernel:y}}", "x.yaml")
      assert.truthy(tostring(errors[1]):find("ports.a.gateway: a switch is no router", 1, true))
   end)

   it("says what lies ahead, and where it departs from the RFC", function()
      local plan = assert(plans.load_text(plan_of(4, "", "frame_sizes: [64, 128]"), "x.yaml"))
      plan.reference_switch = nil
      local parts = method.parts(plan)
      assert.equal(2, #parts)
      assert.equal(11 + 101, parts[1].trials)
      assert.near(11 * 1 + 101 * 30 + 112 * 0.03, parts[1].seconds, 1e-6)
      assert.same({ "fewer than five frame sizes (2)" }, method.conformance(plan).notes)
      assert.truthy(outlook.estimate(parts):find("at most 224 trials", 1, true))
   end)

   it("knows which trials a reference switch takes, and how many frames", function()
      local keys = "trial: 20ms, search_trial: 10ms, step: 10%, latency_frames: 1, frame_sizes: [64], tests: [fully_meshed, one_to_many, many_to_one, one_many_both, unidirectional, congestion_control, forward_pressure, broadcast, address_caching, learning_rate], address_table: {max: 64, order: sequential}"
      for _, switch in ipairs { "", "capacity: 2Mfps, mac_table: {size: 33}, ", "capacity: 1Mfps, replication: ingress, mac_table: {size: 40, learning_rate: 2kfps, learning_queue: 9}, " } do
         local _, session, plan = run(4, switch .. "buffer: 4", keys)
         local parts = method.parts(plan, { ports = plan.ports, max_fps = function() return LINE end })
         assert.equal(10, #parts)
         for _, part in ipairs(parts) do
            local made = tables.map(session.trials, function(one)
               return one.test == part.test and one or nil
            end)
            local frames = 0
            for _, one in ipairs(made) do
               frames = frames + one.tx * (part.test == "rfc2889.broadcast" and 3 or 1)
            end
            -- what a buffer holds may make a load pass that is beyond the limit by less than the resolution
            assert.near(#made, part.trials, 1, switch .. part.test)
            assert.near(frames, part.frames, 0.1 * part.frames + 100, switch .. part.test)
         end
      end
   end)
end)

describe("RFC 2889 between all ports", function()
   it("finds that an engine carries 3 million frames a second", function()
      local rows, session = run(4, "capacity: 3Mfps, buffer: 64", MESH)
      local row = rows.fully_meshed[1]
      near_throughput(750000, row, 64)
      assert.near(3e6, row.frmol_fps, 65 / TRIAL)
      assert.near(1 - 3e6 / (4 * LINE), row.mol_loss_ratio, 65 / TRIAL / (4 * LINE))
      assert.near(3e6, row.mfr_fps, 65 / TRIAL)
      assert.equal(5952380, math.floor(row.mol_fps))
      assert.equal(5952380, row.theoretical_fps)
      assert.equal(#session.trials, row.trials)
      -- 50.4 %, 75.4 %, and the maximum itself, although 100.4 % would be the next step
      assert.equal(3, #row.series)
      assert.equal(100, row.series[3].iload_percent)
   end)

   it("finds that lines alone carry everything, with hardly a buffer", function()
      local row = run(6, "buffer: 1, latency: 5us", MESH).fully_meshed[1]
      near_throughput(LINE, row, 0)
      assert.same({ "maximum", 100, 0 }, { row.limited_by, row.throughput_percent, row.mol_loss_ratio })
      assert.near(5512, row.latency.min_ns, 1)
      assert.near(5512, row.latency.max_ns, 1)
   end)

   -- U / h between the halves, U (n - 1) / h^2 in a full mesh, of lines of 100 Mb/s and a line of 500 Mb/s
   it("finds what the line between two switches carries", function()
      local function share(n, here)
         return run(n, "rate: 100Mbps, buffer: 150, uplink: {rate: 500Mbps}",
            "frame_sizes: [64], trial: 50ms, search_trial: 10ms, step: 100%, tests: [multiple_devices], multiple_devices: {local: " .. here .. "}").multiple_devices[1].throughput_percent
      end
      -- what waits before the line and before an egress; a resolution
      local high, low = 100 * (2 * 151 / 0.05) / (12 * LINE / 10), 0.101
      assert.equal(100, share(10, "false"))
      local found = share(24, "false")
      assert.is_true(found >= 500 / 12 - low and found <= 500 / 12 + high, found)
      found = share(24, "true")
      assert.is_true(found >= 500 * 23 / 144 - low and found <= (500 * 23 / 144) + high * 23 / 12, found)
   end)

   -- n - 2 places suffice, and a frame waits for as many others at most; with less two that meet are too many
   it("needs two places behind each egress of four ports that are out of step", function()
      local function measured(places, seed)
         return run(4, ("latency: 5us, buffer: %d"):format(places), "frame_sizes: [64], trial: 100ms, search_trial: 20ms, step: 100%, stagger: " .. seed).fully_meshed[1]
      end
      local longest = 0
      for seed = 1, 3 do
         local row = measured(2, seed)
         assert.same({ 100, 0, seed, "valid" }, { row.throughput_percent, row.mol_loss_ratio, row.stagger,
            row.validity })
         longest = math.max(longest, row.latency.max_ns)
         assert.is_true(row.latency.max_ns <= 5512 + 2 * 672)
      end
      assert.equal(5512 + 2 * 672, longest)
      assert.is_nil(measured(1, 2).throughput_fps)
      assert.same({ a = 0, b = 0 }, patterns.stagger({ { name = "a" }, { name = "b" } }, 7))
      assert.is_nil(patterns.stagger({ { name = "a" }, { name = "b" } }, 0))
   end)

   it("goes between many stations behind the ports, if the table has room for all", function()
      local keys = SHORT .. "addresses: 64, tests: [fully_meshed, many_to_one, broadcast]"
      local rows = run(4, "capacity: 3Mfps, buffer: 16, mac_table: {size: 260}", keys) -- and the ports' own
      near_throughput(750e3, rows.fully_meshed[1], 17, 0.05)
      near_throughput(LINE / 3, rows.many_to_one[1], 34, 0.05)
      near_throughput(1e6, rows.broadcast[1], 17, 0.05)
      assert.equal(64, rows.fully_meshed[1].addresses)
      local row = run(4, "capacity: 3Mfps, mac_table: {size: 259}", SHORT .. "addresses: 64").fully_meshed[1]
      assert.equal("invalid", row.validity)
      assert.is_true(row.flood > 0)
   end)

   it("finds what one line carries of many", function()
      local rows = run(5, "buffer: 16", MESH .. "tests: [one_to_many, many_to_one, one_many_both]")
      near_throughput(LINE, rows.one_to_many[1], 0)
      local row = rows.many_to_one[1]
      near_throughput(LINE / 4, row, 16)
      assert.near(0.75, row.mol_loss_ratio, 17 / TRIAL / (4 * LINE))
      -- with what the buffer held at the end it had more, and its line carries no more
      assert.same({ 1488095, 1488095 }, { row.theoretical_fps, row.aggregate_fps })
      for _, key in ipairs { "frmol_fps", "mfr_fps" } do
         assert.is_true(row[key] >= 1488095 and row[key] < LINE + 0.1, row[key])
      end
      assert.truthy(row.worst_pair:find "%->p1$")
      row = rows.one_many_both[1]
      near_throughput(LINE / 4, row, 16)
      assert.equal(5 * 1488095, row.theoretical_fps)
   end)

   it("counts at most what the line of each receiver carries", function()
      local ports = { { name = "a", line_rate = 1e9 }, { name = "b", line_rate = 1e8 } }
      local function fps(a, b, span_a)
         return mesh.forwarding_fps({ tx = 2e6, rx = a + b, offered_fps = 1e6, directions = {
            { direction = "c->a", rx = a, first_arrival_ns = 5e8, last_arrival_ns = 5e8 + (span_a or 2e9) },
            { direction = "c->b", rx = b - 100 }, { direction = "a->b", rx = 100 },
         } }, { senders = { 1, 2 }, copies = 1, receivers = ports }, 64)
      end
      assert.near(1.1e6, fps(1e6, 1e5), 1e-6)
      assert.near(1e6 + 148809, fps(1e6, 3e5), 1e-6)
      assert.near(1488095 + 1e5, fps(1.6e6, 1e5), 1e-6)
      -- a line whose clock is fast
      assert.near(1500000 + 1e5, fps(1.6e6, 1e5, 1599999 / 1.5e6 * 1e9), 1e-3)
   end)

   it("finds what two halves exchange", function()
      near_throughput(LINE, run(6, "", MESH .. "tests: [unidirectional]").unidirectional[1], 0)
   end)

   -- w = 400 ns for each frame lost, s = 1 / 900 kfps: (1 - o w) / (s - w)
   it("finds the load at which a switch forwards most, when it forwards less of more", function()
      local row = run(2, "capacity: 900kfps, drop_cost: 400ns, buffer: 16",
         "tests: [one_to_many], frame_sizes: [64], trial: 500ms, search_trial: 50ms, step: 5%").one_to_many[1]
      near_throughput(900000, row, 16)
      assert.near(900000, row.mfr_fps, RESOLUTION * LINE * 1.01)
      assert.near(569196, row.frmol_fps, 100)
      for i = 2, #row.series do
         local o = row.series[i].oload_fps
         assert.near((1 - o * 400e-9) / (1 / 900e3 - 400e-9), row.series[i].forwarding_fps, 100)
      end
   end)

   it("calls no figure the switch's when addresses are missing from its table", function()
      local row = run(4, "mac_table: {size: 2}", SHORT).fully_meshed[1]
      assert.equal("invalid", row.validity)
      assert.is_true(row.flood > 0)
      assert.truthy(row.reasons[#row.reasons]:find("the switch did not know their address", 1, true))
   end)

   it("gives the same rows twice", function()
      local first = run(3, "capacity: 2Mfps, buffer: 7", MESH .. "tests: [many_to_one]")
      assert.same(first, (run(3, "capacity: 2Mfps, buffer: 7", MESH .. "tests: [many_to_one]")))
   end)
end)

describe("broadcasts by RFC 2889", function()
   local KEYS = MESH .. "tests: [broadcast], latency_frames: 5, "

   -- the engine takes up the first copy at once, and each further one 1 / 3 Mfps later
   it("are carried as fast as the engine makes copies, one port after the other", function()
      local row, session = run(4, "capacity: 3Mfps, latency: 5us, buffer: 16", KEYS)
      row = row.broadcast[1]
      near_throughput(1e6, row, 17)
      assert.near(3e6, row.aggregate_fps, 3 * (RESOLUTION * LINE + 17 / TRIAL))
      assert.same({ 4, 1, "loss", #session.trials }, { row.ports, row.senders, row.limited_by, row.trials })
      assert.near(3e6, row.frmol_fps, 3 * 17 / TRIAL)
      assert.near(1 - 3e6 / (3 * LINE), row.mol_loss_ratio, 17 / TRIAL / LINE)
      assert.equal(3 * 1488095, row.theoretical_fps)
      assert.same({ "p2", "p3", "p4" }, tables.field(row.receivers, "port"))
      for k, one in ipairs(row.receivers) do
         assert.equal(5, one.latency.count)
         assert.near(5512 + (k - 1) / 3e6 * 1e9, one.latency.min_ns, 1)
         assert.near(5512 + (k - 1) / 3e6 * 1e9, one.latency.max_ns, 1)
      end
      assert.near(2 / 3e6 * 1e9, row.skew_ns, 2)
      local sum = 0
      for _, one in ipairs(row.receivers) do
         sum = sum + one.mol_loss_ratio
      end
      assert.near(row.mol_loss_ratio, sum / 3, 1e-9)
   end)

   it("fill every line where copies cost nothing", function()
      local row = run(4, "capacity: 2Mfps, replication: ingress, buffer: 2", KEYS).broadcast[1]
      near_throughput(LINE, row, 0)
      assert.near(3 * LINE, row.frmol_fps, 10)
      assert.same({ "maximum", 0, 0 }, { row.limited_by, row.mol_loss_ratio, row.flood })
      assert.equal(0, row.skew_ns)
   end)

   -- 10 + 6 broadcasts; p2 lacks one of each stream, p3 has two too many of the first, one came back to p1
   it("are lost where one port has too few, whatever another one has too many", function()
      local one = broadcast.of_copies({ tx = 16, directions = {
         { direction = "p1->p2", tx = 10, rx = 9, measured = { misdirected = { p3 = 12 } } },
         { direction = "p1->p3", tx = 6, rx = 6, measured = { misdirected = { p2 = 5, p1 = 1 } } },
      } }, { copies = 2, senders = { { name = "p1" } } })
      assert.same({ 32, 30, 2, 3 }, { one.tx, one.rx, one.lost, one.misdirected })
      assert.same({ 2, 0 }, tables.field(one.directions, "lost"))
      assert.equal(2 / 16, one.directions[1].loss_ratio)
   end)
end)

describe("a run of RFC 2889 that is resumed", function()
   teardown(scratch.remove)

   it("finds the switch as the last trial had left it", function()
      local path = scratch.path()
      local output, status = scratch.shell(("'%s' run '%sconfigs/rfc2889-reference.yaml' --quick --set 'rfc2889.frame_sizes=[64]' --set rfc2889.trial=20ms --set rfc2889.search_trial=10ms --set reference_switch.rate=100Mbps --set reference_switch.capacity=800kfps --set 'rfc2889.tests=[fully_meshed, address_caching]' --out '%s' 2>&1"):format(uv.exepath(),
         scratch.PROJECT, path))
      assert.equal(0, status, output)
      for _, trials in ipairs { 1, 20 } do -- its table is learned from the first trial on
         local half = interrupted(path, trials)
         output, status = scratch.shell(("'%s' run --resume '%s' 2>&1"):format(uv.exepath(), half))
         assert.equal(0, status, output)
         assert.equal(scratch.read(path .. "/result.json"), scratch.read(half .. "/result.json"))
      end
   end)
end)

describe("what is expected by RFC 2889", function()
   it("is about figures of rows, of a size or a test", function()
      local plan = assert(plans.load_text(plan_of(4, "",
         "frame_sizes: [64, 128], tests: [fully_meshed, address_caching]"), "x.yaml"))
      local row = { test = "fully_meshed", frame_size = 64, throughput_percent = 50, frmol_fps = 3e6,
         theoretical_fps = 5952380, validity = "valid" }
      local cache = { test = "address_caching", addresses = 99, validity = "valid" }
      local function met(text)
         return (held.met(text, plan, { rfc2889 = { fully_meshed = { row }, address_caching = { cache } } }))
      end
      assert.same({ true, false, true, false }, { met "throughput>=50%", met "throughput>=51%@64",
         met "frmol>=3Mfps@fully_meshed", met "frmol>=51%" })
      assert.is_nil(met "throughput>=10%@128") -- no row
      assert.same({ true, true, false }, { met "addresses>=99", met "addresses>=90@address_caching",
         met "addresses>=100" })
      for text, why in pairs {
         ["throughput>=50%@many_to_one"] = "other subject 'many_to_one'",
         ["throughput>=50%@65"] = "other subject '65'",
         ["addresses>=99@fully_meshed"] = "no row with addresses is about fully_meshed",
         ["addresses>=99@64"] = "no row with addresses is about 64",
         ["speed>=1"] = "there is no figure 'speed'",
         ["throughput"] = "no figure with a comparison",
      } do
         assert.matches(why, held.refusal(text, plan), 1, true)
      end
   end)
end)
