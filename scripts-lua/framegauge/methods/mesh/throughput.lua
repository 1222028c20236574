-- SPDX-License-Identifier: BSD-3-Clause

--- The throughput of all flows of a round, by searches side by side.
--
-- Each flow has its own search; a trial has the loads that all searches want next. A flow whose search has
-- ended continues at its throughput. At the end all flows have their throughputs at once: a loss then shows
-- that pairs share a path, and the flows do not have these throughputs together.
local search = require "framegauge.search"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.mesh.trials"

local M = {}

local GIVE_UP = 11 -- a tester that carries no load down to a thousandth of the highest is unfit

-- A search as a coroutine, which yields each load to be tried.
local function begin(c, flow)
   local o = c.plan.mesh
   local goal = search.goal({ search_trial = o.trial, trial = o.trial }, {
      max = flow.most, min = 0, resolution = o.resolution * flow.whole, give_up = GIVE_UP,
   })
   goal.trial = coroutine.yield
   return coroutine.create(function() return search.run("binary", goal) end)
end

-- Continue a search. @param direction  the result of the load it yielded; nil: it begins
local function go_on(one, direction)
   local ok, wanted = coroutine.resume(one.search, direction)
   if not ok then
      error(wanted, 0)
   elseif coroutine.status(one.search) == "dead" then
      one.result, one.wanted = wanted, nil
   else
      one.wanted = wanted
   end
end

local function load_of(one)
   return one.wanted or one.result and one.result.load
end

-- The flows with their present loads; flows without a load send nothing.
local function loaded(list)
   local flows = {}
   for _, one in ipairs(list) do
      one.flow.load = load_of(one)
      flows[#flows + 1] = one.flow.load and not one.gone and one.flow or nil
   end
   return flows
end

local function wants_more(list)
   return tables.any(list, function(one) return one.wanted and not one.gone end)
end

-- One trial of all flows. @return whether each flow had its search's throughput
local function step(c, list, phase)
   local record, by_flow = trials.make(c, loaded(list), phase)
   local final = record ~= nil
   for _, one in ipairs(list) do
      local direction, wanted = by_flow[one.flow], one.wanted
      one.record = direction and record or one.record
      one.direction = direction or one.direction
      one.gone = one.gone or load_of(one) ~= nil and not direction
      if wanted and direction then
         go_on(one, direction)
      end
      final = final and not one.wanted and (not wanted or one.result.load == wanted)
   end
   return final
end

--- Search.
-- @param flows  list of { from =, to =, round =, whole = frames per second of the line, most = of the
--               highest load }
-- @return by flow { record, direction = of the last trial, result = of the search (framegauge.search) },
-- flows whose agents were lost have `gone`
function M.run(c, flows)
   local list, out = {}, {}
   for i, flow in ipairs(flows) do
      list[i] = { flow = flow, search = begin(c, flow) }
      go_on(list[i])
      out[flow] = list[i]
   end
   local final = false
   while wants_more(list) do
      final = step(c, list, "search")
   end
   if not final and loaded(list)[1] then
      step(c, list, "together")
   end
   return out
end

return M
