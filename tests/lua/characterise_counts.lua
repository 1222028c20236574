-- SPDX-License-Identifier: BSD-3-Clause

--- How often the bounds of a characterisation hold what devices drawn at random are (characterise_truth.lua):
-- for characterise_campaign.lua and docs/generate/truth.lua.
--
-- A parameter is told if the row has it, with bounds on both sides or words that are not "unclear" or
-- "other"; it holds if the truth is within.
local truth = require "characterise_truth"

local M = {}

local ORDER = {
   "limit", "counted", "capacity", "bandwidth", "cir", "cbs", "queue", "buffer_unit", "buffer", "switching",
   "latency", "latency_per_byte", "loss", "recovery", "predictions", "addresses", "ageing", "learning",
   "learning queue",
}
local VAGUE = { unclear = true, other = true }
local WORDS = { limit = true, counted = true, buffer_unit = true, switching = true }

-- What a characterisation may take at most.
M.TRIALS, M.SECONDS = 60, 180

--- Nothing counted yet.
-- @param say  takes a sentence on each that does not hold
function M.new(say)
   return { say = say, of = {}, trials = 0, seconds = 0, devices = 0 }
end

local function add(counts, what, told, holds)
   local one = counts.of[what] or { n = 0, told = 0, missed = 0 }
   counts.of[what], one.n = one, one.n + 1
   one.told, one.missed = one.told + (told and 1 or 0), one.missed + (told and not holds and 1 or 0)
end

local function count_cost(counts, cost)
   counts.devices = counts.devices + 1
   counts.trials = math.max(counts.trials, cost.trials)
   counts.seconds = math.max(counts.seconds, cost.seconds)
end

local function count_way(counts, device, row)
   for _, check in ipairs(truth.checks(device, row)) do
      local told = not VAGUE[check.found] and (check.found ~= nil or check.low ~= nil)
      add(counts, check.what, told, check.holds)
      if check.what == "loss" and check.truth > 0 then
         add(counts, "loss of lossy ways", told, check.holds)
      end
      if told and not check.holds then
         counts.say(("device %d: %s is %s, found %s, %s to %s"):format(device.number, check.what,
            tostring(check.truth), tostring(check.found), tostring(check.low), tostring(check.high)))
      end
   end
end

--- Characterise a device.
-- @param device  of characterise_truth
function M.measure(counts, device)
   local results, cost = truth.measure(device)
   count_cost(counts, cost)
   for _, row in ipairs(results.characterisation) do
      count_way(counts, device, row)
   end
   for _, one in ipairs(results.predictions) do
      add(counts, "predictions", one.holds ~= nil, one.holds)
      if one.holds == false then
         counts.say(("device %d: %d bytes, %s: %d frames, predicted %d to %d"):format(device.number,
            one.frame_size, one.load, one.rx, one.rx_predicted_min, one.rx_predicted_max))
      end
   end
end

--- Characterise a device, a policer, or a device with jitter, by its number.
function M.device(counts, number)
   M.measure(counts, truth.device(number))
end

function M.policer(counts, number)
   M.measure(counts, truth.policer(number))
end

function M.jittery(counts, number)
   M.measure(counts, truth.jittery(number))
end

--- Characterise a switch, by its number.
function M.switch(counts, number)
   local switch = truth.switch(number)
   local results, cost = truth.measure_switch(switch)
   count_cost(counts, cost)
   for _, check in ipairs(truth.checks_of_table(switch, results.mac_table[1])) do
      add(counts, check.what, check.told, check.holds)
      if not check.holds then
         counts.say(("switch %d: %s is %g, found %g to %g"):format(number, check.what, check.truth, check.low,
            check.high))
      end
   end
end

--- The table of docs/explanation/characterise.md.
function M.table(counts)
   local lines = { "| parameter | told | not told | truth within bounds | outside |",
      "|---|--:|--:|--:|--:|" }
   for _, what in ipairs(ORDER) do
      local one = counts.of[what]
      lines[#lines + 1] = one and ("| %s | %d | %d | %d | %d |"):format(what, one.told, one.n - one.told,
         one.told - one.missed, one.missed)
   end
   return table.concat(lines, "\n") .. "\n"
end

-- Neither a share of losses, which is sure to 95 %, nor a prediction.
local function is_certain(what)
   return what ~= "predictions" and not what:match "^loss"
end

local function promised(name, promise, told, missed)
   return ("| %s | %s | %d | %.4g %% |\n"):format(name, promise, told, 100 * (told - missed) / told)
end

-- Of all parameters that are told by words, or by bounds.
local function all_of(counts, by_words)
   local told, missed = 0, 0
   for what, one in pairs(counts.of) do
      local counts_here = is_certain(what) and (WORDS[what] or false) == by_words
      told, missed = told + (counts_here and one.told or 0), missed + (counts_here and one.missed or 0)
   end
   return told, missed
end

--- The table of docs/explanation/truth.md: what is promised of the bounds, and what is kept.
function M.promises(counts)
   local loss, lossy = counts.of.loss, counts.of["loss of lossy ways"]
   return "| parameters | promise | cases | truth within bounds |\n|---|---|--:|--:|\n"
      .. promised("rates, buffers, policers, delays, recovery", "certain", all_of(counts, false))
      .. promised("what limits, what of a frame counts, unit of the buffer, switching", "certain",
         all_of(counts, true))
      .. promised("share of losses, all ways", "95 %", loss.told, loss.missed)
      .. promised("of these, ways that lose frames", "95 %", lossy.told, lossy.missed)
end

--- Whether each took no more than it may, and no bound that is certain misses.
function M.is_sound(counts)
   local sound = counts.trials <= M.TRIALS and counts.seconds <= M.SECONDS
   for what, one in pairs(counts.of) do
      sound = sound and (one.missed == 0 or not is_certain(what))
   end
   return sound
end

return M
