-- SPDX-License-Identifier: BSD-3-Clause

-- Runs on the ports of agents: of one or several hosts, and with a controller that is killed, at every step,
-- and that another one on another host resumes. In virtual time, over the testers of fleet_air.lua.
local Controller = require "framegauge.fleet.controller"
local faults = require "fleet_faults"
local FleetBench = require "framegauge.fleet.tester"
local Folder = require "framegauge.report.folder"
local job = require "framegauge.core.job"
local loader = require "framegauge.plan"
local resume = require "framegauge.run.resume"
local run = require "framegauge.run"
local scratch = require "scratch"
local virtual = require "virtual_time"
local World = require "fleet_world"

teardown(scratch.remove)

local PLAN = World.plan { test = "rfc2544", line_rate = "1Mbps", more = [[
rfc2544:
  frame_sizes: [64]
  tests: [frame_loss]
  frame_loss: {max: 10%, step: 10%, trial: 1s}
]] }
local SCREEN = { say = function() end }
local LASTS = 300 -- virtual seconds, at most

-- Frames that left, of all streams.
local function sent(world)
   local frames = 0
   for _, flights in pairs(world.air.flights) do
      frames = frames + #flights
   end
   return frames
end

-- Run the plan, or go on with a run, from a host of its own.
-- @param asked  called with the host and with the name and the step of what is asked; may kill the host
-- @param text   of the plan; default: PLAN
local function start(world, path, asked, text)
   local host = virtual.new_host("control", 5e9)
   virtual.as(host, function()
      host.job = job.spawn(function()
         local earlier = path.begun and resume.open(path.folder)
         local plan = assert(loader.load_text(text or PLAN, "plan"))
         local control = Controller.new(World.addresses(World.AGENTS), { by = "control" })
         faults.connect(world, control, 0)
         local ask = control.ask
         function control.ask(self, name, step, ...)
            asked(host, name, step)
            return ask(self, name, step, ...)
         end
         local tester = assert(FleetBench.open(plan, { max_frame = 64, control = control,
            earlier = earlier and earlier.facts.known_by }))
         run.main(plan, { tester = tester, out = path.folder, screen = SCREEN, earlier = earlier })
         tester:close()
         return true
      end)
   end)
   return host
end

-- Kill a controller a moment later: what it has sent has arrived at some agents, and not at others.
local function kill(world, host)
   job.sleep(0.001)
   virtual.kill(host)
   for _, link in ipairs(world.links) do
      link.there:close()
   end
end

local function await(fn)
   local ends = virtual.now + LASTS * 1e9
   while not fn() and virtual.now < ends do
      job.sleep(0.05)
   end
   return assert(fn(), "it hangs")
end

local function await_end(host)
   await(function() return host.job.done end)
   return host.job:join()
end

-- The kernel lets go the lock of a process that ends; ours lives on.
local function with_locks(fn)
   local take, held = Folder.take, {}
   function Folder.take(path)
      local folder, why = take(path)
      held[#held + 1] = folder
      return folder, why
   end
   local ok, err = pcall(fn, function()
      for _, folder in ipairs(held) do
         folder:close()
      end
      held = {}
   end)
   Folder.take = take
   if not ok then
      error(err, 0)
   end
end

local function files(path)
   return scratch.read(path .. "/result.json"), scratch.read(path .. "/trials.jsonl")
end

describe("a run on the ports of agents", function()
   it("gives the same bytes whichever agents have the ports, but for names and addresses", function()
      virtual.run(function()
         local world, first = faults.new_world(), nil
         for _, devices in ipairs {
            { "rack1/east", "rack1/west", "rack2/east", "rack2/west" },
            { "rack1/east", "rack2/east", "rack1/west", "rack2/west" },
            { "rack1/east", "rack2/east", "rack3/east", "rack1/west" },
         } do
            local n, path = 0, { folder = scratch.path() }
            local text = PLAN:gsub("agent:rack%d/%a+", function()
               n = n + 1
               return "agent:" .. devices[n]
            end)
            await_end(start(world, path, function() end, text))
            faults.clear(world)
            local result = files(path.folder):gsub("agent:rack%d/%a+", ""):gsub('"mac": "[%x:]+"', "")
            assert.matches('"loss_ratio": 0.1', result, 1, true)
            first = first or result
            assert.is_true(result == first)
         end
      end)
   end)
end)

describe("a run on the ports of agents whose controller is killed", function()
   it("gives the same bytes when another one resumes it, and sends at most one trial again", function()
      with_locks(function(unlock)
         virtual.run(function()
            local world = faults.new_world()
            local whole, steps, seen, trial = scratch.path(), {}, {}, 0
            local host = start(world, { folder = whole }, function(_, name, step) -- of two trials
               trial = trial + (step == "prepare" and name == "rack2" and 1 or 0)
               local key = step .. math.min(trial, 2)
               steps[#steps + 1] = name == "rack2" and not seen[key] and step or false
               seen[key] = seen[key] or name == "rack2"
            end)
            await_end(host)
            local frames, result, trials = sent(world), files(whole)
            local _, n = trials:gsub("\n", "")
            assert.is_true(n >= 2 and frames > 0)
            for at, step in ipairs(steps) do
               if step and step ~= "release" then -- by then all is written
                  local path, count, killed_at = { folder = scratch.path() }, 0, nil
                  local before = sent(world)
                  local first = start(world, path, function(dying, _, asked)
                     count = count + 1
                     if count == at then
                        killed_at = asked
                        virtual.as(virtual.nobody, job.spawn, kill, world, dying)
                     end
                  end)
                  await(function() return first.dead end)
                  unlock()
                  path.begun = io.open(path.folder .. "/run.json") ~= nil
                  if not path.begun then -- then it is no run that knows its predecessor
                     await(function() return World.is_free(world) end)
                  end
                  faults.clear(world)
                  local second = start(world, path, function() end)
                  await_end(second)
                  local found, found_trials = files(path.folder)
                  if found ~= result or found_trials ~= trials then
                     error(("killed at %s, command %d: another result"):format(killed_at, at))
                  end
                  local more = (sent(world) - before - frames) / (frames / n)
                  if more > (killed_at == "collect" and 0 or 1) then -- then the agents have it
                     error(("killed at %s, command %d: %g trials sent again"):format(killed_at, at, more))
                  end
                  unlock()
                  await(function() return World.is_free(world) end)
                  faults.clear(world)
               end
            end
         end)
      end)
   end)
end)
