-- SPDX-License-Identifier: BSD-3-Clause

--- How many trials MLRsearch makes for the same answer, beside FD.io CSIT's implementation.
--
-- The counts of CSIT were measured with its PyPI package MLRsearch 1.2.1 on the devices below, written in
-- Python line by line as they are here, with the same generator and seeds: goals of loss ratio 0 and 0.5 %,
-- exceed ratio 50 %, 21 trials of 100 ms, width 0.5 %, two preceding targets, loads from 0.1 % of the line,
-- no warm-up trial, fail_fast off; means over seeds 1 to 10.
local devices = require "devices"
local mlr = require("framegauge.search").get "mlr"

local LINE, TRIAL, SEEDS = 234962, 0.1, 10 -- frames of 512 bytes on 1 Gb/s; seconds

-- capacity (frames per second, with noise as a share of it), buffer; every = loses every n-th frame; random =
-- loses by chance; transient = chance of a trial that loses 12 frames; slope = from here on loses 0.1 % more
-- for each 10,000 frames per second; csit = trials
local DEVICES = {
   { name = "cap 100k, buffer 512", capacity = 100000, buffer = 512, csit = 35.0 },
   { name = "cap 180k, buffer 512", capacity = 180000, buffer = 512, csit = 35.0 },
   { name = "cap 78.2k, buffer 512", capacity = 78200, buffer = 512, csit = 35.0 },
   { name = "cap 20k, every 3000th", capacity = 20000, buffer = 512, every = 3000, csit = 35.0 },
   { name = "every 1000th", every = 1000, csit = 51.0 },
   { name = "cap 230k", capacity = 230000, csit = 34.0 },
   { name = "cap 5k, buffer 64", capacity = 5000, buffer = 64, csit = 35.0 },
   { name = "the line", csit = 11.0 },
   { name = "ever more from 120k, cap 200k", capacity = 200000, slope = 120000, csit = 62.0 },
   { name = "cap 150k, buffer 8000", capacity = 150000, buffer = 8000, csit = 34.0 },
   { name = "random 0.2 %", random = 0.002, csit = 185.6 },
   { name = "random 0.5 %", random = 0.005, csit = 192.1 },
   { name = "cap 210k, random 0.001 %", capacity = 210000, random = 1e-05, csit = 37.0 },
   { name = "cap 50k, random 0.01 %", capacity = 50000, random = 0.0001, csit = 59.6 },
   { name = "cap 140k, 12 in a trial of ten", capacity = 140000, transient = 0.1, csit = 37.7 },
   { name = "random 0.6 %", random = 0.006, csit = 182.4 },
   { name = "cap 100k, random 1 ppm", capacity = 100000, random = 1e-06, csit = 35.0 },
   { name = "cap 120k, noise 2 %", capacity = 120000, noise = 0.02, csit = 75.2 },
   { name = "cap 60k, noise 0.3 %", capacity = 60000, noise = 0.003, csit = 39.4 },
   { name = "cap 200k, random 0.1 %", capacity = 200000, random = 0.001, csit = 226.8 },
}

-- Frames lost of n, with probability p each: Poisson's approximation, or the normal one by twelve uniform
-- draws.
local function binomial(n, p, draw)
   local mean = n * p
   if mean >= 30 then
      local sum = 0
      for _ = 1, 12 do
         sum = sum + draw(0, 1)
      end
      return math.max(0, math.floor(mean + (sum - 6) * math.sqrt(mean * (1 - p)) + 0.5))
   end
   local k, term = 0, math.exp(-mean)
   local cumulated, u = term, draw(0, 1)
   while u > cumulated and k < n do
      k = k + 1
      term = term * mean / k
      cumulated = cumulated + term
   end
   return k
end

local function lost_by(d, tx, load, seconds, draw)
   local lost, capacity = 0, d.capacity
   if d.noise then
      capacity = capacity * (1 + d.noise * (2 * draw(0, 1) - 1))
   end
   if capacity then
      lost = math.max(0, tx - math.floor(capacity * seconds + 0.5) - (d.buffer or 0))
   end
   if d.slope then
      lost = math.max(lost, math.floor(tx * math.max(0, load - d.slope) / 10e3 * 0.001))
   end
   if d.every then
      lost = math.max(lost, math.floor(tx / d.every))
   end
   if d.random then
      lost = math.min(tx, lost + binomial(tx, d.random, draw))
   end
   if d.transient and draw(0, 1) < d.transient then
      lost = math.max(lost, 12)
   end
   return math.min(tx, lost)
end

local function device_of(d, seed)
   local draw = devices.generator(seed)
   for _ = 1, 3 do -- the first draws of small seeds are small
      draw(0, 1)
   end
   return function(load, seconds)
      local tx = math.floor(load * seconds + 0.5)
      return { validity = "valid", tx = tx, lost = lost_by(d, tx, load, seconds, draw) }
   end
end

local function goal(name, loss_ratio)
   return {
      name = name, final_trial = TRIAL, initial_trial = TRIAL, duration_sum = 21 * TRIAL,
      loss_ratio = loss_ratio, exceed_ratio = 0.5, width = 0.005,
   }
end

-- The load beyond which a device without chance loses more than a share of its frames.
local function limit_of(d, loss_ratio)
   local low, high = 0, LINE
   for _ = 1, 60 do
      local load = (low + high) / 2
      local tx = math.floor(load * TRIAL + 0.5)
      if lost_by(d, tx, load, TRIAL) <= math.floor(loss_ratio * tx) then
         low = load
      else
         high = load
      end
   end
   return low
end

local function search(d, seed)
   local result, trace = devices.traced(mlr, {
      device = device_of(d, seed), max = LINE, min = LINE / 1000,
      goals = { goal("ndr", 0), goal("pdr", 0.005) },
   })
   return result, #trace
end

local function has_chance(d)
   return d.random or d.noise or d.transient
end

-- Mean trials, ours and CSIT's, of the devices that are wanted.
local function means(wanted)
   local ours, theirs, n = 0, 0, 0
   for _, d in ipairs(DEVICES) do
      if wanted(d) then
         local sum = 0
         for seed = 1, SEEDS do
            sum = sum + select(2, search(d, seed))
         end
         ours, theirs, n = ours + sum / SEEDS, theirs + d.csit, n + 1
         assert.is_true(sum / SEEDS <= 1.5 * d.csit, d.name)
      end
   end
   return ours / n, theirs / n
end

describe("MLRsearch beside CSIT's", function()
   it("finds what devices without chance carry, within the width", function()
      local frame = 1 / TRIAL
      for _, d in ipairs(DEVICES) do
         for i, loss_ratio in ipairs(has_chance(d) and {} or { 0, 0.005 }) do
            local found, truth = search(d, 1).goals[i], limit_of(d, loss_ratio)
            assert.is_true(found.load <= truth + frame, d.name)
            if truth > LINE - 1 then
               assert.equal(LINE, found.load, d.name)
            else
               assert.is_true(found.regular and found.upper >= truth - frame, d.name)
               assert.is_true(found.load >= truth * 0.995 - frame, d.name)
            end
         end
      end
   end)

   it("makes no more trials in the mean of all devices, and of those without chance", function()
      local ours, theirs = means(function()
         return true
      end)
      assert.is_true(ours <= theirs, ours .. " and " .. theirs)
      ours, theirs = means(function(d)
         return not has_chance(d)
      end)
      assert.is_true(ours <= theirs, ours .. " and " .. theirs)
   end)
end)
