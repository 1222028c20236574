-- SPDX-License-Identifier: BSD-3-Clause

local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local uv = require "luv"

describe("a job", function()
   it("lets the others run while it waits", function()
      local order = {}
      local slow = job.spawn(function()
         job.sleep(0.02)
         table.insert(order, "slow")
      end)
      local quick = job.spawn(function()
         job.sleep(0.001)
         table.insert(order, "quick")
      end)
      table.insert(order, "started")
      slow:join()
      quick:join()
      assert.same({ "started", "quick", "slow" }, order)
   end)

   it("lets sockets have their turn, too, when it waits for no time", function()
      local ends, heard = uv.pipe(), nil
      local input, output = uv.new_pipe(), uv.new_pipe()
      input:open(ends.read)
      output:open(ends.write)
      input:read_start(function(_, text) heard = text end)
      output:write "x"
      for _ = 1, 1000 do
         job.sleep(0)
      end
      input:close()
      output:close()
      assert.equal("x", heard)
   end)

   it("in the foreground raises what a callback of the loop raises, and cleans up", function()
      local timer, cleaned = uv.new_timer(), false
      timer:start(1, 1, function() error "it broke" end)
      local ok, err = pcall(failure.finally, function()
         timer:close()
         cleaned = true
      end, job.sleep, 60)
      assert.is_false(ok)
      assert.matches("job_spec.lua:%d+: it broke", tostring(err))
      assert.matches("in function 'error'", err.traceback, 1, true)
      assert.is_true(cleaned)
      job.sleep(0.01) -- and once only
   end)

   it("hands its results to whoever joins it, before and after its end", function()
      local one = job.spawn(function(...)
         job.sleep(0)
         return select("#", ...), nil, ...
      end, "a", nil)
      assert.same({ n = 4, 2, nil, "a" }, { n = select("#", one:join()), one:join() })
   end)

   it("cannot yield by itself, which nobody would wake it from; its coroutines can", function()
      local alone = job.spawn(coroutine.yield, 1)
      local ok, err = pcall(alone.join, alone)
      assert.falsy(ok)
      assert.matches("attempt to yield from outside a coroutine", tostring(err))
      assert.equal(3, job.spawn(function()
         local count = coroutine.wrap(function()
            coroutine.yield(1)
            coroutine.yield(2)
         end)
         return count() + count()
      end):join())
   end)

   it("hands its error on, with the stack of its own coroutine", function()
      local function deep()
         error("it broke")
      end
      local broken = job.spawn(function()
         job.sleep(0)
         deep()
      end)
      local ok, err = pcall(broken.join, broken)
      assert.falsy(ok)
      assert.matches("job_spec.lua:%d+: it broke", tostring(err))
      assert.matches("deep", err.traceback)
   end)

   it("hands error objects on as they are", function()
      local object = { code = 7 }
      local broken = job.spawn(error, object)
      local ok, err = pcall(broken.join, broken)
      assert.falsy(ok)
      assert.equal(object, err)
   end)

   it("is called directly by run() inside another", function()
      local outer = job.current()
      assert.equal("inside", job.run(function()
         assert.equal(outer, job.current())
         return "inside"
      end))
   end)
end)

describe("waiting", function()
   it("returns what the event brought, also when it came at once", function()
      assert.same({ 1, 2 }, { job.wait(function(wake)
         wake(1, 2)
         wake(3)
      end) })
   end)

   it("cleans up once, however it ends", function()
      local cleaned = 0
      local function clean_up()
         cleaned = cleaned + 1
      end
      job.wait(function(wake)
         wake()
         return clean_up
      end)
      assert.equal(1, cleaned)
      local stuck = job.spawn(job.wait, function()
         return clean_up
      end)
      stuck:interrupt()
      assert.equal(2, cleaned)
      assert.truthy(stuck.done)
   end)

   it("is for jobs, in their own coroutine", function()
      assert.has_error(coroutine.wrap(function()
         job.sleep(0)
      end), "only a job can wait: call it inside job.run()")
   end)
end)

describe("an interrupt", function()
   it("raises in the present wait, once, after the listeners were told", function()
      local log = {}
      local test = job.spawn(function()
         job.on_interrupt(function()
            table.insert(log, "told")
         end)
         local ok, err = pcall(job.sleep, 60)
         table.insert(log, not ok and err.interrupted and tostring(err))
         job.sleep(0) -- the unwinding may wait
         table.insert(log, "unwound")
         error(err, 0)
      end)
      test:interrupt()
      local ok, err = pcall(test.join, test)
      assert.falsy(ok)
      assert.truthy(err.interrupted)
      assert.same({ "told", "interrupted", "unwound" }, log)
   end)

   it("that comes while the job runs raises in its next wait", function()
      local test = job.spawn(function()
         job.current():interrupt()
         return pcall(job.sleep, 60)
      end)
      local ok, err = test:join()
      assert.falsy(ok)
      assert.truthy(err.interrupted)
   end)

   it("of an ended job does nothing", function()
      job.spawn(function() end):interrupt()
   end)
end)
