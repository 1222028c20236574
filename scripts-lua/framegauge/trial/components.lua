-- SPDX-License-Identifier: BSD-3-Clause

--- What contributes to the uncertainty of a figure: one function for each component, with its source. Each
-- gives a component as framegauge.trial.uncertainty takes it, or false where there is nothing of it.
-- A trial's record (framegauge.trial.result) is the evidence. Where it does not support a component, for
-- example with losses in groups, the figure has no uncertainty.
-- component, as with losses that come in groups, the figure has no uncertainty.
local binomial = require "framegauge.core.binomial"
local stats = require "framegauge.trial.stats"
local uncertainty = require "framegauge.trial.uncertainty"

local M = {}

-- A crystal without discipline, as CLOCK_MONOTONIC_RAW counts it: usual limits over temperature and age.
local CRYSTAL = 100e-6

-- Rectangular distribution: a standard deviation is the half width over this (GUM 4.3.7).
local RECTANGULAR = math.sqrt(3)

-- Blocks of a series that a statement on their means needs.
local BLOCKS = 10

--- The range that a search left open.
-- @param passed, failed  the last load, length or interval that passed, and the next one that failed (nil:
--                        nothing failed that could be tried)
-- @param most            upper limit of the value; nil: not known
function M.search(passed, failed, most)
   return {
      name = "search", type = "B", below = 0,
      above = math.max(0, (failed or most or math.huge) - passed),
      source = failed and "the load that failed" or most and "the line carries no more"
         or "no load above it is known to be too much",
   }
end

--- The frames that the device still held when a trial ended. If no delay was longer than d, all frames sent
-- up to d before the end of a trial T had left. So at the load o it carries at least o (1 - d/T) - 1/T, in
-- whatever order it forwards.
-- @return a component of the load
function M.still_held(fps, record)
   local delay = record.latency and record.latency.max_ns / 1e9 or math.huge
   return {
      name = "buffer", type = "B", below = (fps * delay + 1) / record.duration_s, above = 0,
      source = "the longest delay in the trial that passed, over its length",
   }
end

--- The clock that times a trial. The virtual wire's is exact.
-- @param time  of the record of a trial
function M.clock(value, time)
   local off = math.abs(value) * CRYSTAL
   return time == "tsc" and {
      name = "clock", type = "B", below = off, above = off,
      source = "a crystal without discipline, 100 ppm",
   }
end

--- The stamps of a delay. A stamp taken at a poll is late by up to the gap between two polls; a sent frame's
-- stamp is early by the time of its hand-over. Both make a delay longer. Other errors go either way.
-- @param latency  of a record: source, error_bound_ns, clock_error_ns
function M.stamp(latency)
   local bound = latency.error_bound_ns
   if latency.source == "tsc" then
      return {
         name = "poll_gap", type = "B", below = bound, above = 0,
         source = "frames wait for a poll and for their hand-over, at most the longest of each",
      }
   end
   return bound > 0 and {
      name = "stamp", type = "B", standard = bound / RECTANGULAR,
      source = "error bound of the stamps, rectangular (GUM 4.3.7)",
   }
end

--- The tester's own share in a delay from which the calibrated minimum was subtracted.
-- @param size  of the calibration: latency_min_ns, latency_mean_ns
-- @param date  of the calibration
function M.calibration(size, date)
   return {
      name = "calibration", type = "B", below = math.max(0, size.latency_mean_ns - size.latency_min_ns),
      above = 0, source = ("the tester alone: its mean above its least, %s"):format(date:sub(1, 10)),
   }
end

--- A count is whole: the true rate or time lies within one.
-- @param step  one of it, in the unit of the figure
function M.resolution(below, above, what)
   return { name = "resolution", type = "B", below = below, above = above, source = what }
end

--- The mean of repetitions (GUM 4.2.3); a single one shows nothing of others.
-- @param deviation  standard deviation of their results
-- @param n          how many
function M.repetitions(deviation, n)
   return n > 1 and deviation and {
      name = "sample", type = "A", standard = deviation / math.sqrt(n), degrees = n - 1,
      source = ("deviation of %d repetitions (GUM 4.2.3)"):format(n),
   }
end

-- Correlation of each of a list with the next.
local function autocorrelation(list)
   local mean, sum, squares = stats.mean(list), 0, 0
   for i, value in ipairs(list) do
      squares = squares + (value - mean) ^ 2
      sum = sum + (list[i + 1] and (value - mean) * (list[i + 1] - mean) or 0)
   end
   return squares > 0 and sum / squares or 0
end

--- The mean of a series by the means of its blocks (batch means).
-- @param list  means of the blocks
-- @return nil if there are few of them, or one depends on the one before: r_1 > 2/sqrt(n) (Box and Jenkins)
function M.blocks(list)
   local n = #list
   if n < BLOCKS or autocorrelation(list) > 2 / math.sqrt(n) then
      return nil
   end
   return {
      name = "sample", type = "A", standard = stats.stddev(list) / math.sqrt(n), degrees = n - 1,
      source = ("deviation of the means of %d blocks"):format(n),
   }
end

-- The number of runs of losses, for a number of independent losses among a number of frames: mean and
-- standard deviation (Wald and Wolfowitz, Annals of Mathematical Statistics 11, 1940).
local function runs_expected(lost, sent)
   local passed = sent - lost
   local variance = lost * (lost - 1) / sent * (passed / sent) * ((passed + 1) / (sent - 1))
   return lost * (passed + 1) / sent, math.sqrt(variance)
end

--- Do losses come in groups? Yes with significantly fewer runs than independent losses have, or with counts
-- of blocks that vary more than a binomial count does (index of dispersion).
-- @param counts  of a direction: tx, lost, loss_bursts, perhaps series
function M.is_grouped(counts)
   local lost, sent = counts.lost, counts.tx - (counts.wrong_tx or 0)
   if lost < 2 or lost == sent then
      return false
   end
   local mean, deviation = runs_expected(lost, sent)
   if counts.loss_bursts < mean - 3 * deviation then
      return true
   end
   local series = counts.series
   local n, ratio, sum = series and #series.tx or 0, lost / sent, 0
   for i = 1, n do
      local expected = series.tx[i] * ratio
      local off = series.tx[i] - series.rx[i] - expected
      sum = sum + (expected > 0 and off * off / (expected * (1 - ratio)) or 0)
   end
   -- chi-squared with n - 1 degrees of freedom; its deviation is sqrt(2 (n - 1))
   return n >= BLOCKS and sum > n - 1 + 4 * math.sqrt(2 * (n - 1))
end

-- The probability of a loss from the number of losses: Clopper and Pearson (binomial.lua), which is wide
-- enough also where losses keep a distance, as in an overload.
local function losses(counts)
   local sent = counts.tx - (counts.wrong_tx or 0)
   local low, high = binomial.interval(counts.lost, sent)
   local ratio = counts.lost / sent
   return {
      name = "sample", type = "A", below = ratio - low, above = high - ratio, coverage = 0.95,
      source = ("%d of %d frames lost (Clopper and Pearson 1934)"):format(counts.lost, sent),
   }
end

-- Frames that the device held at the end and forwarded afterwards: under an overload a longer trial would
-- have lost them. Where all delays are shorter than the time between two frames, no frame waits for another.
local function held(counts, duration_s)
   local waiting = counts.latency and counts.rx / duration_s * counts.latency.max_ns / 1e9 or math.huge
   return waiting >= 1 and {
      name = "buffer", type = "B", below = 0, above = math.min(counts.rx, waiting + 1) / counts.tx,
      source = "frames held at the end of the trial: the longest delay at the rate of reception",
   }
end

--- A failed load is certainly too high if the device held nothing when its trial began: no frame in it took
-- longer than the wait after the learning frames.
-- @param fps     the load, or nil
-- @param record  of the trial that failed, if it is known
-- @param wait    between the learning frames and the load, seconds
-- @return the load; nil where frames held before the trial may have caused the failure
function M.too_much(fps, record, wait)
   local delay = record and record.latency and record.latency.max_ns / 1e9 or 0
   return delay <= (wait or math.huge) and fps or nil
end

--- The uncertainty of a load found by a search, as the load that the device carries for any duration. A
-- passed trial proves a load less the frames that the device still held at its end; a failed trial proves
-- that its load is too high.
-- @param fps     the load
-- @param passed  record of the trial that passed, or nil. Where it lost tolerated frames, there is no
--                uncertainty
-- @param failed  the lowest load above it that failed, as of too_much()
-- @param line    maximum of any load, where the highest load passed; or nil
function M.sustained(fps, passed, failed, line)
   return passed and (passed.lost or 0) == 0 and uncertainty.of(fps, {
      M.search(fps, failed, line), M.still_held(fps, passed), M.clock(fps, passed.time),
   }, { min = 0 }) or nil
end

local function loss_bounds(ratio, counts, duration_s)
   return uncertainty.of(ratio, { losses(counts), held(counts, duration_s) }, { min = 0, max = 1 })
end

--- The uncertainty of the share of frames that a device loses under a load of any duration.
-- @param counts  of a direction
-- @return nil where losses come in groups: they are not independent, and an interval would be too narrow
function M.loss_ratio(ratio, counts, duration_s)
   if counts.tx - (counts.wrong_tx or 0) <= 0 or M.is_grouped(counts) then
      return nil
   end
   return loss_bounds(ratio, counts, duration_s)
end

-- Counts of several directions together; nil where the losses of one come in groups.
local function together(directions)
   local sum = { tx = 0, rx = 0, lost = 0, wrong_tx = 0, latency = { max_ns = 0 } }
   for _, one in ipairs(directions) do
      if M.is_grouped(one) then
         return nil
      end
      sum.tx, sum.rx, sum.lost = sum.tx + one.tx, sum.rx + one.rx, sum.lost + one.lost
      sum.wrong_tx = sum.wrong_tx + (one.wrong_tx or 0)
      sum.latency.max_ns = math.max(sum.latency.max_ns, one.latency and one.latency.max_ns or math.huge)
   end
   return sum
end

--- The uncertainty of the greatest loss ratio of several trials, as the loss ratio of the device. It begins
-- at the least of the lower bounds, because the trial with the most losses was the unluckiest.
-- @param trials  list of { directions = whose losses count together, duration_s = }
-- @return nil where losses come in groups
function M.worst_loss_ratio(ratio, trials)
   local low, high = ratio, ratio
   for _, one in ipairs(trials) do
      local sum = together(one.directions)
      if not sum or sum.tx - sum.wrong_tx <= 0 then
         return nil
      end
      local u = loss_bounds(sum.lost / (sum.tx - sum.wrong_tx), sum, one.duration_s)
      low, high = math.min(low, u.low), math.max(high, u.high)
   end
   return trials[1] and uncertainty.of(ratio, { {
      name = "sample", type = "A", below = ratio - low, above = high - ratio, coverage = 0.95,
      source = ("losses of %d trials (Clopper and Pearson 1934), and frames held at the end"):format(#trials),
   } }, { min = 0, max = 1 }) or nil
end

--- The uncertainty of a rate that is the mean of many parts of a trial.
-- @param list  the rate of each part
-- @param one   change of the rate by one count
-- @return nil with too few parts, or where a part depends on the one before
function M.mean_rate(value, list, one, time)
   local sample = M.blocks(list)
   return sample and uncertainty.of(value, {
      sample, M.resolution(one, one, "what is counted is whole"), M.clock(value, time),
   }, { min = 0 }) or nil
end

--- The uncertainty of a number found by a search.
-- @param passed, failed  as search() takes them
-- @param time            for a rate: of the record of a trial
function M.searched(passed, failed, time)
   return passed and uncertainty.of(passed, { M.search(passed, failed), M.clock(passed, time) }, { min = 0 })
      or nil
end

--- The uncertainty of a mean delay of many frames.
-- @param value   the figure
-- @param counts  of a direction: latency, series
-- @return nil where the series does not show the variation of the means
function M.mean_delay(value, counts, time)
   local series, means = counts.series, {}
   for i = 1, series and #series.rx or 0 do
      means[#means + 1] = series.rx[i] > 0 and series.ftd_mean_ns[i] or nil
   end
   local sample = counts.latency and M.blocks(means)
   return sample and uncertainty.of(value, { sample, M.stamp(counts.latency), M.clock(value, time) }) or nil
end

return M
