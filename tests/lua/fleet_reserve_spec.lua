-- SPDX-License-Identifier: BSD-3-Clause

-- Ports of agents that are reserved for a user, or cannot be leased. The agents run their real code over
-- played testers (fleet_world.lua).
local World = require "fleet_world"
local fleet = require "framegauge.cli.fleet"
local job = require "framegauge.core.job"
local scratch = require "scratch"

teardown(scratch.remove)

local function command(step, by, body, epoch)
   return { v = 1, run = by, trial = 1, attempt = 1, step = step, epoch = epoch, by = by, body = body }
end

local function lease(agent, by, ports, ttl)
   return agent:obey(command("lease", by, { ports = ports or { "east" }, ttl = ttl or 30 }))
end

local function in_job(fn)
   return function()
      return job.run(fn)
   end
end

describe("the ports of agents", function()
   it("are only for the controllers of those who have reserved the ports", in_job(function()
      local world = World.new({ agents = { "rack1" } })
      local agent = world.agents.rack1
      local function reserve(by, seconds, ports)
         return agent:obey(command("reserve", by, { ports = ports or { "east" }, ttl = seconds }))
      end
      assert.equal(0, reserve("alice@desk:1", 100).body.before.east)
      assert.equal("reserved", agent:rows()[1].state)
      assert.equal("free", agent:rows()[2].state)
      for _, refusal in ipairs { lease(agent, "bob@desk:2"), reserve("bob@desk:2", 9, { "east", "west" }) } do
         assert.matches("port east is reserved by alice@desk", refusal.refused)
         assert.equal("alice@desk", refusal.holder)
         assert.near(100, refusal.remaining_s, 1)
      end
      assert.is_true(lease(agent, "bob@desk:3", { "west" }).ok, "which is nobody's")
      -- her runs come and go, one at a time; between them the port is hers
      local epoch = lease(agent, "alice@desk:7").body.epoch
      assert.matches("in use by alice@desk:7", lease(agent, "alice@desk:8").refused)
      assert.matches("reserved by alice", lease(agent, "bob@desk:2").refused)
      assert.near(100, reserve("alice@desk:1").body.before.east, 1)
      assert.near(100, reserve("alice@desk:1", 200).body.before.east, 1)
      agent:obey(command("release", "alice@desk:7", {}, epoch))
      assert.matches("reserved by alice", lease(agent, "bob@desk:2").refused)
      -- it ends by itself, by her will, and by those who take the port
      world.now = world.now + 201
      assert.is_true(lease(agent, "bob@desk:2", { "east" }, 5).ok)
      world.now = world.now + 6
      agent.looked = world.now
      agent:look()
      assert.is_true(reserve("alice@desk:1", 100).ok)
      assert.same({ east = 100, west = 0 }, reserve("alice@desk:1", nil, { "east", "west" }).body.before)
      assert.near(100, reserve("alice@desk:1", 0).body.before.east, 1)
      assert.equal("free", agent:rows()[1].state)
      assert.is_true(reserve("alice@desk:1", 100).ok)
      assert.is_true(agent:obey(command("take", "bob@desk:2", { ports = { "east" }, ttl = 9 })).ok)
      assert.equal("bob@desk:2", agent:rows()[1].by)
      for _, wrong in ipairs { -1, 0.5, 24 * 3600 + 1, "1h" } do
         assert.matches("a lease lasts", reserve("alice@desk:1", wrong, { "west" }).refused)
      end
   end))

   it("are not given where the epoch cannot be kept, which is no fault of the plan", in_job(function()
      local agent = World.new({ agents = { "rack1" } }).agents.rack1
      agent.ledger.path = "/proc/none"
      local refusal = lease(agent, "alice@desk:1")
      assert.matches("the epoch cannot be written: ENOENT", refusal.refused)
      assert.equal(4, refusal.status)
      assert.equal(2, lease(agent, "alice@desk:1", { "north" }).status)
      assert.equal("free", agent:rows()[1].state)
   end))

   it("are reserved at all agents or at none", in_job(function()
      local world = World.new { agents = { "rack1", "rack2" } }
      local control = world.controller "alice@desk:1"
      assert.is_true(lease(world.agents.rack2, "bob@desk:2").ok)
      local ok, why = pcall(control.reserve, control, { rack1 = { "east" }, rack2 = { "east" } }, 100)
      assert.is_false(ok)
      assert.matches("port east is in use by bob@desk:2", tostring(why))
      assert.equal("free", world.agents.rack1:rows()[1].state)
      control:reserve({ rack1 = { "east" } }, 100)
      assert.equal("reserved", world.agents.rack1:rows()[1].state)
      control:close()
   end))

   it("keep an earlier reservation where another agent refuses a new one", in_job(function()
      local world = World.new { agents = { "rack1", "rack2" } }
      local control = world.controller "alice@desk:1"
      control:reserve({ rack1 = { "east" } }, 100)
      assert.is_true(lease(world.agents.rack2, "bob@desk:2").ok)
      local obey = world.agents.rack2.obey
      function world.agents.rack2.obey(agent, one) -- as if bob had come between the question and the request
         return one.step == "reserve" and not one.body.ttl and { ok = true, body = { before = { east = 0 } } }
            or obey(agent, one)
      end
      for _ = 1, 2 do
         assert.is_false(pcall(control.reserve, control,
            { rack1 = { "east", "west" }, rack2 = { "east" } }, 200))
         local rows = world.agents.rack1:rows()
         assert.equal("reserved", rows[1].state)
         assert.near(100, rows[1].remaining_s, 1)
         assert.equal("free", rows[2].state)
         world.agents.rack2.obey = nil
      end
      control:close()
   end))

   it("are given back by an agent whose answer is lost", in_job(function()
      local world = World.new { agents = { "rack1", "rack2" } }
      local control = world.controller "alice@desk:1"
      control.patience = 0.2
      local rack2 = world.agents.rack2
      function rack2.obey(agent, one)
         local answer = getmetatable(agent).__index.obey(agent, one)
         if one.step == "reserve" and one.body.ttl == 100 then
            job.sleep(0.3)
         end
         return answer
      end
      local ok, why = pcall(control.reserve, control, { rack1 = { "east" }, rack2 = { "west" } }, 100)
      assert.is_false(ok)
      assert.matches("agent rack2: it does not answer", tostring(why))
      assert.equal("free", world.agents.rack1:rows()[1].state)
      assert.equal("free", rack2:rows()[2].state)
      control:close()
   end))

   it("are not taken, and stay reserved, where the lease cannot be given", in_job(function()
      local world = World.new { agents = { "rack1" } }
      local agent = world.agents.rack1
      assert.is_true(agent:obey(command("reserve", "alice@desk:1", { ports = { "east" }, ttl = 100 })).ok)
      assert.is_true(lease(agent, "alice@desk:1").ok)
      local function taken(ports, ttl)
         local answer = agent:obey(command("take", "bob@desk:2", { ports = ports, ttl = ttl or 9 }))
         assert.equal("alice@desk:1", agent:rows()[1].by)
         assert.is_true(agent.ledger.reserved.east ~= nil)
         return answer.refused
      end
      assert.matches("no port 'north'", taken { "east", "north" })
      assert.matches("a lease lasts", taken({ "east" }, 0.5))
      assert.matches("no ports are named", taken "east")
      local path = agent.ledger.path
      agent.ledger.path = "/proc/none"
      assert.matches("the epoch cannot be written", taken { "east" })
      agent.ledger.path, agent.draining = path, true
      assert.matches("draining", taken { "east" })
      agent.draining = nil
      assert.is_true(agent:obey(command("take", "bob@desk:2", { ports = { "east" }, ttl = 9 })).ok)
      assert.equal("bob@desk:2", agent:rows()[1].by)
      assert.is_nil(agent.ledger.reserved.east)
      assert.equal(2, agent:rows()[1].epoch)
   end))

   it("are not reserved for no time, nor do options go unheard", function()
      local path = scratch.path()
      scratch.write(path, World.plan { test = "rfc2544", more = "" })
      local function refused(action, options)
         options.set = {}
         local ok, problem = pcall(fleet.main, { action, path }, options)
         assert.is_false(ok)
         assert.equal(2, problem.status)
         return tostring(problem)
      end
      for _, time in ipairs { "0s", "999ms" } do
         assert.equal("fleet lease: --for: less than 1s; 'release' ends a reservation",
            refused("lease", { ["for"] = time }))
      end
      assert.matches("^fleet lease: %-%-for: .*soon", refused("lease", { ["for"] = "soon" }))
      assert.equal("fleet ports: --for is an option of 'fleet lease'", refused("ports", { ["for"] = "2h" }))
      assert.equal("fleet drain: --port is an option of 'fleet join'",
         refused("drain", { server = {}, port = { "a=b" } }))
   end)
end)
