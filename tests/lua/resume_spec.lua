-- SPDX-License-Identifier: BSD-3-Clause

-- Runs that are ended at any moment and resumed. What they leave must be what an undisturbed run leaves.
local fixture = require "fixture"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local scratch = require "scratch"
local small_runs = require "small_runs"
local uv = require "luv"

local PLAN = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/rfc2544-full-reference.yaml"
local SETTINGS = small_runs.RFC2544
local KEPT = {
   "result.json", "trials.jsonl", "throughput.csv", "latency.csv", "frame_loss.csv", "back_to_back.csv",
   "system_recovery.csv", "reset.csv", "bursty_traffic.csv",
}

local function program(arguments, ...)
   return ("'%s' %s 2>&1"):format(uv.exepath(), arguments:format(...))
end

local function start(path, more)
   return program("run '%s' %s %s --out '%s'", PLAN, SETTINGS, more or "", path)
end

local function resume(path, more)
   return scratch.shell(program("run --resume '%s' %s", path, more or ""))
end

local write = scratch.write

local function trials_of(path)
   local _, n = scratch.read(path .. "/trials.jsonl"):gsub("\n", "")
   return n
end

-- Start a run and send it a signal when a number of trials are done.
-- @return its exit status, as the shell has it, and all that was printed
local function stop(path, signal, trials)
   local script = [[
      %s >/dev/null & pid=$!
      until [ -n "$(sed -n %dp '%s/trials.jsonl' 2>/dev/null)" ]; do
         sleep 0.05
         kill -0 $pid || exit
      done
      kill -%s $pid
      wait $pid 2>/dev/null
      echo $?]]
   local output = scratch.shell("exec 2>&1\n" .. script:format(start(path), trials, path, signal))
   return tonumber(output:match "(%d+)\n$"), output
end

describe("a run that is resumed", function()
   local undisturbed

   setup(function()
      local output, status
      undisturbed, output, status = fixture.run("rfc2544-full", SETTINGS)
      assert.equal(0, status, output)
   end)

   teardown(scratch.remove)

   local function assert_same_as_undisturbed(path)
      for _, name in ipairs(KEPT) do
         assert.is_true(scratch.read(undisturbed .. "/" .. name) == scratch.read(path .. "/" .. name), name)
      end
   end

   local function killed(trials, part)
      return interrupted(undisturbed, trials, part)
   end

   it("leaves what it would have left, wherever it was killed, and repeats no finished trial", function()
      for _, at in ipairs { { 0, 0 }, { 70, 700 } } do
         local path = killed(unpack(at))
         local output, status = resume(path)
         assert.equal(0, status, output)
         assert.is_truthy(output:find(("Resumed: %d trial"):format(at[1]), 1, true))
         local first = tonumber(output:match "  trial (%d+)")
         assert.equal(at[1] + 1, first)
         assert_same_as_undisturbed(path)
      end
   end)

   for _, case in ipairs { { "KILL", 137, 30 }, { "INT", 130, 12 } } do
      local signal, expected, trials = unpack(case)
      it(("leaves what it would have left after SIG%s with %d trials done"):format(signal, trials), function()
         local path = scratch.path()
         local status, output = stop(path, signal, trials)
         assert.equal(expected, status, output)
         local before = trials_of(path)
         output, status = resume(path)
         assert.equal(0, status, output)
         assert.is_truthy(output:find(("Resumed: %d trials"):format(before), 1, true), output)
         assert_same_as_undisturbed(path)
         assert.equal(before, json.decode(scratch.read(path .. "/run.json")).resumed[1].trials)
      end)
   end

   it("leaves the figures of TCP to the nanosecond", function()
      local plan = PLAN:gsub("[^/]+$", "l4-clients-reference.yaml")
      local whole = scratch.path()
      local output, status = scratch.shell(program(
         "run '%s' --quick --set 'l4.sweep.clients=[1, 2, 4, 8]' --out '%s'", plan, whole))
      assert.equal(0, status, output)
      local path = interrupted(whole, 3)
      output, status = resume(path)
      assert.equal(0, status, output)
      for _, name in ipairs { "result.json", "trials.jsonl" } do
         assert.is_true(scratch.read(whole .. "/" .. name) == scratch.read(path .. "/" .. name), name)
      end
   end)

   it("takes the same plan given again, and another expectation", function()
      local path = killed(90, 10)
      local output, status = scratch.shell(program("run '%s' %s --resume '%s'", PLAN, SETTINGS, path))
      assert.equal(0, status, output)
      assert_same_as_undisturbed(path)
      path = killed(90, 1e6)
      output, status = resume(path, "--expect 'throughput>=99%@64'")
      assert.equal(1, status, output)
   end)

   it("refuses another plan and says what differs", function()
      local path = killed(20, 0)
      local other = SETTINGS .. " --set rfc2544.retries=7"
      local output, status = scratch.shell(program("run '%s' %s --resume '%s'", PLAN, other, path))
      assert.equal(2, status)
      assert.is_truthy(output:find("rfc2544.retries was 2 and is 7", 1, true), output)
      local text = scratch.read(path .. "/plan.yaml"):gsub("latency: 20us", "latency: 25us")
      write(path .. "/plan.yaml", text)
      output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("reference_device.latency was 20 us and is 25 us", 1, true), output)
      assert.equal(20, trials_of(path))
   end)

   it("takes a key that the plan of its folder lacks as its default", function()
      local path = killed(90, 10)
      local facts = json.decode(scratch.read(path .. "/run.json"))
      assert.equal(2, facts.plan.rfc2544.retries)
      facts.plan.rfc2544.retries, facts.plan.clock, facts.plan.fleet, facts.plan.host = nil, nil, nil, nil
      write(path .. "/run.json", json.encode(facts))
      local output, status = resume(path)
      assert.equal(0, status, output)
      assert_same_as_undisturbed(path)
      facts = json.decode(scratch.read(path .. "/run.json"))
      assert.equal(2, facts.plan.rfc2544.retries)
   end)

   it("refuses a plan that was damaged in its folder, and names the key", function()
      local path = killed(20, 0)
      local facts = json.decode(scratch.read(path .. "/run.json"))
      facts.plan.rfc2544.throughput = 5
      write(path .. "/run.json", json.encode(facts))
      local output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("is damaged: plan.rfc2544.throughput: 5 is no record", 1, true), output)
   end)

   it("refuses another version of the program, and other ports", function()
      local path = killed(20, 0)
      local facts = json.decode(scratch.read(path .. "/run.json"))
      facts.generator.version = "0.0.1"
      write(path .. "/run.json", json.encode(facts))
      local output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find('version was "0.0.1" and is', 1, true), output)
      path = killed(20, 0)
      facts = json.decode(scratch.read(path .. "/run.json"))
      facts.ports[2].driver = "net_ixgbe"
      write(path .. "/run.json", json.encode(facts))
      output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find('port west: driver was "net_ixgbe" and is "wire"', 1, true), output)
   end)

   it("refuses a run.json that somebody changed, and names the key", function()
      local path = killed(20, 0)
      local text = scratch.read(path .. "/run.json")
      for problem, change in pairs {
         ["run.json.started: 1e+300 is no text"] = function(f) f.started = 1e300 end,
         ["run.json.resumed: null is no list"] = function(f) f.resumed = json.null end,
         ["run.json.plan: \"x\" is no object"] = function(f) f.plan = "x" end,
         ["run.json.plan.test: no test of this program"] = function(f) f.plan.test = "../rfc2544" end,
         ["run.json.ports[2]: 7 is no object"] = function(f) f.ports[2] = 7 end,
         ["run.json.options.sets[1]: false is no text"] = function(f) f.options.sets = { false } end,
         ["run.json.calibration: missing"] = function(f) f.calibration = nil end,
      } do
         local facts = json.decode(text)
         change(facts)
         write(path .. "/run.json", json.encode(facts))
         local output, status = resume(path)
         assert.equal(2, status, output)
         assert.is_truthy(output:find("is not the folder of a run: " .. problem, 1, true), output)
      end
   end)

   it("refuses trials that are not its own, and changes nothing", function()
      local path = killed(20, 0)
      local text = scratch.read(path .. "/trials.jsonl")
      write(path .. "/trials.jsonl", (text:gsub('"frame_size":64', '"frame_size":65', 7)))
      local output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("its trial 1 differs in frame_size", 1, true), output)
      assert.is_nil(io.open(path .. "/result.json"))
      write(path .. "/trials.jsonl", (text:gsub("\n.-\n", "\nnonsense\n", 1)))
      output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("line 2 of trials.jsonl is not trial 2", 1, true), output)
   end)

   it("refuses a run that is finished, or under way, or none", function()
      local output, status = resume(undisturbed)
      assert.equal(2, status)
      assert.is_truthy(output:find("there is nothing to resume", 1, true), output)
      output, status = resume(scratch.path())
      assert.equal(2, status)
      assert.is_truthy(output:find("cannot open the result folder", 1, true), output)
      local path = scratch.path()
      scratch.shell(("mkdir '%s'"):format(path))
      output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("is not the folder of a run", 1, true), output)
      path = scratch.path()
      scratch.shell(("cp -r '%s' '%s'"):format(undisturbed, path))
      write(path .. "/result.json", "no result")
      output, status = resume(path)
      assert.equal(2, status)
      assert.is_truthy(output:find("is no JSON", 1, true), output)
      path = killed(20, 0)
      local locked = program("run --resume '%s'", path)
      output, status = scratch.shell(("flock '%s' %s"):format(path, locked))
      assert.equal(2, status)
      assert.is_truthy(output:find("a run is writing to", 1, true), output)
   end)
end)
