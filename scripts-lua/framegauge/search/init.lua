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
--    load =, lower_trial =,    -- highest load with a passing full-length trial; nil when there is none
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

return M
