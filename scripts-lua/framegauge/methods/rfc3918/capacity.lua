-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 section 7.1: how many groups a device forwards to their members, and to nobody else.
--
-- All receivers join the first G groups; then each group gets a few frames. It passes if each receiver gets
-- some of every group, and the monitor none. Trial G uses the first G groups of one sequence, so what fails
-- with G fails with more. That allows halving; the RFC adds groups step by step until a trial fails.
--
-- Devices also lose frames at random, and then no round is complete. So where a frame is missing in every
-- round, the trial is made again with HELD frames to each group, one after the other. A group that is not
-- forwarded is then a run of HELD lost numbers in each round, and single losses are not: where one frame of
-- ten is lost and there are 1,000 groups, less than one round in ten thousand has such a run.
--
-- Frames are also missing where they arrive faster than the device copies them. So the failed number is tried
-- once more, at a far lower rate: if fewer are missing then, the load was the reason.
local format = require "framegauge.text.format"
local trials = require "framegauge.methods.rfc3918.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = { "group_capacity" }

local HELD = 8

-- Results of a trial. A group is missing at a receiver if its frames were lost in every round; which groups
-- were lost is not known, only how many: the number of the best round. Of several frames to each group, at
-- least as many are missing as the longest run has room for.
local function read(c, n, record, held)
   local missing, flooded, tx, rx = 0, 0, 0, 0
   for k in ipairs(c.receivers) do
      local least = n
      for round = 1, c.o.capacity_rounds do
         local list, flood = trials.at_receivers(c, record, round == 1 and "load" or "round" .. round)
         local direction = list[k]
         least = math.min(least, held == 1 and direction.lost
            or math.floor(direction.loss_burst_max_frames / held))
         flooded = flooded + (k == 1 and flood or 0)
         tx, rx = tx + (k == 1 and direction.tx or 0), rx + direction.rx
      end
      missing = math.max(missing, least)
   end
   return {
      groups = n, tx = tx, rx = rx, missing = missing, flooded = flooded, passed = missing == 0
         and flooded == 0,
      trial = record.trial,
   }
end

local SLOWER = 16 -- times; and all groups take a second or more

local function attempt(c, n, fps, held)
   local record = trials.make(c, {
      n = n, fps = fps or c.o.capacity_load * c.line_fps, rounds = c.o.capacity_rounds, held = held,
      phase = "search", any_loss = true,
      outcome = function(record)
         local one = read(c, n, record, held)
         return ("%s: %s"):format(format.plural(n, "group"), one.passed and "all forwarded"
            or one.missing > 0 and format.count(one.missing) .. " missing"
            or format.count(one.flooded) .. " frames flooded")
      end,
   })
   return read(c, n, record, held), record
end

local function try(c, n, fps)
   local one, record = attempt(c, n, fps, 1)
   if one.missing > 0 and one.flooded == 0 then
      one, record = attempt(c, n, fps, HELD)
   end
   c.iterations[#c.iterations + 1], c.records[#c.records + 1] = one, record
   c.floods = select(2, trials.problems(c, record, n))
   return one
end

-- A larger step each time, up to the maximum.
local function climb(c)
   local low, most = 0, c.o.capacity_max
   while low < most do
      local n = math.min(low + c.o.capacity_step, most)
      local one = try(c, n)
      if not one.passed then
         return low, one
      end
      low = n
   end
   return low
end

-- Between a number that passes and one that fails; the maximum itself is tried when all below have passed.
local function halve(c)
   local low, high, failed = 0, c.o.capacity_max, nil
   while high - low >= 2 do
      local n = low + math.floor((high - low) / 2)
      local one = try(c, n)
      if one.passed then
         low = n
      else
         high, failed = n, one
      end
   end
   if low == c.o.capacity_max - 1 then
      local one = try(c, c.o.capacity_max)
      low, failed = one.passed and c.o.capacity_max or low, not one.passed and one or nil
   end
   return low, failed
end

local SEARCHES = { binary = halve, step = climb }

-- Whether the groups that a trial misses are fewer when their frames come slowly.
local function is_rushed(c, failed)
   if failed.missing == 0 then
      return false
   end
   local slowly = math.min(failed.groups, c.o.capacity_load * c.line_fps / SLOWER)
   return try(c, failed.groups, slowly).missing < failed.missing
end

-- @return the most groups that passed, by what more failed, and whether it was the load that failed
local function find(c)
   local low, failed = SEARCHES[c.o.capacity_search](c)
   if not failed then
      return low, "maximum", false
   end
   return low, failed.flooded > 0 and "flooded" or "missing", is_rushed(c, failed)
end

--- Measure, with the first frame size.
function M.run(plan, tester, session, key, rows)
   local c = trials.context(plan, tester, session, key, plan.rfc3918.frame_sizes[1])
   c.iterations, c.records = {}, {}
   local low, limit, rushed = find(c)
   local validity, reasons = verdict.merge(c.records)
   if rushed then
      validity = verdict.worse(validity, "invalid")
      reasons[#reasons + 1] = "fewer groups are missing when their frames come slowly: it may have room for more; lower rfc3918.capacity_load"
   end
   if c.floods and not c.monitor and limit == "maximum" then
      reasons[#reasons + 1] = "the device floods groups that nobody has joined, and no port watches for that: it may have room for fewer groups; give rfc3918.monitor"
   end
   rows[#rows + 1] = {
      test = key, frame_size = c.frame_size, version = c.version, groups = low,
      source = c.source, receivers = #c.receivers,
      monitor = c.monitor, limited_by = limit, iterations = c.iterations, floods_unknown = c.floods or false,
      trials = #session.trials - c.before, validity = validity, reasons = reasons,
   }
end

--- The trials to come, at most.
function M.parts(plan, key, tester)
   local o = plan.rfc3918
   local round = o.capacity_max / (o.capacity_load * tester:max_fps(o.frame_sizes[1]))
   local count = o.capacity_search == "step" and math.ceil(o.capacity_max / o.capacity_step)
      or math.ceil(math.log(o.capacity_max) / math.log(2)) + 1
   local slow = math.max(1, SLOWER * round) -- what failed is tried again
   local load = o.capacity_rounds * (1 + HELD) * (count * round + slow)
   return { {
      test = "rfc3918." .. key, frame_size = o.frame_sizes[1], trials = 2 * (count + 1),
      seconds = 2 * (count + 1) * trials.seconds(plan, o.capacity_max, 0) + load,
   } }
end

return M
