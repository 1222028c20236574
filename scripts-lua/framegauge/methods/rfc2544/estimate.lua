-- SPDX-License-Identifier: BSD-3-Clause

--- A run rehearsed: which trials it will make and how long they will take, before the first frame.
--
-- For the reference device the estimate is as good as the plan is true. Of another device it is an
-- expectation; how far off it may be is found by rehearsing (rehearsal.lua) with very different ones.
local budget = require "framegauge.methods.rfc2544.budget"
local rehearsal = require "framegauge.methods.rfc2544.rehearsal"
local tests = require "framegauge.methods.rfc2544.tests"

local M = {}

-- From one that carries all to one that carries next to nothing; the last ones hold so many frames that short
-- trials say too much of them.
local CONCEIVABLE = {
   { share = 1, buffer = 1000 }, { share = 0.9995, buffer = 0 }, { share = 0.9, buffer = 1000 },
   { share = 0.618, buffer = 1000 }, { share = 0.3, buffer = 0 }, { share = 0.0999, buffer = 1000 },
   { share = 0.01, buffer = 0 }, { share = 0.85, buffer = 1e6 }, { share = 0.2, buffer = 1e7 },
}

-- @param o  the device (framegauge.methods.rfc2544.estimate_device); nil: the plan's
-- @return list of { test =, frame_size =, fps =, seconds =, total = with all waits }, in order
local function rehearse(plan, tester, o)
   local list = {}
   rehearsal.run(plan, tester, o, budget.of(plan, tester), function(seconds, ask)
      list[#list + 1] = {
         test = ask.test, frame_size = ask.frame_size, fps = ask.fps, seconds = ask.seconds, total = seconds,
      }
   end)
   return list
end

-- The most trials and seconds that a device which is not known may take.
local function most_of(plan, tester)
   local most = { trials = 0, seconds = 0, retries = plan.rfc2544.retries }
   for _, o in ipairs(CONCEIVABLE) do
      local trials, seconds = rehearse(plan, tester, o), 0
      for _, trial in ipairs(trials) do
         seconds = seconds + trial.total
      end
      most.trials, most.seconds = math.max(most.trials, #trials), math.max(most.seconds, seconds)
   end
   return most
end

--- What lies ahead, in the order it comes.
-- @param tester  the bench, or what is known of it before it is open: ports, and max_fps(self, frame_size)
-- @return list of { test =, frame_size =, trials =, seconds = with all waits }, one for each row of trials
-- that have these in common; and but for the reference device `most` = { trials =, seconds =, retries = how
-- often each may be made again }
function M.parts(plan, tester)
   local parts, part = {}, nil
   for _, trial in ipairs(rehearse(plan, tester)) do
      if not part or part.test ~= trial.test or part.frame_size ~= trial.frame_size then
         part = { test = trial.test, frame_size = trial.frame_size, trials = 0, seconds = 0 }
         parts[#parts + 1] = part
      end
      part.trials, part.seconds = part.trials + 1, part.seconds + trial.total
   end
   parts.most = not plan.reference_device and most_of(plan, tester) or nil
   return parts
end

local function key_of(trial)
   return trial.test .. " " .. trial.frame_size
end

local function grouped(trials)
   local groups = {}
   for _, trial in ipairs(trials) do
      local key = key_of(trial)
      groups[key] = groups[key] or { seconds = 0 }
      table.insert(groups[key], trial)
      groups[key].seconds = groups[key].seconds + trial.total
   end
   return groups
end

local NOTHING = { seconds = 0 }

-- How many trials at the beginning have the same load whatever the device.
local function known(rehearsals, key, expected)
   local n = #expected
   for _, groups in ipairs(rehearsals) do
      for i, trial in ipairs(groups[key] or NOTHING) do
         if i <= n and trial.fps ~= expected[i].fps then
            n = i - 1
         end
      end
   end
   return n
end

local function row_of(rehearsals, key, expected, test, frame_size)
   local row = {
      test = test, frame_size = frame_size, expected = expected, known = known(rehearsals, key, expected),
      least = #expected, most = #expected, least_s = expected.seconds, most_s = expected.seconds,
   }
   for _, groups in ipairs(rehearsals) do
      local group = groups[key] or NOTHING
      row.least, row.most = math.min(row.least, #group), math.max(row.most, #group)
      row.least_s, row.most_s = math.min(row.least_s, group.seconds), math.max(row.most_s, group.seconds)
   end
   return row
end

--- All that can be said beforehand, one row for each test and frame size.
-- @return list of { test =, frame_size =, expected = list of trials { fps =, seconds = } with `seconds` in
-- all, known = how many of these loads do not depend on the device, least =, most = trials, least_s =,
-- most_s = }
function M.outlook(plan, tester)
   local rehearsals, rows = {}, {}
   for i, o in ipairs(CONCEIVABLE) do
      rehearsals[i] = grouped(rehearse(plan, tester, o))
   end
   local expected = grouped(rehearse(plan, tester))
   for _, method in ipairs(tests.ALL) do
      for _, frame_size in ipairs(plan.rfc2544.frame_sizes) do
         local key = key_of { test = method.NAME, frame_size = frame_size }
         local row = row_of(rehearsals, key, expected[key] or NOTHING, method.NAME, frame_size)
         rows[#rows + 1] = row.most > 0 and row or nil
      end
   end
   return rows
end

return M
