-- SPDX-License-Identifier: BSD-3-Clause

--- Plans of RFC 2889 for the reference switch, and their results.
local Tester = require "framegauge.tester"
local method = require "framegauge.methods.rfc2889.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

--- The text of a plan.
-- @param n        ports
-- @param switch   keys of the reference switch
-- @param keys     keys of the method
function M.plan_of(n, switch, keys)
   local ports = {}
   for i = 1, n do
      ports[i] = ("p%d: {device: wire%d}"):format(i, i - 1)
   end
   return ([[
test: rfc2889
ports: {%s}
reference_switch: {%s}
rfc2889: {learning_wait: 10ms, drain: 20ms, settle: 0, %s}
]]):format(table.concat(ports, ", "), switch, keys)
end

--- The first thing that is wrong with such a plan; nothing: an empty text.
function M.wrong(...)
   local _, errors = plans.load_text(M.plan_of(...), "x.yaml")
   return errors and tostring(errors[1]) or ""
end

--- Measure by a plan.
-- @param disturb  function(record): does to the record of a trial what a late tester does, or nil
-- @return results, session
function M.measure(plan, disturb)
   local tester, results = assert(Tester.open(plan)), {}
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.rfc2889, sink = function() end, say = function() end,
   }
   function session.trial(self, ask)
      local record = Session.trial(self, ask)
      if disturb then
         disturb(record)
      end
      return record
   end
   local ok, why = pcall(method.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results.rfc2889, session
end

--- Measure. @param disturb  as above  @return results, session, plan
function M.run_disturbed(disturb, ...)
   local plan, errors = plans.load_text(M.plan_of(...), "x.yaml")
   assert(plan, errors and tostring(errors[1]))
   local results, session = M.measure(plan, disturb)
   return results, session, plan
end

--- Measure. @return results, session, plan
function M.run(...)
   return M.run_disturbed(nil, ...)
end

return M
