-- SPDX-License-Identifier: BSD-3-Clause

-- Trials of several agents, and the outcome of faults: real agents and a real controller over played testers
-- (fleet_world.lua).
local description = require "framegauge.fleet.description"
local FleetBench = require "framegauge.fleet.tester"
local job = require "framegauge.core.job"
local join = require "framegauge.fleet.join"
local loader = require "framegauge.plan"
local scratch = require "scratch"
local share = require "framegauge.fleet.share"
local stream_config = require "framegauge.traffic.stream_config"
local tables = require "framegauge.core.tables"
local World = require "fleet_world"

teardown(scratch.remove)

local function in_job(fn)
   return function()
      return job.run(fn)
   end
end

describe("a trial of several agents", function()
   local PLAN = World.plan { more = [[
streams:
  one: {from: a, to: b, rate: 50kfps}
  two: {from: b, to: c, rate: 100kfps}
  three: {from: c, to: d, rate: 25kfps}
  four: {from: a, to: d, rate: 5kfps}
]] }

   -- A tester on the agents of a world.
   local function open(world, by, earlier)
      local plan = assert(loader.load_text(PLAN, "plan"))
      return FleetBench.open(plan, { max_frame = 1518, lead = 0.03, control = world.controller(by),
         earlier = earlier })
   end

   -- What a trial of some seconds is asked for.
   local function ask(tester, seconds)
      return { streams = stream_config.streams(tester, seconds), directions = {}, drain = 0.01 }
   end

   local function trial(tester)
      return tester:trial(ask(tester, 0.02))
   end

   local SENT = { 1000, 2000, 500, 100 }

   local function truth(raw)
      for i, frames in ipairs(SENT) do
         if raw.directions[i].tx ~= frames or raw.directions[i].rx ~= frames * 0.9 then
            return false
         end
      end
      return true
   end

   local function new_world()
      return World.new { agents = World.AGENTS }
   end

   it("has the counts of senders and receivers, and gives the ports back", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      local counts = tester.control.bus.counts
      local sent, received = counts.sent, counts.received
      local raw = trial(tester)
      assert.is_nil(raw.invalid)
      assert.is_true(truth(raw))
      assert.same({ 0, 0.01 }, { raw.start_skew_ns, raw.drain_s })
      -- prepare, arm, collect and forget, with their answers; and what was sent, for three others
      -- that is 21 and 21; some come twice where this machine has no time for us
      assert.is_true(counts.sent - sent < 60, counts.sent - sent)
      assert.is_true(counts.received - received < 60, counts.received - received)
      tester:close()
      assert.is_true(World.is_free(world))
   end))

   it("tells each agent of its own streams alone, and of how many others there are", in_job(function()
      local tester = assert(open(new_world(), "alice"))
      local body = description.of_trial(tester, ask(tester, 1))
      local function told(name)
         return tables.map(share.of(body, share.places(body)[name]).streams, function(one)
            return type(one) == "number" and one or one.id
         end)
      end
      local first = body.first_id
      assert.same({ first, 1, first + 2, first + 3 }, told "rack1")
      assert.same({ first, first + 1, 2 }, told "rack2")
      assert.same({ 1, first + 1, first + 2, 1 }, told "rack3")
      assert.same({ first, 3 }, told "rack4")
      local whole, places = share.placed(share.of(body, share.places(body).rack3), 4)
      assert.same({ { 2, 3 }, 4 }, { places, whole.count })
      assert.same({ [2] = body.described[2], [3] = body.described[3] }, whole.described)
      assert.equal(body.streams[3], whole.streams[3])
      assert.is_false((pcall(share.placed, { streams = { 5 }, described = {} }, 4)))
      assert.is_false((pcall(share.placed, { streams = { -1 }, described = {} }, 4)))
      assert.is_false((pcall(share.placed, { streams = { 1.5 }, described = {} }, 4)))
      tester:close()
   end))

   it("has each agent count the streams that it was told, not all others with them", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      trial(tester)
      local counted = {}
      for name, list in pairs(world.described) do
         counted[name] = tables.field(list, "place")
         assert.equal(#counted[name], #list)
      end
      assert.same({ rack1 = { 1, 3, 4 }, rack2 = { 1, 2 }, rack3 = { 2, 3 } }, counted)
      tester:close()
   end))

   -- the sender's stamps were up to 7 ns early, and of frames off schedule one was 13 ns late
   it("has delays between machines as far as their clocks are known, and the same counts", function()
      local body = { streams = { { from = { agent = "rack1" }, to = { agent = "rack2" } } },
         described = { { name = "one" } }, seconds = 1 }
      for _, o in ipairs {
         { "machine", nil, 120 }, { "common", nil, nil, "were not compared" },
         { "common", { rack1 = { error_ns = 20 } }, 140 }, { "common", { rack1 = { why = "w" } }, nil, "w" },
         { "machine", nil, nil, "asks for none", { delays = false, within_ns = 1e9 } },
      } do
         local scale, known, bound, why, wanted = unpack(o, 1, 5)
         local raw = join.results({
            rack1 = { directions = { { name = "one", tx = 10, rx = 0, stamp_held_ns = 7, off_schedule = 1,
               lag_max_ns = 13 } } },
            rack2 = { directions = { { name = "one", tx = 10, rx = 9,
               latency = { min_ns = 5, error_bound_ns = 100 } } }, clocks = known },
         }, body, { names = { "rack1", "rack2" }, owners = {}, control = {}, plan = { ports = {} }, scale = scale,
            clocks = wanted })
         local direction = raw.directions[1]
         assert.same({ 10, 9 }, { direction.tx, direction.rx })
         assert.equal(bound, direction.latency and direction.latency.error_bound_ns)
         assert.matches(why or "", direction.no_latency or "", 1, true)
      end
   end)

   local function left(world)
      local frames = 0
      for _, sent in pairs(world.sent) do
         frames = frames + sent
      end
      return frames
   end

   it("counts the same when nobody is told what was sent, if that is what was planned", in_job(function()
      for _, short in ipairs { 0, 7 } do
         local world = new_world()
         local tester = assert(open(world, "alice"))
         tester.control.bus.carries, world.short.rack2 = nil, short
         local raw = trial(tester)
         assert.equal(short == 0, truth(raw))
         assert.equal(short > 0 and "agent rack2 did not tell agent rack3 in time how much it sent of two: not the 2,000 that were planned but 1,993 frames" or nil, raw.invalid and raw.invalid[1])
         tester:close()
      end
   end))

   it("is had by a resumed run, and not sent again, where nobody collected it", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      world.lasts = 0.3
      local ended = job.spawn(function() return tostring(select(2, pcall(trial, tester))) end)
      while not tester.running do
         job.sleep(0.001)
      end
      tester.control.bus:close()
      for _, name in ipairs(tester.names) do
         tester.control:lose(name, "cut")
      end
      assert.matches("no agent has told the result of the trial: the connection is lost: cut",
         ended:join(), 1, true)
      tester.control.timer:close()
      local resumed = job.spawn(open, world, "alice-again", { "alice" })
      job.sleep(0.5) -- it waits for the lease of the one that is gone, although the plan does not
      assert.is_nil(resumed.done)
      for _ = 1, 8 do
         world.now = world.now + 0.4
         for _, agent in pairs(world.agents) do
            agent:look()
         end
      end
      local again, frames = resumed:join(), left(world)
      assert.same({ "alice", "alice-again" }, again:known_by())
      local raw = trial(again)
      assert.is_true(truth(raw) and not raw.invalid)
      assert.is_true(left(world) == frames and frames > 0)
      assert.is_true(truth(trial(again)))
      assert.equal(2 * frames, left(world)) -- the next one is new
      again:close()
   end))

   it("is whole when its lease ends while it runs, and is the last one then", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      world.lasts = 1
      local done = job.spawn(trial, tester)
      local function all_run()
         for _, agent in pairs(world.agents) do
            if agent.work[1].state ~= "running" then
               return false
            end
         end
         return tester.running
      end
      while not all_run() and not done.done do
         job.sleep(0.001)
      end
      for _ = 1, 8 do -- the controller was not heard for so long
         world.now = world.now + 0.4
         for _, agent in pairs(world.agents) do
            agent:look()
         end
      end
      local raw = done:join()
      assert.is_nil(raw.invalid)
      assert.is_true(truth(raw))
      local _, err = pcall(trial, tester)
      assert.matches("the lease with epoch 1 is over", tostring(err), 1, true)
      tester:close()
      assert.is_true(World.is_free(world))
   end))

   it("is made by one controller at a time", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      local none, err = open(world, "bob")
      assert.is_nil(none)
      assert.matches("agent rack1: port east is in use by alice", tostring(err), 1, true)
      tester:close()
      local again = assert(open(world, "bob"))
      again:close()
   end))

   it("is invalid and names the agent that was lost while it ran", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      world.lasts = 1
      local done = job.spawn(trial, tester)
      while not (tester.running and world.agents.rack2.work[1].state == "running") and not done.done do
         job.sleep(0.001)
      end
      world.links.rack2:close()
      local raw = done:join()
      assert.matches("agent rack2 was lost while the trial ran", raw.invalid[1], 1, true)
      tester:close()
      world.now = world.now + 3 -- the lease at the lost one ends by itself
      world.agents.rack2.looked = world.now
      world.agents.rack2:look()
      assert.is_true(World.is_free(world))
   end))

   it("is collected from the journal by another controller, also from a restarted agent", in_job(function()
      local world = new_world()
      local tester = assert(open(world, "alice"))
      local body = description.of_trial(tester, ask(tester, 1))
      local o = { trial = 1, attempt = 1 }
      for _, name in ipairs(tester.names) do
         tester.control:must(name, "prepare", body, o)
      end
      for _, name in ipairs(tester.names) do
         tester.control:must(name, "arm", { at = "1", scale = "machine" }, o)
      end
      job.sleep(0.2)
      world.start "rack2"
      local other = world.controller "bob"
      other.run = "alice"
      for _, name in ipairs(tester.names) do
         assert.equal(name, other:must(name, "collect", {}, o).agent)
      end
   end))
end)
