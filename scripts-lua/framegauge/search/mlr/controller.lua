-- SPDX-License-Identifier: BSD-3-Clause

--- The controller of MLRsearch: which load next, for how long, and when it is enough.
--
-- One trial at the maximum tells what the device forwards when it has too much; that rate is where the search
-- begins. Then goal by goal, the strictest first, and within a goal target by target (mlr/targets.lua): a
-- load is tried until its trials decide it, and the next load follows from the bounds so far:
--
--    neither bound    where the target before ended, or the rate forwarded at the maximum
--    only an upper    below it, by 1, 2, 4, 8 ... widths of the goal
--    only a lower     above it, likewise, up to the maximum
--    both             a power of two of widths above the lower one, until they are a width apart
--
-- So bounds are whole widths apart from the first step on, and in the end just one: of a wider pair a load
-- between would have to be tried in full as well, and a narrower one is more than was asked for.
--
-- Every goal judges every trial, so most of a later goal's work is done by the earlier ones. Long trials may
-- overturn what short ones said: a preceding target is over once it ended, but a goal is looked at again
-- until all of them hold at once.
--
-- A goal whose upper bound is the tester's doing rather than the device's has that load tried again, once.
--
-- Where it is known about what the device carries (goal.learned), the search is first rehearsed with a device
-- that carries just that, from the same first trial. A goal begins where the rehearsal ended, with a short
-- trial of either bound; of the targets between, none is tried. Trials of the full length decide, as ever. If
-- trials contradict, the goal forgets the rehearsal and is searched for from its first target on.
local classification = require "framegauge.search.mlr.classification"
local Ledger = require "framegauge.search.mlr.ledger"
local tables = require "framegauge.core.tables"

local M = {}

local MANY = 1e9 -- frames of a rehearsed trial

local Controller = {}
Controller.__index = Controller

--- Make one trial, or note why not.
function Controller:measure(load, target)
   local goal = self.goal
   if goal.max_trials and self.trials >= goal.max_trials then
      self.stopped = "max_trials"
   elseif goal.time_limit and self.seconds + target.trial > goal.time_limit then
      self.stopped = "time_limit"
   else
      self.trials, self.seconds = self.trials + 1, self.seconds + target.trial
      local record = goal.trial(load, target.trial, target.phase)
      self.ledger:add(load, target.trial, record)
      return record
   end
   return nil
end

--- Try a load until it is decided.
function Controller:decide(load, target)
   repeat
      local done = not self:measure(load, target)
         or classification.of(self.ledger:at(load), target) ~= "undecided"
   until done
end

--- The first trial, and the load it points to.
function Controller:begin()
   local goal, load = self.goal, self.goal.initial or self.goal.max
   local record = self:measure(load, self.chains[1][1])
   if record then
      local offered = record.validity == "valid" and load or math.min(load, record.offered_fps or load)
      local forwarded = record.tx > 0 and offered * (1 - record.lost / record.tx) or 0
      self.start = math.max(self.floor, math.min(goal.max, forwarded))
   end
end

--- Whether a target has its answer.
function Controller:is_settled(target, lower, upper)
   if lower and upper then
      return classification.are_regular(lower, upper, target.width)
   elseif lower then
      return lower >= self.goal.max
   end
   return upper ~= nil and upper <= self.floor
end

-- How many widths of its goal lie between two loads.
local function widths(target, lower, upper)
   return math.log(lower / upper) / math.log(1 - target.unit)
end

-- A load some widths below another one.
local function below(target, load, n)
   return load * (1 - target.unit) ^ n
end

local function stride(target)
   local n = target.stride
   target.stride = 2 * n
   return n
end

-- A load between two bounds: up to two widths apart their geometric mean, else the greatest power of two of
-- widths above the lower one, so that what is left needs the fewest further loads.
local function between(target, lower, upper)
   local n, part = widths(target, lower, upper), 1
   if n <= 2 then
      return math.sqrt(lower * upper)
   end
   while 2 * part < n - 1e-6 do
      part = 2 * part
   end
   return below(target, lower, -part)
end

--- The next load of a target that is not settled. It is always an undecided one: no decided load lies between
-- the relevant bounds.
function Controller:next_load(target, lower, upper)
   for _, hint in ipairs(target.hints) do
      if hint > (lower or 0) and hint < (upper or math.huge) then
         return hint
      end
   end
   if lower and upper then
      return between(target, lower, upper)
   elseif lower then
      return math.min(self.goal.max, below(target, lower, -stride(target)))
   end
   return math.max(self.floor, below(target, upper, stride(target)))
end

local function is_loss(result)
   return result == "pass" or result == "loss"
end

--- The reason of an upper bound: "loss" of the device, "tester" or "invalid".
function Controller:cause(load, target)
   local trials = self.ledger:at(load)
   if classification.of(trials, target, is_loss) == "upper" then
      return "loss"
   end
   for _, trial in ipairs(trials) do
      if trial.record.validity == "tester-limited" then
         return "tester"
      end
   end
   return "invalid"
end

-- A load to try again because the tester spoilt it.
function Controller:second_look(target, upper)
   if upper and not self.looked_twice[upper] and self:cause(upper, target) == "tester" then
      self.looked_twice[upper] = true
      self.ledger:forgive(upper)
      return upper
   end
   return nil
end

-- Loads to try first: where the target before ended, and where that is too wide, between its bounds.
local function hints_of(target, found)
   local lower, upper = found[1], found[2]
   if upper and upper > lower and not classification.are_regular(lower, upper, target.width) then
      return { between(target, lower, upper), lower, upper }
   end
   return found
end

-- Do trials, the short ones or the long ones, show that the rehearsal of a chain was wrong? Then forget it.
function Controller:check_rehearsal(chain)
   local lower, upper = unpack(chain.rehearsed)
   local function is(load, target, class)
      return load and classification.of(self.ledger:at(load), target) == class
   end
   for _, target in ipairs { chain[1], chain[#chain] } do
      if is(lower, target, "upper") or is(upper, target, "lower") then
         chain.rehearsed = nil
         for _, one in ipairs(chain) do
            one.over, one.hints, one.found = nil, nil, nil
         end
         return
      end
   end
end

--- What to do next in one goal's chain.
-- @return load and target; nil when the goal is reached
function Controller:step(chain)
   if chain.rehearsed then
      self:check_rehearsal(chain)
   end
   local hints = { self.start }
   for i, target in ipairs(chain) do
      if not target.over then
         target.hints = target.hints or hints_of(target, hints)
         local lower, upper = classification.bounds(self.ledger, target)
         if not self:is_settled(target, lower, upper) then
            return self:next_load(target, lower, upper), target
         elseif i == #chain then
            return self:second_look(target, upper), target
         end
         target.over, target.found = true, { lower or upper, upper }
      end
      hints = target.found
   end
   return nil
end

function Controller:next_step()
   for _, chain in ipairs(self.chains) do
      local load, target = self:step(chain)
      if load then
         return load, target
      end
   end
   return nil
end

function Controller:finish()
   while not self.stopped do
      local load, target = self:next_step()
      if not load then
         break
      end
      self:decide(load, target)
   end
end

local function new(goal, chains)
   return setmetatable({
      goal = goal,
      chains = chains,
      ledger = Ledger.new(),
      floor = math.min(goal.max, math.max(goal.min, 1 / chains[1][1].trial)), -- one frame per trial
      looked_twice = {},
      trials = 0,
      seconds = 0,
   }, Controller)
end

-- A trial of a device that carries a load and loses what is more.
local function lossy_above(carried)
   return function(load)
      local lost = load > carried and math.max(1, math.floor(MANY * (1 - carried / load))) or 0
      return { validity = "valid", tx = MANY, lost = lost }
   end
end

-- Take what the device is known to carry for granted: each goal begins where the search would bring it.
function Controller:rehearse()
   local goal = self.goal
   local other = new({ min = goal.min, max = goal.max, trial = lossy_above(goal.learned) },
      tables.map(self.chains, function(chain) return tables.map(chain, tables.copy) end))
   other.start = self.start
   other:finish()
   for i, chain in ipairs(self.chains) do
      local last = #chain
      local lower, upper = classification.bounds(other.ledger, other.chains[i][last])
      chain.rehearsed = { lower, upper }
      for k, target in ipairs(chain) do
         target.hints = { lower or upper, upper }
         target.over, target.found = k > 1 and k < last or nil, target.hints
      end
   end
end

--- Search until every goal is reached, or the trials or the time allowed are used up.
-- @param goal    trial, min, max, initial, learned, max_trials, time_limit (framegauge.search)
-- @param chains  one chain of targets for each goal (mlr/targets.lua), the strictest goal first
-- @return the controller: `ledger`, `trials`, `seconds` of sending, `stopped` (why it ended early, or nil)
function M.run(goal, chains)
   local self = new(goal, chains)
   self:begin()
   if goal.learned and self.start then
      self:rehearse()
   end
   self:finish()
   return self
end

return M
