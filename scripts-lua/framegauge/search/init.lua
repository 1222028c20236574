-- SPDX-License-Identifier: BSD-3-Clause

--- Searches by name, so that a test method takes one as it takes a number.
--
-- Every search is a module with run(goal) -> result, and no knowledge of ports, frames or reports.
--
-- goal = {
--    trial = function(load, seconds, phase) -> trial record,   -- see framegauge.trial; may yield
--    min =, max =, initial =,          -- loads, frames per second of one direction
--    resolution =, relative = bool,    -- width of the answer: frames per second, or share of its upper end
--    tolerance =,                      -- share of the frames that may be lost
--    search_trial =, final_trial =,    -- seconds: while looking, and to decide
--    max_trials =, ...                 -- further ones: see the search
-- }
--
-- result = {
--    load =, lower_trial =,    -- highest load with a passing full-length trial; nil without one
--    upper =, upper_trial =,   -- lowest load above it that failed; nil when the maximum passed
--    trials =,                 -- how many were made
--    limited_by =,             -- what ended the way up: maximum, loss, tester, invalid, max_trials or
--                              -- time_limit
--    goals =,                  -- of a search with several goals: a result for each
-- }
local M = {}

local MODULES = {
   binary = "framegauge.search.binary",
   mlr = "framegauge.search.mlr",
   tst009 = "framegauge.search.tst009",
}

--- Names a plan may use, sorted.
-- @usage table.concat(search.names(), " ") --> binary mlr tst009
function M.names()
   local names = {}
   for name in pairs(MODULES) do
      names[#names + 1] = name
   end
   table.sort(names)
   return names
end

--- The search of one name.
-- @return the module; an unknown name raises, for plans are checked before
-- @usage type(search.get("binary").run) --> function
function M.get(name)
   return require(MODULES[name] or error("no search is called " .. tostring(name), 2))
end

-- A goal, with what it leaves out taken from the settings of a plan.
-- @param o     search_trial, trial, max_trials, loss_tolerance, loss_verify_trials, loss_verify_max
-- @param goal  what is this search's own; `carried`: the load beyond which the tester itself fails, or nil
-- @return the goal; `capped`: whether its maximum is that load, and not the one that was asked for
function M.goal(o, goal)
   goal.final_trial = goal.final_trial or o.trial
   goal.search_trial = math.min(goal.search_trial or o.search_trial, goal.final_trial)
   goal.max_trials, goal.tolerance = goal.max_trials or o.max_trials, goal.tolerance or o.loss_tolerance or 0
   goal.max_r, goal.z = goal.max_r or o.loss_verify_trials, goal.z or o.loss_verify_max
   goal.capped = goal.carried ~= nil and goal.carried < goal.max
   goal.max = goal.capped and goal.carried or goal.max
   return goal
end

-- Search by name. Where all passes that the tester carries, the result is limited by the tester.
function M.run(name, goal)
   local result = M.get(name).run(goal)
   for _, one in ipairs { result, unpack(result.goals or {}) } do
      one.limited_by = goal.capped and one.limited_by == "maximum" and "tester" or one.limited_by
   end
   return result
end

return M
