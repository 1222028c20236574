-- SPDX-License-Identifier: BSD-3-Clause

--- Runs of a fleet in which things go wrong, in virtual time: real agents and controllers over played testers
-- (fleet_air.lua), joined by links that lose, repeat, delay and reorder messages. Agents and controllers are
-- killed and stopped, links are cut, clocks are stepped, disks are full.
--
-- Of every run is checked: no trial is valid whose counts are not the truth, nothing hangs, and the ports are
-- free again in time.
local Agent = require "framegauge.fleet.agent"
local air = require "fleet_air"
local Controller = require "framegauge.fleet.controller"
local FleetBench = require "framegauge.fleet.tester"
local job = require "framegauge.core.job"
local loader = require "framegauge.plan"
local scratch = require "scratch"
local stream_config = require "framegauge.traffic.stream_config"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local virtual = require "virtual_time"
local World = require "fleet_world"

local M = {}

local random = math.random

local AGENTS = World.AGENTS
local TTL, PATIENCE, DRAIN = 2, 0.4, 0.5 -- seconds
local BOUND_NS = air.BOUND_NS
local HANGS = 60 -- seconds for a trial, and for a run to begin: patience with an agent that does not answer
local RUNS_OF_A_WORLD = 25 -- then all hosts are new
local TRIALS = 4 -- of a run
local FREE_WITHIN = 2 * TTL + 4 -- seconds: a lease that its agent has to extend, and the longest trial
local LOOK = 0.1

local PLAN = World.plan { wait = "20s", more = [[
streams:
  one: {from: a, to: b, rate: 100fps}
  two: {from: b, to: c, rate: 200fps}
  three: {from: c, to: d, rate: 50fps}
  four: {from: a, to: d, rate: 20fps}
]] }

-- A moment between almost none and `most`, rather a short one.
local function moment(most)
   return most * random() ^ 3
end

-- One end of a link. What it writes arrives in order, at the host of the other end.
local function new_end(host, link)
   local one = { host = host, last = 0 }
   local function arrive(at, fn)
      virtual.timer(one.other.host):start(math.max(0, at - virtual.now) / 1e6, 0, fn)
   end
   function one.read_start(_, fn) one.fn = fn end
   function one.is_closing() return one.closed end
   function one.close()
      if not one.closed then
         one.closed = true
         arrive(math.max(one.last, virtual.now), function()
            if not one.other.closed and one.other.fn then
               one.other.fn(nil, nil)
            end
         end)
      end
   end
   function one.write(_, text)
      local is_message = text:find('"subject"', 1, true)
      for _ = 1, is_message and (link.cut and 0 or link.fate()) or 1 do
         local at = math.max(one.last, virtual.now + 1e5 + moment(2e6))
         one.last = random() < link.overtakes and one.last or at
         arrive(at, function()
            if not one.closed and not one.other.closed and one.other.fn then
               one.other.fn(nil, text)
            end
         end)
      end
   end
   return one
end

local function new_link(a, b, rate)
   local link = { overtakes = rate }
   function link.fate()
      local dice = random()
      return dice < rate / 2 and 0 or dice < rate and 2 or 1
   end
   link.here, link.there = new_end(a, link), new_end(b, link)
   link.here.other, link.there.other = link.there, link.here
   return link
end

-- An agent on a host, as its service starts it.
local function start_agent(world, name)
   local before = world.hosts[name]
   local host = virtual.new_host(name, before and before.raw_ns or random(1e9) * 1e3)
   host.error_ns = before and before.error_ns or (2 * random() - 1) * BOUND_NS
   world.hosts[name] = host
   virtual.as(host, function()
      local plan = World.agent_plan(name, world.folder)
      plan.clock = { source = "kernel", machine = virtual.machine(host, BOUND_NS) }
      local agent
      agent = Agent.new(plan, {
         now = function() return virtual.now / 1e9 end, engine = air.engine, patience = PATIENCE,
         open = function(shaped) return air.tester(world.air, name, function() return agent end, shaped) end,
      })
      world.agents[name] = agent
      job.spawn(function()
         while true do
            agent:look()
            job.sleep(LOOK)
         end
      end)
   end)
end

--- Link a controller, from the host whose code runs, to the agents.
-- @param rate  of messages that are lost or repeated
function M.connect(world, control, rate)
   for _, name in ipairs(AGENTS) do
      local link = new_link(virtual.host, world.hosts[name], rate)
      table.insert(world.links, link)
      virtual.as(world.hosts[name], function() world.agents[name].bus:attach(link.there) end)
      control:attach({ name }, link.here)
   end
end

--- What may go wrong; each is given the world and the name of an agent.
M.faults = {}

function M.faults.kill(world, name)
   local host = world.hosts[name]
   virtual.kill(host)
   for _, link in ipairs(world.links) do
      if link.there.host == host then
         link.there:close()
      end
   end
   job.sleep(0.2 + moment(5))
   start_agent(world, name)
end

function M.faults.stop(world, name)
   local host = world.hosts[name]
   virtual.stop(host)
   job.sleep(moment(6))
   virtual.go_on(host)
end

function M.faults.stop_controller(world)
   local host = world.controllers[random(#world.controllers)]
   virtual.stop(host)
   job.sleep(moment(6))
   virtual.go_on(host)
end

function M.faults.kill_controller(world)
   local host = world.controllers[random(#world.controllers)]
   virtual.kill(host)
   for _, link in ipairs(world.links) do
      if link.here.host == host then
         link.here:close()
      end
   end
end

function M.faults.cut(world, name)
   local cut = tables.map(world.links, function(link)
      return link.there.host == world.hosts[name] and link or nil
   end)
   for _, link in ipairs(cut) do link.cut = true end
   job.sleep(moment(20))
   for _, link in ipairs(cut) do link.cut = false end
end

function M.faults.disconnect(world, name)
   for _, link in ipairs(world.links) do
      if link.there.host == world.hosts[name] then
         link.there:close()
      end
   end
end

function M.faults.step(world, name)
   local host = world.hosts[name]
   local step_ns = 10 ^ (3 + 9 * random()) * (random() < 0.5 and -1 or 1) -- 1 us to 1,000 s
   host.error_ns = math.floor(host.error_ns + step_ns)
   job.sleep(moment(20))
   host.error_ns = math.floor((2 * random() - 1) * BOUND_NS)
end

function M.faults.full_disk(world, name)
   world.hosts[name].full = true
   job.sleep(moment(6))
   world.hosts[name].full = false
end

-- The trials of a run, and what became of each.
local function trials(world, tester)
   local seconds = 0.1 + 2 * random()
   for number = 1, TRIALS do
      local streams = stream_config.streams(tester, seconds)
      local began = virtual.now
      local ok, raw = pcall(tester.trial, tester, { streams = streams, directions = {}, drain = DRAIN })
      local took = (virtual.now - began) / 1e9
      world.longest_s = math.max(world.longest_s, took)
      if not ok then
         world:count("ended", raw)
         return
      end
      local record = trial.record(raw, { number = number, test = "traffic", seconds = seconds,
         streams = true, fps = 100, any_loss = true })
      world:count(record.validity, record.reasons[1])
      local wrong = record.validity == "valid"
         and air.untruth(world.air, record, tester.next_id - #streams, DRAIN * 1e9)
      wrong = wrong or record.validity == "valid" and air.wrong_delay(record)
      if wrong then
         world:fail(record.validity .. ", but " .. wrong)
      end
      for _, d in ipairs(record.directions) do
         local known = d.latency and "delays known" or "no delays"
         world.counts[known] = (world.counts[known] or 0) + 1
      end
   end
end

-- A run of a controller on a host of its own.
local function run(world, by, rate)
   local host = virtual.new_host(by, random(1e9) * 1e3)
   world.controllers[#world.controllers + 1] = host
   local plan = assert(loader.load_text(PLAN, "plan"))
   virtual.as(host, function()
      job.spawn(function()
         local control = Controller.new(World.addresses(AGENTS), { by = by, run = by .. world.runs })
         M.connect(world, control, rate)
         local tester, err = FleetBench.open(plan, { max_frame = 1518, control = control })
         if tester then
            trials(world, tester)
            tester:close()
         else
            world:count("not begun", err)
         end
         host.done = true
      end)
   end)
   return host
end

-- Wait until something is so. @return whether it came to be in time
local function await(seconds, fn)
   local ends = virtual.now + seconds * 1e9
   while not fn() and virtual.now < ends do
      job.sleep(LOOK)
   end
   return fn()
end

local function disturb(world, kinds, n)
   local jobs = {}
   for i = 1, n do
      local kind, name = kinds[random(#kinds)], AGENTS[random(#AGENTS)]
      jobs[i] = job.spawn(function()
         job.sleep(12 * random())
         world.did[kind] = (world.did[kind] or 0) + 1
         M.faults[kind](world, name)
      end)
   end
   return jobs
end

local function over(list)
   for _, one in ipairs(list) do
      if not (one.done or one.dead) then
         return false
      end
   end
   return true
end

-- One or two controllers at the same time; then all is given back.
local function episode(world, kinds)
   M.clear(world)
   local rate = random() < 0.5 and 0 or moment(0.1)
   local hosts = { run(world, "alice", rate) }
   local faults = disturb(world, kinds, random(0, 3))
   if random() < 0.2 then
      job.sleep(3 * random())
      hosts[2] = run(world, "bob", rate)
   end
   if not await(HANGS * (TRIALS + 1), function() return over(hosts) end) then
      world:fail "a run hangs"
   end
   if not await(60, function() return over(faults) end) then
      world:fail "a fault does not end"
   elseif not await(FREE_WITHIN, function() return World.is_free(world) end) then
      world:fail "a port is not free in time"
   end
   air.clear(world.air)
end

--- Forget the links and controllers of a run that is over.
function M.clear(world)
   world.controllers, world.links = {}, {}
end

local function new_world()
   local world = { agents = {}, hosts = {}, runs = 0, trials = 0, counts = {}, reasons = {}, did = {},
      wrong = {}, longest_s = 0 }
   function world.count(_, what, why)
      local reason = ("%s: %s"):format(what, tostring(why or ""):gsub("%d[%d.,]*", "N"))
      world.trials = world.trials + 1
      world.counts[what] = (world.counts[what] or 0) + 1
      world.reasons[reason] = (world.reasons[reason] or 0) + 1
   end
   function world.fail(_, sentence)
      table.insert(world.wrong, ("run %d: %s"):format(world.runs, sentence))
   end
   return world
end

local function renew(world)
   for _, name in ipairs(AGENTS) do
      if world.hosts[name] then
         virtual.kill(world.hosts[name])
         world.hosts[name] = nil
      end
   end
   world.air, world.folder = air.new(), scratch.path()
   world.air.hosts = world.measures_delays and world.hosts
   for _, name in ipairs(AGENTS) do
      start_agent(world, name)
   end
end

--- A world of three agents in which nothing goes wrong by itself. Call it in virtual time.
function M.new_world()
   local world = new_world()
   M.clear(world)
   renew(world)
   return world
end

--- Play runs until there have been enough trials.
-- @param o.trials  at least
-- @param o.seed    of all that is random. Tables by address have no order: a seed gives nearly the same again
--                  where addresses are the same (setarch -R)
-- @param o.kinds   of faults; default: all
-- @return runs, trials; counts = { validity = trials }, also of those that ended without one; reasons = how
-- often each; did = { fault = how often }; wrong = list of sentences; longest_s = of a trial; simulated_s
function M.play(o)
   local world, kinds = new_world(), o.kinds or tables.keys(M.faults)
   math.randomseed(o.seed)
   world.measures_delays = true
   virtual.run(function()
      while world.trials < o.trials do
         if world.runs % RUNS_OF_A_WORLD == 0 then
            renew(world)
         end
         world.runs = world.runs + 1
         episode(world, kinds)
      end
   end)
   world.simulated_s = virtual.now / 1e9
   return world
end

return M
