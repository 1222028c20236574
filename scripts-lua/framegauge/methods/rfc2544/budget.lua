-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of RFC 2544 within a given time (`rfc2544.budget`).
--
-- By the letter the tests of seven frame sizes take more than a day. With a budget MLRsearch searches the
-- throughput, all tests share its trials, and keys that the plan leaves open are shortened: waits, lengths of
-- trials, repetitions. Before each part (a test with one frame size) the time of all remaining trials is
-- estimated for a number of levels, from the standard's values down to the shortest that still measure
-- something. The best level that fits into the remaining time is used. So the time that one part saves goes
-- to the next parts, and a part that takes longer takes it from them.
--
-- The long trials of the throughput are shortened last, because they decide its bounds: a device that
-- holds B frames passes a trial of T seconds at B / T frames per second above its capacity. Keys that the
-- plan gives stay as they are.
local format = require "framegauge.text.format"
local plans = require "framegauge.plan"
local rehearsal = require "framegauge.methods.rfc2544.rehearsal"
local tables = require "framegauge.core.tables"

local Budget = {}
Budget.__index = Budget

local M = {}

local LEVELS = 25

-- Keys of rfc2544: their shortest value at the last level, and how late they are shortened (the power of the
-- share).
local ELASTIC = {
   { "learning_wait", 0.1 }, { "drain", 0.2 }, { "settle", 0.1 },
   { "throughput.trial", 1, reluctance = 3 }, { "throughput.search_trial", 0.3 },
   { "latency.trial", 1 }, { "latency.tag_after", 0.5 }, { "latency.repetitions", 3, whole = true },
   { "frame_loss.trial", 1 },
   { "back_to_back.limit", 0.2 }, { "back_to_back.repetitions", 3, whole = true },
   { "system_recovery.overload", 1 }, { "system_recovery.watch", 1 },
   { "system_recovery.repetitions", 1, whole = true },
   { "reset.after", 1 },
   { "bursty_traffic.trial", 1, reluctance = 3 }, { "bursty_traffic.search_trial", 0.1 },
}

local function value_of(group, key)
   for name in key:gmatch "[^.]+" do
      group = group[name]
   end
   return group
end

-- The settings of a level for keys that the plan leaves open.
-- @param share  0: the standard's values, 1: the shortest
local function settings_of(plan, share)
   local sets = {}
   local function set(key, value)
      if not plan.source.given("rfc2544." .. key) then
         sets[#sets + 1] = ("rfc2544.%s=%s"):format(key, value)
      end
   end
   set("throughput.search", "mlr")
   for _, one in ipairs(ELASTIC) do
      local key, least = one[1], one[2]
      local standard = value_of(plan.rfc2544, key)
      local value = standard * (math.min(least, standard) / standard) ^ (share ^ (one.reluctance or 1))
      set(key, one.whole and ("%d"):format(value + 0.5) or ("%.3gs"):format(value))
   end
   return sets
end

local function seen_with(plan, group)
   return setmetatable({ rfc2544 = group }, { __index = plan })
end

-- A level: the keys of rfc2544, and the expected time of each part.
local function level_of(plan, tester, share)
   local options = tables.copy(plan.source.options)
   options.sets = tables.joined(options.sets, settings_of(plan, share))
   local shortened = assert(plans.load_text(plan.source.text, plan.file, options))
   local level = { group = shortened.rfc2544, seconds = {} }
   local short_plan, fitted = seen_with(plan, level.group), {}
   function fitted.plan_of()
      table.insert(level.seconds, 0)
      return short_plan
   end
   rehearsal.run(short_plan, tester, nil, fitted, function(seconds)
      level.seconds[#level.seconds] = level.seconds[#level.seconds] + seconds
   end)
   return level
end

-- Levels by plan; they are valid as long as the knowledge about the tester does not change.
local known = setmetatable({}, { __mode = "k" })

local function levels_of(plan, tester)
   local levels = known[plan]
   if not levels or levels.limits ~= plan.tester_limits then
      levels = { limits = plan.tester_limits }
      for i = 1, LEVELS do
         levels[i] = level_of(plan, tester, (LEVELS - i) / (LEVELS - 1))
      end
      known[plan] = levels
   end
   return levels
end

--- The plans of a run with a budget.
-- @param plan    a loaded plan
-- @param tester  ports, and max_fps(self, frame_size)
-- @return an object with plan_of(self, session, frame_size), to be called before each part in their order,
--         and shortest(self); nil for a plan without a budget
function M.of(plan, tester)
   return plan.rfc2544.budget and setmetatable({
      plan = plan, levels = levels_of(plan, tester), lowest = LEVELS,
      part = 0, throughput = {},
   }, Budget)
end

--- Why a budget is too small: the shortest level takes longer. Nil: it is enough.
function M.problem(plan, tester)
   local self = M.of(plan, tester)
   local least = self and self:ahead(1, 1)
   if self and least > plan.rfc2544.budget then
      return ("rfc2544.budget: the shortest tests take %s, more than %s; leave out tests or frame sizes, or leave lengths of trials to the budget"):format(format.clock(least),
         format.clock(plan.rfc2544.budget))
   end
   return nil
end

-- Seconds from a part to the end, at a level.
function Budget:ahead(level, part)
   local sum, seconds = 0, self.levels[level].seconds
   for i = part, #seconds do
      sum = sum + seconds[i]
   end
   return sum
end

function Budget:best_level(left)
   for level = LEVELS, 2, -1 do
      if self:ahead(level, self.part) <= left then
         return level
      end
   end
   return 1
end

--- The plan of the next part. Tests that use the throughput of a frame size search it with the same keys as
-- before.
function Budget:plan_of(session, frame_size)
   self.part = self.part + 1
   local level = self:best_level(self.plan.rfc2544.budget - session.seconds)
   self.lowest = math.min(self.lowest, level)
   local group = self.levels[level].group
   self.throughput[frame_size] = self.throughput[frame_size] or group.throughput
   local with_throughput = setmetatable({ throughput = self.throughput[frame_size] }, { __index = group })
   return seen_with(self.plan, with_throughput)
end

--- The keys of rfc2544 at the lowest level that was used.
function Budget:shortest()
   return self.levels[self.lowest].group
end

return M
