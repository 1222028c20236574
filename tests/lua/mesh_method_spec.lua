-- SPDX-License-Identifier: BSD-3-Clause

-- The test mesh: on a reference switch whose limits are known, with searches of known answers, and on the
-- ports of played agents (fleet_world.lua); one of them is lost and comes back.
local FleetTester = require "framegauge.fleet.tester"
local job = require "framegauge.core.job"
local method = require "framegauge.methods.mesh.method"
local plans = require "framegauge.plan"
local report = require "framegauge.methods.mesh.report"
local scratch = require "scratch"
local Session = require "framegauge.trial.session"
local tables = require "framegauge.core.tables"
local Tester = require "framegauge.tester"
local throughput = require "framegauge.methods.mesh.throughput"
local trials = require "framegauge.methods.mesh.trials"
local World = require "fleet_world"
local xml = require "framegauge.text.xml"

teardown(scratch.remove)

local PLAN = [[
name: x
test: mesh
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}, d: {device: wire3}}
reference_switch: {%s}
mesh: {learning_wait: 1ms, drain: 10ms, %s}
]]

local function load(switch, keys)
   local plan, errors = plans.load_text(PLAN:format(switch, keys), "x.yaml")
   return plan, errors and tostring(errors[1]) or ""
end

local function run(plan, tester)
   local results, records = {}, {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.mesh,
      sink = function(record) records[#records + 1] = record end }
   method.run(plan, tester, session, results)
   local by_direction = {}
   for _, row in ipairs(results.mesh) do
      by_direction[row.direction] = row
   end
   return results.mesh, by_direction, records
end

local function measure(switch, keys)
   local plan = assert(load(switch, keys))
   local tester = assert(Tester.open(plan))
   local rows, by_direction, records = run(plan, tester)
   tester:close()
   return rows, by_direction, records
end

describe("a mesh", function()
   it("has a figure for each direction of each pair, in the order of the ports", function()
      local rows, of, records = measure("latency: 5us, ports: {d: {rate: 100Mbps}}", "load: 50%, trial: 10ms")
      assert.equal(12, #rows)
      assert.same({ "a->b", "a->c", "a->d", "b->a" }, { rows[1].direction, rows[2].direction,
         rows[3].direction, rows[4].direction })
      assert.equal(3, #records)
      for _, row in ipairs(rows) do
         local line = row.direction:find "d" and 23496 or 234962 -- frames of 512 bytes a second
         assert.equal("valid", row.validity)
         assert.same({ line, math.floor(line / 2 * 0.01 + 0.5), 0 }, { row.line_fps, row.tx, row.lost })
         assert.near(50, row.offered_percent, 0.5)
      end
      -- a frame is received whole, then it takes 5 us: 4,096 and 40,960 ns
      assert.near(9096, of["a->b"].latency.mean_ns, 2)
      assert.near(45960, of["d->a"].latency.mean_ns, 2)
   end)

   it("has each matrix once on the page: the first in the summary, the others behind it", function()
      local rows = measure("", "load: 50%, trial: 10ms")
      local result = { plan = load("", "load: 50%, trial: 10ms"), results = { mesh = rows } }
      local page = xml.render { report.summary(result), tables.field(report.sections(result), 3) }
      assert.equal(2, select(2, page:gsub("from \\ to", "")))
      assert.equal(1, select(2, page:gsub("<caption>Loss, %%", "")))
   end)

   it("loses what the switch does not carry of a round, and tells whose it was", function()
      local rows = measure("capacity: 600kfps", "trial: 100ms")
      local rounds = {}
      for _, row in ipairs(rows) do
         local sum = rounds[row.round] or { tx = 0, rx = 0 }
         rounds[row.round], sum.tx, sum.rx = sum, sum.tx + row.tx, sum.rx + row.rx
         assert.equal(row.tx - row.rx, row.lost)
      end
      for _, sum in ipairs(rounds) do -- and what waits in its buffers when the trial ends
         assert.equal(4 * 23496, sum.tx)
         assert.is_true(sum.rx >= 60000 and sum.rx < 62000, sum.rx)
      end
   end)

   it("sends all at once where it is light, in one trial", function()
      local rows, _, records = measure("", "class: light, trial: 1s")
      assert.same({ 1, 12 }, { #records, #records[1].directions })
      for _, row in ipairs(rows) do
         assert.same({ "valid", 783 }, { row.validity, row.tx })
         assert.near(1 / 3, row.offered_percent, 0.01)
      end
   end)

   it("keeps its rules", function()
      for keys, why in pairs {
         ["class: light, load: 2%"] = "more than 1 % of the line", ["frame_size: 12"] = "64",
         ["class: light, throughput: true"] = "not with all pairs", ["load: 101%"] = "100",
         ["class: light, uplink_pairs: 2"] = "no rounds",
      } do
         local plan, problem = load("", keys)
         assert.is_nil(plan)
         assert.matches(why, problem, 1, true)
      end
      local plan = assert(load("", "load: 0.0001%, trial: 1ms"))
      local tester = assert(Tester.open(plan))
      assert.matches("not one frame in a trial of 1 ms", method.check(plan, tester), 1, true)
      tester:close()
      for _, slow in ipairs { "a", "b", "c" } do -- one of three has no pair in the first round
         local three = PLAN:gsub(", d: {device: wire3}", "")
         plan = assert(plans.load_text(three:format(("ports: {%s: {rate: 1Mbps}}"):format(slow),
            "load: 1%, trial: 100ms"), "x.yaml"))
         tester = assert(Tester.open(plan))
         assert.matches("not one frame in a trial of 100 ms", method.check(plan, tester), 1, true)
         tester:close()
      end
   end)
end)

describe("searches side by side", function()
   -- A device that carries of each flow the load in its settings, and of some together no more than a sum.
   local function device(carries, together)
      local made = 0
      return function(_, flows)
         local record, by_flow, sum = { trial = made + 1 }, {}, 0
         made = made + 1
         for _, flow in ipairs(flows) do
            sum = sum + flow.load
         end
         for _, flow in ipairs(flows) do
            local passes = flow.load <= carries[flow.from] and sum <= (together or math.huge)
            by_flow[flow] = { validity = "valid", tx = 1000, lost = passes and 0 or 10, load = flow.load }
         end
         return record, by_flow
      end, function() return made end
   end

   local function search(make, names)
      local real, flows = trials.make, {}
      for i, name in ipairs(names) do
         flows[i] = { from = name, to = "z", round = 1, whole = 1000, most = 1000 }
      end
      trials.make = make
      local ok, found = pcall(throughput.run, { plan = { mesh = { trial = 1, resolution = 0.01 } } }, flows)
      trials.make = real
      assert(ok, found)
      local loads = {}
      for i, flow in ipairs(flows) do
         loads[i] = found[flow].result.load
      end
      return loads, found, flows
   end

   it("find what each flow carries, in as many trials as the longest of them needs", function()
      local make, made = device { p = 1000, q = 500, r = 123 }
      local loads, found, flows = search(make, { "p", "q", "r" })
      assert.equal(1000, loads[1])
      assert.is_true(loads[2] <= 500 and loads[2] >= 490 and loads[3] <= 123 and loads[3] >= 113)
      assert.is_true(made() <= 9, made())
      for i, flow in ipairs(flows) do -- the last trial had the throughputs of all at once
         assert.same({ loads[i], 0 }, { found[flow].direction.load, found[flow].direction.lost })
      end
   end)

   it("end with all throughputs at once, which shows what is lost together", function()
      local make = device({ p = 1000, q = 1000 }, 1500)
      local loads, found, flows = search(make, { "p", "q" })
      assert.is_true(loads[1] + loads[2] <= 1500)
      assert.equal(0, found[flows[1]].direction.lost)
      local n = 0 -- a device that carries less and less
      local _, late = search(function(_, list)
         n = n + 1
         local by_flow = {}
         for _, flow in ipairs(list) do
            by_flow[flow] = { validity = "valid", tx = 1000, lost = (n == 1 or n > 8) and 7 or 0,
               load = flow.load }
         end
         return { trial = n }, by_flow
      end, { "p" })
      for _, one in pairs(late) do
         assert.is_true(one.direction.load == one.result.load or one.result.load == nil)
      end
   end)
end)

describe("a mesh of agents", function()
   local TEXT = World.plan { test = "mesh", more = [[
mesh: {trial: 20ms, load: 5%, frame_size: 1518, drain: 10ms, learning_wait: 0s}
]] }

   -- Which agent is lost, and when: called before each command.
   local function fleet(world, before)
      local plan = assert(plans.load_text(TEXT, "plan"))
      local control = world.controller "alice"
      local ask = control.ask
      function control.ask(self, name, step, ...)
         before(name, step)
         return ask(self, name, step, ...)
      end
      local tester = assert(FleetTester.open(plan, { max_frame = 1518, lead = 0.03, control = control }))
      return plan, tester, control
   end

   -- What the world carries: nine of ten frames.
   local function is_true(row)
      return row.validity == "valid" and row.tx == 81 and row.rx == 73
   end

   local function play(before, back)
      return job.run(function()
         local world = World.new { agents = World.AGENTS }
         world.lasts = 0.1
         local plan, tester, control = fleet(world, function(name, step) before(world, name, step) end)
         local reach = control.reach
         function control.reach(self, names)
            if back then
               for _, name in ipairs(names) do
                  local agent, here, there = world.start(name), World.connection()
                  agent.bus:attach(there)
                  self.lost[name] = nil
                  self:attach({ name }, here)
               end
            else
               reach(self, names)
            end
         end
         local rows, of, records = run(plan, tester)
         local lines = report.terminal { plan = plan, results = { mesh = rows } }
         tester:close()
         return rows, of, records, lines
      end)
   end

   it("has the same counts as its agents", function()
      local rows, _, records = play(function() end)
      assert.equal(3, #records)
      for _, row in ipairs(rows) do
         assert.is_true(is_true(row), row.direction)
      end
   end)

   -- Cut the link of rack3, which has c alone, in the round of c and another one.
   local function cut_rack3()
      local n, done = 0, false
      return function(world, name, step)
         n = n + (name == "rack3" and step == "collect" and 1 or 0)
         if n == 1 and not done then
            done = true
            world.links.rack3:close()
         end
      end
   end

   it("loses the cells of a lost agent, and no other", function()
      local rows, of, records, lines = play(cut_rack3())
      for _, row in ipairs(rows) do
         assert.equal(row.direction:find "c" and "invalid" or "valid", row.validity)
         assert.is_true(row.direction:find "c" ~= nil or is_true(row), row.direction)
      end
      assert.matches("agent rack3 was lost while the trial ran", of["c->b"].reasons[1], 1, true)
      assert.matches("not measured: agent rack3 was lost", of["c->a"].reasons[1], 1, true)
      assert.is_nil(of["c->a"].trial)
      assert.equal(3, #records)
      local cells = {}
      for i, column in ipairs(lines[1].columns) do
         cells[i] = column[3] { name = "c" }
      end
      assert.same({ "c", "not measured", "invalid", "", "not measured" }, cells)
   end)

   it("asks once more for the cells of an agent that is back", function()
      local rows, of, records = play(cut_rack3(), true)
      for _, row in ipairs(rows) do
         assert.is_true(is_true(row), row.direction .. tostring(row.reasons[1]))
         assert.equal(row.direction:find "c" and true or nil, row.again)
      end
      assert.equal(6, #records)
      assert.equal("again", records[6].phase)
      assert.is_nil(of["a->b"].again)
   end)

   it("ends and can be resumed where no agent is there any more", function()
      local n = 0
      local ok, err = pcall(play, function(world, _, step)
         n = n + (step == "collect" and 1 or 0)
         for _, link in pairs(n == 1 and world.links or {}) do
            link:close()
         end
      end)
      assert.is_false(ok)
      assert.matches("no agent has told the result", tostring(err), 1, true)
   end)
end)

