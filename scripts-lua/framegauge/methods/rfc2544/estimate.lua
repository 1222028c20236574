-- SPDX-License-Identifier: BSD-3-Clause

--- A rehearsed run: which trials it will make and how long they will take, before the first frame.
--
-- For the reference device the estimate is exact if the plan is. For another device it is an expectation; its
-- bounds come from rehearsals (rehearsal.lua) with very different devices.
local budget = require "framegauge.methods.rfc2544.budget"
local format = require "framegauge.text.format"
local outlook = require "framegauge.methods.common.outlook"
local rehearsal = require "framegauge.methods.rfc2544.rehearsal"
local tests = require "framegauge.methods.rfc2544.tests"
local units = require "framegauge.text.units"

local M = {}

-- From a device that carries all to one that carries next to nothing. In short trials
-- the frames held by the last ones look like throughput.
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

-- The most trials and seconds that an unknown device may take.
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

--- The trials to come, in their order.
-- @param tester  the tester, or what is known of it before it is open: ports, and max_fps(self, frame_size)
-- @return list of { test =, frame_size =, trials =, seconds = with all waits }, one for each row of trials
-- with the same test and size; except for the reference device `most` = { trials =, seconds =, retries = how
-- often each may be made again }
function M.parts(plan, tester)
   local parts = outlook.parts(rehearse(plan, tester))
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

-- The number of trials at the beginning whose load does not depend on the device.
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

--- The complete forecast, one row for each test and frame size.
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

local clock, count = format.clock, format.count

local function lengths(row)
   if #row.expected == 0 then
      return "-"
   end
   local list, seen = {}, {}
   for _, trial in ipairs(row.expected) do
      local text = units.format_time(trial.seconds)
      if not seen[text] then
         seen[text], list[#list + 1] = true, text
      end
   end
   return #list <= 3 and table.concat(list, ", ") or list[1] .. " ... " .. list[#list]
end

-- Loads that do not depend on the device: all loads, or only the first ones.
local function loads(row)
   local first, last = row.expected[1], row.expected[row.known]
   if #row.expected == 0 then
      return "-"
   elseif row.known == 0 then
      return "by what was found before"
   elseif row.known > 1 and first.fps ~= last.fps then
      return ("%s down to %s"):format(count(first.fps), count(last.fps))
   end
   return count(first.fps) .. (row.known < row.most and ", then by the outcome" or "")
end

local COLUMNS = {
   { "", "test", function(row) return row.test:match "[^.]+$" end, left = true },
   { "frame", "size", function(row) return tostring(row.frame_size) end },
   { "trials", "expected", function(row) return count(#row.expected) end },
   { "", "at least", function(row) return count(row.least) end },
   { "", "at most", function(row) return count(row.most) end },
   { "", "time", function(row) return clock(row.expected.seconds) end },
   { "", "at most", function(row) return clock(row.most_s) end },
   { "", "lengths", lengths, left = true },
   { "", "loads, frames per second", loads, left = true },
}

local function totals(rows)
   local sum = { trials = 0, least = 0, most = 0, seconds = 0, least_s = 0, most_s = 0 }
   for _, row in ipairs(rows) do
      sum.trials, sum.seconds = sum.trials + #row.expected, sum.seconds + row.expected.seconds
      for _, key in ipairs { "least", "most", "least_s", "most_s" } do
         sum[key] = sum[key] + row[key]
      end
   end
   return sum
end

--- The line with all trials and their time.
function M.line(plan, tester)
   local sum = totals(M.outlook(plan, tester))
   return ("Estimate: %s (%s to %s) in %s (%s to %s).\n"):format(format.plural(sum.trials, "trial"),
      count(sum.least), count(sum.most), clock(sum.seconds), clock(sum.least_s), clock(sum.most_s))
end

--- The text: every trial that can be foreseen, and the time it takes.
-- @param notes  lines on the assumptions
function M.text(plan, tester, notes)
   return outlook.table(COLUMNS, M.outlook(plan, tester)) .. outlook.text({
      outlook.waits(plan.rfc2544) .. "; the times include it.",
      "At least and at most: of devices that carry from 1 % to all of what is tried, with no trial to be repeated.",
   }, notes)
end

return M
