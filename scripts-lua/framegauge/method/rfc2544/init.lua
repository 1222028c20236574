-- SPDX-License-Identifier: BSD-3-Clause

--- The six tests of RFC 2544 section 26, each a module:
--
--    NAME                             in trials: "rfc2544.latency"
--    KEY                              its group in the plan and its list in the results: "latency"
--    needs(plan)                      frame sizes whose throughput it stands on; and whether on that of each
--                                     direction by itself
--    check(plan, bench)               what keeps the plan from being run, a sentence, or nil
--    parts(plan, bench)               what lies ahead: list of { test =, frame_size =, trials =, seconds = },
--                                     the seconds with all waits, for a device as one would expect it
--    run(plan, bench, session, rows)  measures, and adds its rows to the list as it finds them
--
-- Every row has frame_size, direction, verdict and reasons. They are made in the order of the RFC, whatever
-- the order in the plan, for later ones use what earlier ones found out.
local throughput = require "framegauge.method.rfc2544.throughput"

local M = {}

local METHODS = {
   throughput,
   require "framegauge.method.rfc2544.latency",
   require "framegauge.method.rfc2544.frame_loss",
   require "framegauge.method.rfc2544.back_to_back",
   require "framegauge.method.rfc2544.system_recovery",
   require "framegauge.method.rfc2544.reset",
}

--- The tests a plan wants, in the order they are made.
function M.of(plan)
   local wanted, list = {}, {}
   for _, key in ipairs(plan.rfc2544.tests) do
      wanted[key] = true
   end
   for _, method in ipairs(METHODS) do
      list[#list + 1] = wanted[method.KEY] and method or nil
   end
   return list
end

--- What keeps a plan from being run on a bench; nil when nothing does.
function M.check(plan, bench)
   for _, method in ipairs(M.of(plan)) do
      local problem = method.check(plan, bench)
      if problem then
         return problem
      end
   end
   return nil
end

-- The trials of a list that are not made yet, of one frame size; from now on they are.
local function still_to_make(list, made)
   local left, seen = {}, {}
   for _, trial in ipairs(list) do
      local key = trial.load .. " " .. trial.seconds
      seen[key] = (seen[key] or 0) + 1
      if seen[key] > (made[key] or 0) then
         made[key], left[#left + 1] = seen[key], trial
      end
   end
   return left
end

-- The search for the throughput that a test makes by itself at one frame size, as far as no earlier one did.
local function search_part(plan, bench, frame_size, each_direction, made)
   local directions, trials = throughput.directions(plan), {}
   local groups = { directions }
   for i, direction in ipairs(each_direction and directions or {}) do
      groups[i] = { direction }
   end
   made[frame_size] = made[frame_size] or {}
   for _, group in ipairs(groups) do
      local list = throughput.rehearse(plan, frame_size, bench:max_fps(frame_size), group)
      for _, trial in ipairs(still_to_make(list, made[frame_size])) do
         trials[#trials + 1] = trial
      end
   end
   return throughput.part(plan, frame_size, trials)
end

-- The parts of a test, each behind the search it needs.
local function parts_of(plan, bench, method, made, add)
   local sizes, each_direction = method.needs(plan)
   local needed = {}
   for _, frame_size in ipairs(sizes) do
      needed[frame_size] = true
   end
   for _, part in ipairs(method.parts(plan, bench)) do
      if method == throughput then
         part = search_part(plan, bench, part.frame_size, false, made)
      elseif needed[part.frame_size] then
         add(search_part(plan, bench, part.frame_size, each_direction, made))
      end
      add(part)
   end
end

--- What lies ahead; see parts() above.
function M.parts(plan, bench)
   local list, made = {}, {}
   for _, method in ipairs(M.of(plan)) do
      parts_of(plan, bench, method, made, function(part)
         list[#list + 1] = part.trials > 0 and part or nil
      end)
   end
   return list
end

--- Make all tests of a plan.
-- @param results  a list of rows for each test is added to it as the test begins
function M.run(plan, bench, session, results)
   for _, method in ipairs(M.of(plan)) do
      results[method.KEY] = {}
      method.run(plan, bench, session, results[method.KEY])
   end
end

return M
