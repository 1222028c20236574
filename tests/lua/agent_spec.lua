-- SPDX-License-Identifier: BSD-3-Clause

-- Two testers: how their clocks are compared, and what they tell each other.
local Clock = require "framegauge.clock"
local Agent = require "framegauge.fleet.agent"
local bus = require "framegauge.fleet.bus"
local clocks = require "framegauge.fleet.clocks"
local Controller = require "framegauge.fleet.controller"
local exchange = require "framegauge.fleet.exchange"
local job = require "framegauge.core.job"
local join = require "framegauge.fleet.join"
local names = require "framegauge.fleet.names"
local address = require "framegauge.plan.address"
local plans = require "framegauge.plan"
local FleetTester = require "framegauge.fleet.tester"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local time = require "framegauge.clock.time"
local World = require "fleet_world"

describe("clocks of two testers", function()
   it("are told to the nanosecond", function()
      local at = 1790000000123456789LL
      assert.equal("1790000000123456789", time.text(at))
      assert.is_true(time.number(time.text(at)) == at and time.number "-7" == -7LL)
   end)

   -- An agent that answers after 2 ms, half-way to which it read a clock that is ahead by a second.
   local function played(state)
      return { ask = function()
         state.raw = time.text(time.raw() + 1001000000LL)
         job.sleep(0.002)
         return { ok = true, body = state }
      end }
   end

   it("are read half-way between question and answer where nothing better is needed", function()
      local reading = job.run(function()
         return assert(clocks.read(played { synchronised = false }, "far", 1e9, "control"))
      end)
      assert.near(-1e9, tonumber(time.number(reading.distance)), 5e8)
      assert.same({ 0, 0 }, { tonumber(reading.low), tonumber(reading.high) })
      local clock = Clock.new({ source = "control" }):follow(time.number(reading.distance))
      assert.equal(reading.distance, time.text(clock:distance()))
      assert.is_false(clock:state().synchronised)
   end)
end)

describe("what two testers tell each other", function()
   it("is joined by who sent and who received", function()
      local function half(tx, rx)
         local intervals = { tx = { tx, tx }, rx = { rx, rx } }
         for _, key in ipairs { "octets", "duplicates", "reordered", "delay_min_ns", "delay_max_ns",
            "delay_p999_ns", "delay_mean_ns" } do
            intervals[key] = { 5, 5 }
         end
         return { tx = 2 * tx, rx = 2 * rx, intervals = intervals }
      end
      local there = exchange.join_direction(half(10, 0), half(0, 9), 1)
      local back = exchange.join_direction(half(8, 0), half(0, 7), 1)
      assert.same({ 20, 18, 16, 14 }, { there.tx, there.rx, back.tx, back.rx })
      assert.same({ { 10, 10 }, { 9, 9 } }, { there.series.tx, there.series.rx })
      assert.same({ 2, 0 }, { back.availability.seconds, back.availability.unavailable_s })
      local own = half(10, 9) -- both ports are one tester's
      assert.same({ 10, 10 }, exchange.join_direction(own, own, 1).series.tx)
   end)

   it("passes over addresses that only this machine reaches", function()
      for text, here in pairs {
         ["127.0.0.1:5564"] = true, ["[::1]:7"] = true, ["/run/far.sock"] = true, ["0.0.0.0:5564"] = false,
         ["[::]:7"] = false, ["192.0.2.1:80"] = false,
      } do
         assert.equal(here, address.is_local(address.of_service(text)))
      end
      for _, text in ipairs { "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "host:5", "" } do
         assert.is_nil(address.of_service(text))
      end
   end)
end)

describe("the agent of a controller's own ports", function()
   it("obeys the controller, and nobody else on its bus", function()
      job.run(function()
         local hub, other = bus.new(), bus.new()
         local own = Agent.new({ ports = { { name = "near", device = "wire0" } } }, { name = plans.OWN, bus = hub })
         local a, b = World.connection()
         hub:attach(a)
         other:attach(b)
         job.sleep(0.02)
         local command = { v = Agent.VERSION, step = "ports", by = "me@here:1", body = {} }
         assert.is_nil(other:request("fg.v1.cmd." .. plans.OWN .. ".ports", command, 0.1))
         assert.equal("near", hub:request("fg.v1.cmd." .. plans.OWN .. ".ports", command, 1).body.ports[1].port)
         own:close()
      end)
   end)
end)

describe("a plan whose agents have the names that testers have for each other", function()
   it("uses the ports of an agent that is called local", function()
      local plan = assert(plans.load_text([[
test: traffic
fleet: {agents: {local: /run/1, remote: /run/2}}
ports: {a: {device: 'agent:local/east'}, b: {device: 'agent:remote/east'}}
streams: {one: {rate: 1kfps}}
]], "plan"))
      assert.same({ ["local"] = { "east" }, remote = { "east" } }, FleetTester.wanted_of(plan))
   end)

   it("leaves the agent of two testers its own address", function()
      local plan = assert(plans.load_text(assert(scratch.read "configs/y1564-two-testers.yaml")
         .. "\nfleet: {agents: {remote: 127.0.0.1:7777}}\n", "plan"))
      local name = next(FleetTester.wanted_of(plan))
      assert.equal("127.0.0.1:5564", tables.find(plan.fleet.agents, "name", name).address)
   end)
end)

describe("messages of two testers", function()
   local plan = assert(plans.load_text(assert(scratch.read "configs/y1564-two-testers.yaml"), "plan"))
   local agents = plan.fleet.agents

   -- Connect to the agent without a name of two testers, which gives the answers of a table by step.
   local function played(answers)
      local far = bus.new()
      far:serve("fg.v1.cmd." .. plans.UNNAMED .. ".*", function(_, subject, answer)
         answer(answers[subject:match "[^.]+$"])
      end)
      local control = Controller.new(agents, { again = 0.05, patience = 0.2 })
      local here, there = World.connection()
      far:attach(there)
      control:attach({ plans.UNNAMED }, here)
      return control
   end

   it("find the far tester by its address, where none listens", function()
      local _, err = job.run(pcall, Controller.connect, agents)
      assert.matches("no agent listens on 127.0.0.1:5564 (ECONNREFUSED)", tostring(err), 1, true)
      assert.equal("the local tester", names.agent(plans.OWN, agents))
      assert.equal("agent rack1", names.agent("rack1", agents))
   end)

   it("call its port as the plan does", function()
      job.run(function()
         local control = played { lease = { refused = "port port is in use by bob@desk:1", holder = "bob@desk:1" } }
         local _, err = pcall(control.lease, control, FleetTester.wanted_of(plan), { ttl = 2 })
         assert.equal("the agent at 127.0.0.1:5564: port far is in use by bob@desk:1", tostring(err))
         assert.equal("far", names.port(plans.UNNAMED, Agent.PORT, agents))
         assert.equal("rack1/east", names.port("rack1", "east", agents))
      end)
   end)

   it("call the tester whose clock is not synchronised", function()
      job.run(function()
         local control = played { clock = { ok = true, body = { boot = "there", raw = "5", synchronised = false,
            finding = "the kernel reports no synchronisation", fix = "start chrony" } } }
         local _, err = pcall(clocks.scale, control, { plans.UNNAMED })
         assert.matches("on the agent at 127.0.0.1:5564 the kernel reports no", tostring(err), 1, true)
         assert.is_nil(tostring(err):find(plans.UNNAMED, 1, true))
      end)
   end)

   it("call both where one ended a trial, and in a table", function()
      local list = join.problems({ [plans.OWN] = { stopped = "it was aborted" },
         [plans.UNNAMED] = { failed = "port port: the link is down" } }, agents)
      table.sort(list)
      assert.same({ "the agent at 127.0.0.1:5564 could not make the trial: port far: the link is down",
         "the local tester ended the trial early: it was aborted" }, list)
      assert.same({ "local tester", "127.0.0.1:5564", "rack1" }, tables.map({ plans.OWN, plans.UNNAMED, "rack1" },
         function(name) return names.short(name, agents) end))
   end)
end)

describe("fleet clocks", function()
   it("has a row for the local tester and the far one, and for a single agent", function()
      local overview, write = require "framegauge.fleet.overview", io.write
      local text = ""
      local ask = overview.ask
      overview.ask = function()
         return { { name = "far", clock = { boot = "there", synchronised = false, source = "kernel",
            finding = "not synchronised", fix = "start chrony" } } }
      end
      rawset(io, "write", function(...) text = text .. table.concat { ... } end)
      local single = scratch.path() .. ".yaml"
      local file = assert(io.open(single, "w"))
      file:write("test: traffic\nfleet: {agents: {far: /run/1}}\nports: {a: {device: 'agent:far/e'}, b: {device: 'agent:far/w'}}\n",
         "streams: {one: {rate: 1kfps}}\n")
      file:close()
      local ok, err
      for _, path in ipairs { scratch.PROJECT .. "configs/y1564-two-testers.yaml", single } do
         ok, err = pcall(require("framegauge.cli.fleet").main, { "clocks", path }, { set = {} })
         text = ok and text or ""
      end
      rawset(io, "write", write)
      overview.ask = ask
      assert.is_true(ok, tostring(err))
      assert.matches("local tester, far", text, 1, true)
      assert.matches("\nfar +kernel +not synchronised", text)
   end)
end)
