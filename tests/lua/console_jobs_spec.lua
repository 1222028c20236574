-- SPDX-License-Identifier: BSD-3-Clause

-- Jobs of the console, on the reference device in free-running time.
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local Control = require "framegauge.control"
local tests = require "framegauge.control.tests"
local uv = require "luv"

describe("a job of the console", function()
   local folder, control

   before_each(function()
      folder = assert(uv.fs_mkdtemp "/tmp/framegauge-jobs-XXXXXX")
      control = Control.new(assert(plans.load_text(require "framegauge.console.default_plan", "console", {
         sets = { "reference_device.time=free" },
      })))
   end)
   after_each(function()
      control:close()
      os.execute(("rm -rf '%s'"):format(folder))
   end)

   local function start(name, values)
      values = values or { frame_sizes = { 64 } }
      return tests.start(control, "rfc2544", values, { quick = true, out = folder .. "/" .. name })
   end

   -- Wait until a job has begun its n-th trial.
   local function trial(task, n)
      while not (task:progress() and task:progress().trial >= n) do
         job.sleep(0.001)
      end
   end

   it("gives the device's figures, and its folder has the files of a run", function()
      local task = start "one"
      assert.equal("running", task:state())
      local row = task:wait().throughput[1]
      assert.near(900e3, row.throughput_fps, 2e3)
      assert.equal("valid", row.validity)
      assert.equal("done", task:state())
      assert.truthy(uv.fs_stat(folder .. "/one/report.html"))
   end)

   it("says where it is as data: in its log, and to others at any time", function()
      local events, task = {}, start "one"
      task:listen(function(_, event)
         events[#events + 1] = event
      end)
      trial(task, 2)
      local now = task:progress()
      assert.same({ "rfc2544.throughput", "search", 64 }, { now.test, now.phase, now.frame_size })
      assert.truthy(now.of >= now.trial and now.load_fps > 0 and now.load_percent <= 100)
      local rows = task:wait()
      assert.is_nil(task:progress())
      local first, last = events[1], events[#events]
      assert.same({ 1, 1, 0.2 }, { first.trial, first.ended.trial, first.ended.duration_s })
      assert.matches("^lost %d+,%d+ of ", first.ended.outcome)
      assert.equal(#events, last.ended.trial)
      assert.near(rows.throughput[1].theoretical_fps, first.load_fps, 1)
   end)

   it("has its ports to itself", function()
      local task = start "one"
      local ok, err = pcall(start, "two")
      assert.falsy(ok)
      assert.matches("^port east is in use by job 1: rfc2544 quick, running", tostring(err))
      assert.matches("'wait 1' for it or 'stop 1'$", tostring(err))
      assert.has_error(function()
         control:set { name = "x" }
      end)
      task:wait()
      assert.near(900e3, start("two"):wait().throughput[1].throughput_fps, 2e3)
   end)

   it("is held between two trials and goes on", function()
      local task = start "one"
      trial(task, 2)
      task:pause()
      assert.equal("paused", task:state())
      job.sleep(0.3)
      local made = task:progress().trial
      job.sleep(0.3)
      assert.equal(made, task:progress().trial)
      assert.falsy(task.ended)
      task:resume()
      assert.near(900e3, task:wait().throughput[1].throughput_fps, 2e3)
   end)

   it("that is stopped keeps what it has, held or not", function()
      local task = start("one", { frame_sizes = { 1518, 64 } })
      trial(task, 2)
      task:stop()
      local results = task:wait()
      assert.equal("stopped", task:state())
      assert.matches("^incomplete", task.summary)
      assert.truthy(results)
      assert.truthy(uv.fs_stat(folder .. "/one/result.json"))
      task = start "two"
      trial(task, 1)
      task:pause()
      job.sleep(0.3)
      task:stop()
      task:wait()
      assert.equal("stopped", task:state())
   end)

   it("refuses keys the plan does not know, before it begins", function()
      local ok, err = pcall(start, "one", { frame_size = 64 })
      assert.falsy(ok)
      assert.matches("unknown key; expected frame_sizes", tostring(err))
      assert.same({}, control.tasks.list)
   end)

   it("that fails tells why to whoever waits", function()
      local task = control.tasks:start("broken", { "east" }, function()
         error "it broke"
      end)
      local ok, err = pcall(task.wait, task)
      assert.falsy(ok)
      assert.matches("it broke", tostring(err))
      assert.equal("failed", task:state())
   end)
end)
