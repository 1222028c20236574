-- SPDX-License-Identifier: BSD-3-Clause

--- Figures from counts and samples.
--
-- Counts come from streams that run (stream.lua): a list of { name =, tx =, rx =, ... } with the
-- time it was taken at. Rates are differences of counts over the time between, in the tester's time.
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"

local M = {}

local function reduced(list, of)
   local found = list[1]
   for _, value in ipairs(list) do
      found = of(found, value)
   end
   return found
end

--- The sum of a list of numbers, or of one field of its items.
-- @usage stats.sum({ { tx = 1 }, { tx = 2 } }, "tx") --> 3
function M.sum(list, key)
   local sum = 0
   for _, item in ipairs(list) do
      sum = sum + (key and item[key] or item)
   end
   return sum
end

--- The mean of a sample.
-- @usage stats.mean { 1, 2, 6 } --> 3
function M.mean(list)
   return M.sum(list) / #list
end

--- The least of a sample.
-- @usage stats.min { 3, 1, 2 } --> 1
function M.min(list)
   return reduced(list, math.min)
end

--- The greatest of a sample.
-- @usage stats.max { 3, 1, 2 } --> 3
function M.max(list)
   return reduced(list, math.max)
end

--- Standard deviation, for a sample of a population (N - 1 in the denominator); 0 for a single value.
-- @usage stats.stddev { 1, 2, 3 } --> 1
function M.stddev(list)
   if #list == 1 then
      return 0
   end
   local mean, sum = M.mean(list), 0
   for _, value in ipairs(list) do
      sum = sum + (value - mean) ^ 2
   end
   return math.sqrt(sum / (#list - 1))
end

local function sorted(list)
   local copy = tables.map(list, function(value) return value end)
   table.sort(copy)
   return copy
end

--- Smallest value of a sample that at least the share p of it does not exceed (RFC 2330, 11.3).
-- @param list  numbers, one at least
-- @param p     above 0, at most 1
-- @usage stats.percentile({ 30, 10, 20, 40 }, 0.5) --> 20
function M.percentile(list, p)
   return sorted(list)[math.max(1, math.ceil(p * #list - 1e-9))]
end

--- Mean of the central two when their number is even (RFC 2330, 11.3).
-- @usage stats.median { 3, 1, 2, 10 } --> 2.5
function M.median(list)
   local values = sorted(list)
   local half = math.floor(#values / 2)
   return #values % 2 == 1 and values[half + 1] or (values[half] + values[half + 1]) / 2
end

--- Statistics of a sample.
-- @param list  numbers, one at least
-- @return { count =, min =, mean =, median =, max =, stddev = (N - 1 in the denominator) }
-- @usage stats.summary({ 1, 2, 3, 4 }).mean --> 2.5
-- @usage stats.summary({ 1, 2, 3, 4 }).stddev --> 1.29099
function M.summary(list)
   return {
      count = #list, min = M.min(list), mean = M.mean(list),
      median = M.median(list), max = M.max(list), stddev = M.stddev(list),
   }
end

--- Sums over streams.
-- @param streams  list of { tx =, rx =, wrong_tx = of these or nil }, as counts and trials have them
-- @return { tx =, rx =, lost =, loss_ratio = }; nothing sent is nothing lost
-- @usage stats.total({ { tx = 10, rx = 9 }, { tx = 10, rx = 10 } }).loss_ratio --> 0.05
function M.total(streams)
   local tx, rx, lost = 0, 0, 0
   for _, stream in ipairs(streams) do
      tx, rx, lost = tx + stream.tx, rx + stream.rx, lost
         + math.max(0, stream.tx - (stream.wrong_tx or 0) - stream.rx)
   end
   return { tx = tx, rx = rx, lost = lost, loss_ratio = tx > 0 and lost / tx or 0 }
end

-- The share of received frames among those up to the highest received number.
local function arrived(now, before)
   local rx, missing = now.rx - before.rx, now.missing - before.missing
   return rx > 0 and math.min(1, rx / math.max(1, rx + missing)) or 0
end

--- Rates between two looks at streams that run. The receiver's counts are a little older than the sender's:
-- what is received is the share that has arrived of what was sent. Between looks at the same time all is 0.
-- @param before, now  as running:counts() of framegauge.trial.stream gave them
-- @return list of { name =, tx_fps =, rx_fps =, tx_bps_l1 =, tx_bps_l2 = }
-- @usage local a = { seconds = 1, streams = { { name = "s", tx = 0, tx_octets = 0, rx = 0, missing = 0 } } }
-- local b = { seconds = 3, streams = { { name = "s", tx = 200, tx_octets = 12800, rx = 90, missing = 10 } } }
-- local rates = stats.rates(a, b)[1]
-- return rates.tx_fps, rates.rx_fps, rates.tx_bps_l1 --> 100 90 67200
function M.rates(before, now)
   local list, seconds = {}, now.seconds - before.seconds
   for i, stream in ipairs(now.streams) do
      local last = before.streams[i]
      local fps = seconds > 0 and (stream.tx - last.tx) / seconds or 0
      local bps = seconds > 0 and (stream.tx_octets - last.tx_octets) * 8 / seconds or 0
      list[i] = {
         name = stream.name, tx_fps = fps, rx_fps = fps * arrived(stream, last),
         tx_bps_l1 = bps + fps * 8 * ethernet.OVERHEAD, tx_bps_l2 = bps,
      }
   end
   return list
end

return M
