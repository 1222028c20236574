-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 held against the reference switch: every figure within a bound that follows from the method.
local Bench = require "framegauge.tester"
local expect = require "framegauge.methods.expect"
local method = require "framegauge.methods.rfc2889.method"
local patterns = require "framegauge.traffic.patterns"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

-- @param n        ports
-- @param switch   keys of the reference switch
-- @param keys     keys of the method
local function plan_of(n, switch, keys)
   local ports = {}
   for i = 1, n do
      ports[i] = ("p%d: {device: wire%d}"):format(i, i - 1)
   end
   return ([[
test: rfc2889
ports: {%s}
reference_switch: {%s}
rfc2889: {learning_wait: 10ms, drain: 20ms, settle: 0, %s}
]]):format(table.concat(ports, ", "), switch, keys)
end

local function wrong(...)
   local _, errors = plans.load_text(plan_of(...), "x.yaml")
   return errors and tostring(errors[1]) or ""
end

local function run(...)
   local plan = assert(plans.load_text(plan_of(...), "x.yaml"))
   local bench, results = assert(Bench.open(plan)), {}
   local session = Session.new {
      bench = bench, retries = 0, phases = plan.rfc2889, sink = function() end, say = function() end,
   }
   local ok, why = pcall(method.run, plan, bench, session, results)
   bench:close()
   assert(ok, why)
   return results.rfc2889, session, plan
end

local MESH = "frame_sizes: [64], trial: 500ms, search_trial: 50ms, step: 25%, "
local LINE, RESOLUTION, TRIAL = 1e9 / 672, 1e-3, 0.5

-- The throughput is at most one resolution below the truth, and above it by what a buffer of the switch
-- swallows in a trial.
local function near_throughput(truth, row, buffered)
   assert.is_true(row.throughput_fps <= truth + buffered / TRIAL / row.senders, row.throughput_fps)
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
      _, errors = plans.load_text("test: rfc2889\nisolated_network: true\nports: {a: {device: kernel:x, "
         .. "gateway: 198.18.1.1}, b: {device: kernel:y}}", "x.yaml")
      assert.truthy(tostring(errors[1]):find("ports.a.gateway: a switch is no router", 1, true))
   end)

   it("says what lies ahead, and where it departs from the RFC", function()
      local plan = assert(plans.load_text(plan_of(4, "", "frame_sizes: [64, 128]"), "x.yaml"))
      local parts = method.parts(plan)
      assert.equal(2, #parts)
      assert.equal(11 + 101, parts[1].trials)
      assert.near(11 * 1 + 101 * 30 + 112 * 0.03, parts[1].seconds, 1e-6)
      assert.same({ "fewer than five frame sizes (2)" }, method.conformance(plan).notes)
      assert.truthy(method.outlook(plan, nil, {}):find("at most 224 trials", 1, true))
   end)
end)

describe("RFC 2889 between all ports", function()
   it("finds that an engine carries 3 million frames a second", function()
      local rows, session = run(4, "capacity: 3Mfps", MESH)
      local row = rows.fully_meshed[1]
      near_throughput(750000, row, 512)
      assert.near(3e6, row.frmol_fps, 513 / TRIAL)
      assert.near(1 - 3e6 / (4 * LINE), row.mol_loss_ratio, 513 / TRIAL / (4 * LINE))
      assert.near(3e6, row.mfr_fps, 513 / TRIAL)
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

   it("finds what one line carries of many", function()
      local rows = run(5, "buffer: 16", MESH .. "tests: [one_to_many, many_to_one, one_many_both]")
      near_throughput(LINE, rows.one_to_many[1], 0)
      local row = rows.many_to_one[1]
      near_throughput(LINE / 4, row, 16)
      assert.near(0.75, row.mol_loss_ratio, 17 / TRIAL / (4 * LINE))
      assert.near(LINE, row.frmol_fps, 17 / TRIAL + 1)
      assert.equal(1488095, row.theoretical_fps)
      assert.truthy(row.worst_pair:find "%->p1$")
      row = rows.one_many_both[1]
      near_throughput(LINE / 4, row, 16)
      assert.equal(5 * 1488095, row.theoretical_fps)
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
      local row = run(4, "mac_table: {size: 2}", MESH).fully_meshed[1]
      assert.equal("invalid", row.validity)
      assert.is_true(row.flood > 0)
      assert.truthy(row.reasons[#row.reasons]:find("the switch did not know their address", 1, true))
   end)

   it("gives the same rows twice", function()
      local first = run(3, "capacity: 2Mfps, buffer: 7", MESH .. "tests: [many_to_one]")
      assert.same(first, (run(3, "capacity: 2Mfps, buffer: 7", MESH .. "tests: [many_to_one]")))
   end)
end)

describe("what is expected by RFC 2889", function()
   it("is about figures of rows, of a size or a test", function()
      local plan = assert(plans.load_text(plan_of(4, "", "frame_sizes: [64, 128]"), "x.yaml"))
      local row = { test = "fully_meshed", frame_size = 64, throughput_percent = 50, frmol_fps = 3e6,
         theoretical_fps = 5952380, validity = "valid" }
      local function met(text)
         local one = assert(expect.parse(text, plan))
         return one.about(row) and one.met(row)
      end
      assert.same({ true, false, true, false, false }, { met "throughput>=50%", met "throughput>=51%@64",
         met "frmol>=3Mfps@fully_meshed", met "frmol>=51%", met "throughput>=10%@128" })
      for text, why in pairs {
         ["throughput>=50%@many_to_one"] = "the plan has no test many_to_one",
         ["throughput>=50%@65"] = "the plan has no frame size 65",
         ["speed>=1"] = "there is no figure 'speed'",
         ["throughput"] = "no figure with a comparison",
      } do
         assert.truthy(select(2, expect.parse(text, plan)):find(why, 1, true))
      end
   end)
end)
