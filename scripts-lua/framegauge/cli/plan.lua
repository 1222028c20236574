-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge run` and `framegauge check`: everything up to a plan that is known to be good.
local job = require "framegauge.job"

local M = {}

local BAD_PLAN = 2

-- The plan, or nil after all its errors have been written to stderr.
local function load(path, options, eal)
   local plan, errors = require("framegauge.plan").load(path, { sets = options.set, quick = options.quick })
   if not plan then
      for _, err in ipairs(errors) do
         io.stderr:write(tostring(err), "\n")
      end
      return nil
   end
   for _, argument in ipairs(eal) do
      table.insert(plan.host.eal, argument)
   end
   return plan
end

--- Run a plan.
function M.run(arguments, options, eal)
   local plan = load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   return job.run(require("framegauge.run").main, plan, options)
end

local function in_words(plan)
   local ports = {}
   for i, port in ipairs(plan.ports) do
      ports[i] = port.name .. " on " .. port.device
   end
   return ("%s; %s"):format(plan.test, table.concat(ports, ", "))
end

--- Check a plan: say what is wrong with it, or in one line what it would do.
function M.check(arguments, options, eal)
   local plan = load(arguments[1], options, eal)
   if not plan then
      return BAD_PLAN
   end
   print(("%s: good (%s)"):format(arguments[1], in_words(plan)))
   return 0
end

return M
