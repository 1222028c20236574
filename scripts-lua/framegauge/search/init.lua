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
function M.get(name)
   return require(MODULES[name] or error("no search is called " .. tostring(name), 2))
end

-- Neither a round share nor near an end.
local REHEARSED_CAPACITY = 0.618

--- The trials a search will make if nothing disturbs it, found by making them: of a device that behaves.
-- @param goal    without its trial function
-- @param device  { fps =, buffer = }: what it carries and how many frames it can hold; by default a good half
--                of the maximum and none
-- @return list of { load =, seconds =, phase = }
function M.rehearse(name, goal, device)
   local capacity = device and device.fps or goal.min + REHEARSED_CAPACITY * (goal.max - goal.min)
   local buffer, list = device and device.buffer or 0, {}
   local function trial(load, seconds, phase)
      list[#list + 1] = { load = load, seconds = seconds, phase = phase }
      local tx = math.ceil(load * seconds)
      return { verdict = "valid", tx = tx, lost = math.max(0, tx - math.ceil(capacity * seconds) - buffer) }
   end
   M.get(name).run(setmetatable({ trial = trial }, { __index = goal }))
   return list
end

return M
