-- SPDX-License-Identifier: BSD-3-Clause

-- A program of the plan that does something to the device while a trial is made.
local hook = require "framegauge.methods.common.hook"
local job = require "framegauge.core.job"
local scratch = require "scratch"
local uv = require "luv"

-- What is known of a command by when its trial of 20 ms is over. @param again  another trial follows
local function problems_of(command, again)
   local found = {}
   job.run(function()
      for i = 1, again and 2 or 1 do
         local _, report = hook.around({ after = 0, command = command, what = "reset the device" },
            function() job.sleep(0.02) end)
         found[i] = report.problem or "none"
      end
   end)
   return found
end

describe("the command of a trial", function()
   teardown(scratch.remove)

   it("is waited for, and told of where it could not do its work", function()
      assert.same({ "none" }, problems_of { "true" })
      assert.same({ "the command sh failed with status 3" }, problems_of { "sh", "-c", "exit 3" })
      assert.same({ "the command sh was ended by signal 9" }, problems_of { "sh", "-c", "kill -9 $$" })
      assert.matches("the command ./none could not be run: ENOENT", problems_of { "./none" }[1], 1, true)
   end)

   it("is ended where the trial is broken off", function()
      local path = scratch.path()
      local ok, err = pcall(job.run, hook.around, {
         after = 0, command = { "sh", "-c", "echo $$ >'" .. path .. "'; exec sleep 5" }, what = "wait",
      }, function()
         job.sleep(0.2)
         error("broken off", 0)
      end)
      assert.falsy(ok)
      assert.equal("broken off", tostring(err))
      local pid = tonumber(scratch.read(path))
      assert.falsy(uv.kill(pid, 0)) -- there is no such process
   end)

   it("makes the next trial invalid, too, where it does not end", function()
      local path = scratch.path()
      scratch.shell(("touch '%s'"):format(path))
      local found = problems_of({ "sh", "-c", "while [ -e '" .. path .. "' ]; do sleep 0.1; done" }, true)
      os.remove(path)
      assert.equal("the command sh was still running when the trial ended", found[1])
      assert.equal("the command sh of an earlier trial was still running", found[2])
   end)
end)
