-- SPDX-License-Identifier: BSD-3-Clause

--- Figures from counts and samples.
--
-- Counts are those of streams that run (framegauge.stream): a list of { name =, tx =, rx =, ... } with the
-- time it was taken at. Rates are differences of counts over the time between, in the bench's time.
local line = require "framegauge.line"
local statistics = require "framegauge.statistics"

local M = {}

--- What there is to say of a sample.
-- @param list  numbers, one at least
-- @return { count =, min =, mean =, median =, max =, stddev = (N - 1 in the denominator) }
-- @usage stats.summary({ 1, 2, 3, 4 }).mean --> 2.5
-- @usage stats.summary({ 1, 2, 3, 4 }).stddev --> 1.29099
function M.summary(list)
   return {
      count = #list, min = statistics.min(list), mean = statistics.mean(list),
      median = statistics.median(list), max = statistics.max(list), stddev = statistics.stddev(list),
   }
end

--- Smallest value of a sample that at least the share p of it does not exceed (RFC 2330, 11.3).
-- @param list  numbers, one at least
-- @param p     above 0, at most 1
-- @usage stats.percentile({ 30, 10, 20, 40 }, 0.5) --> 20
function M.percentile(list, p)
   return statistics.percentile(list, p)
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

-- Of the frames up to the highest number that has come, the share that has come.
local function arrived(now, before)
   local rx, missing = now.rx - before.rx, now.missing - before.missing
   return rx > 0 and math.min(1, rx / math.max(1, rx + missing)) or 0
end

--- Rates between two looks at streams that run. The receiver's counts are a little older than the sender's:
-- what is received is the share that has arrived of what was sent. Between looks at the same time all is 0.
-- @param before, now  as running:counts() of framegauge.stream gave them
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
         tx_bps_l1 = bps + fps * 8 * line.OVERHEAD, tx_bps_l2 = bps,
      }
   end
   return list
end

return M
