-- SPDX-License-Identifier: BSD-3-Clause

--- What the campaigns of all methods share: draws, runs without a folder, figures held against the truth.
local ethernet = require "framegauge.core.ethernet"
local plans = require "framegauge.plan"

local M = {}

--- One of a list.
function M.pick(draw, list)
   return list[draw(1, #list)]
end

--- Frames per second that are a share of the line, from and to percent.
function M.frames(draw, rate, size, least, most)
   return math.floor(ethernet.max_fps(rate, size) * draw(least * 1000, most * 1000) / 1e5)
end

--- Runs a plan whose method needs no more than its name. @return results, plan, records of its trials
function M.results_of(text)
   local Session, Tester = require "framegauge.trial.session", require "framegauge.tester"
   local plan, errors = plans.load_text(text, "plan.yaml")
   assert(plan, errors and tostring(errors[1]) .. text)
   local tester, results, records = assert(Tester.open(plan, { max_frame = 1522 })), {}, {}
   local session = Session.new { tester = tester, retries = 0, phases = plan[plan.test] or {},
      sink = function(record) records[#records + 1] = record end }
   local ok, why = pcall(require("framegauge.methods." .. plan.test .. ".method").run, plan, tester, session,
      results)
   tester:close()
   if not ok then
      error(why, 0)
   end
   return results, plan, records
end

--- Adds what was measured, and how far it may be from the truth, to a list.
function M.adder(list)
   return function(what, truth, measured, bound)
      list[#list + 1] = { what = what, truth = truth, measured = measured, low = truth - bound,
         high = truth + bound }
   end
end

return M
