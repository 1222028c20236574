-- SPDX-License-Identifier: BSD-3-Clause

-- What tests of switches ask of the ports of agents: streams that several of them measure, streams that
-- nobody measures, and memberships of groups. Real agents and a real controller over played testers
-- (fleet_world.lua).
local FleetTester = require "framegauge.fleet.tester"
local frame = require "framegauge.traffic.frame"
local job = require "framegauge.core.job"
local loader = require "framegauge.plan"
local octets = require "framegauge.core.octets"
local policy = require "framegauge.fleet.policy"
local scratch = require "scratch"
local share = require "framegauge.fleet.share"
local tables = require "framegauge.core.tables"
local World = require "fleet_world"

teardown(scratch.remove)

local function in_job(fn)
   return function()
      return job.run(fn)
   end
end

-- A stream of the length of 100 frames.
local function stream(name, more)
   local from, to = name:match "(%a)%->(%a)"
   local one = { name = name, from = from, to = to, measure = {}, loads = { { fps = 1e4, seconds = 0.01 } },
      frame = frame.rfc2544(128, { version = 4, src_mac = ("\2"):rep(6), dst_mac = ("\4"):rep(6), vary = {},
         src = octets.ipv4 "198.18.1.1", dst = octets.ipv4 "198.18.1.2" }) }
   for key, value in pairs(more or {}) do
      one[key] = value
   end
   return one
end

local function open(world)
   local text = World.plan { more = "streams: {one: {from: a, to: b, rate: 1kfps}}" }
   return assert(FleetTester.open(assert(loader.load_text(text, "plan")), { max_frame = 1518, lead = 0.03,
      control = world.controller "alice" }))
end

local function member(port, group)
   return { port = port, version = "igmpv2", group = octets.ipv4(group), join = 1, leave = 2, reports = 1 }
end

describe("a trial of agents", function()
   it("counts what is measured, in its place, beside what is not", in_job(function()
      local tester = open(World.new { agents = World.AGENTS })
      local raw = tester:trial { drain = 0.01, directions = {}, streams = {
         stream("a->b", { unmeasured = true }), stream "b->c", stream("c->d", { unmeasured = true }),
         stream("d->a", { loads = { { fps = 2e4, seconds = 0.01 } } }),
      } }
      tester:close()
      assert.same({ "b->c", "d->a" }, tables.field(raw.directions, "name"))
      assert.same({ 100, 90 }, { raw.directions[1].tx, raw.directions[1].rx })
      assert.same({ 200, 180 }, { raw.directions[2].tx, raw.directions[2].rx })
      -- at every agent, by the names of this plan: rack1 has a and d
      assert.same({ a = 1, b = 1, c = 1 }, raw.directions[1].measured.misdirected)
   end))

   it("tells of a stream whoever measures copies of it", function()
      local function told(from, to, of)
         return { from = { agent = from }, to = { agent = to }, copies_of = of }
      end
      local places = share.places { streams = {
         told("x", "y"), told("x", "z"), told("x", "z", 1), told("x", "v", 1), told("x", "v"),
      } }
      assert.same({ { 1, 2, 3, 4, 5 }, { 1 }, { 1, 2, 3 }, { 1, 4, 5 } },
         { places.x, places.y, places.z, places.v })
   end)

   it("has the members of all agents, each told of its own", in_job(function()
      local world = World.new { agents = World.AGENTS }
      local tester = open(world)
      local o = { drain = 0.01, directions = {}, streams = { stream "a->b" },
         members = { member("b", "239.1.1.1"), member("c", "239.1.1.1") } }
      local raw = tester:trial(o)
      assert.is_nil(raw.invalid)
      assert.same({ 2, 4 }, { raw.members.queries - 1, raw.members.answers - 2 })
      local ports = {}
      for _, one in ipairs(raw.members.ports) do
         ports[one.port] = one.left_ns
      end
      assert.same({ b = 2e9, c = 2e9 }, ports)
      o.members[2] = member("c", "239.2.1.1")
      local ok, err = pcall(tester.trial, tester, o)
      assert.is_false(ok)
      assert.matches("a group may not be joined: 239.2.1.1 is not in agent.sends_to", tostring(err), 1, true)
      tester:close()
   end))

   it("has no member that says it all the time", function()
      local agent = { sends_to = { { address = "239.0.0.0", prefix = 8 } } }
      assert.is_nil(policy.group_problem(octets.ipv4 "239.1.1.1", 10, agent))
      assert.equal("more than 10 reports", policy.group_problem(octets.ipv4 "239.1.1.1", 11, agent))
      assert.matches("wrong form", policy.group_problem("xyz", 1, agent), 1, true)
   end)
end)
