-- SPDX-License-Identifier: BSD-3-Clause
local job = require "framegauge.core.job"
local uv = require "luv"

-- 'framegauge serve' without a tester; @p listen is called where it begins to listen.
local function serve(listen)
   local nothing = function() end
   local stubs = {
      ["framegauge.console.serve"] = false,
      ["framegauge.console"] = { welcome = nothing, control = function()
         return { tester_for = nothing, listen = nothing, close = nothing, plan = { name = "", source = {} } }
      end },
      ["framegauge.console.server"] = { listen = function()
         listen()
         return { path = "", close = nothing }
      end },
      ["framegauge.console.watchdog"] = { start = function() return nothing end },
      ["framegauge.core.print_nowait"] = nothing,
      ["framegauge.web"] = { open = function() return { close = nothing } end },
   }
   local before = {}
   for name, stub in pairs(stubs) do
      before[name], package.loaded[name] = package.loaded[name] or false, stub or nil
   end
   local status = require("framegauge.console.serve").main({}, {})
   for name, module in pairs(before) do
      package.loaded[name] = module or nil
   end
   return status
end

describe("framegauge serve", function()
   it("ends by a SIGTERM that comes while it begins to listen", function()
      local late, again = false, uv.new_timer()
      local status = serve(function()
         again:start(60000, 0, function() end) -- something that the loop can wait for
         uv.kill(uv.os_getpid(), uv.constants.SIGTERM)
         job.turn(function() return job.terminated end)
         again:start(1000, 0, function() -- who has not heard it hears a second one
            late = true
            uv.kill(uv.os_getpid(), uv.constants.SIGTERM)
         end)
      end)
      again:close()
      job.terminated = false
      assert.equal(0, status)
      assert.is_false(late)
   end)
end)
