-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold in the sustain phase (RFC 9411, 7.1.3.4 and the like), from the samples of both ends.
local M = {}

local STEADY_EVENTS = 2000 -- of a sample: with this number, chance alone makes it deviate by 2 %
local FEW_CONNECTIONS = 100 -- at a time; with fewer, one more or less is too much of a deviation

--- How many of n may fail where the share must be below a limit.
-- @usage criteria.allowed(99999, 1e-5) --> 0
-- @usage criteria.allowed(100001, 1e-5) --> 1
-- @usage criteria.allowed(3000000, 1e-5) --> 29
function M.allowed(n, limit)
   return math.max(0, math.ceil(n * limit - 1e-9) - 1)
end

--- Largest deviation of means of several values in a row from the mean of all, as a share of it.
-- @usage ("%.4f"):format(criteria.deviation({ 100, 106, 99, 97, 100 }, 1)) --> 0.0558
function M.deviation(values, width)
   local sum, most = 0, 0
   for _, value in ipairs(values) do
      sum = sum + value
   end
   local mean = sum / math.max(1, #values)
   if mean == 0 then
      return 0
   end
   local window = 0
   for i, value in ipairs(values) do
      window = window + value - (values[i - width] or 0)
      if i >= width then
         most = math.max(most, math.abs(window / width - mean) / mean)
      end
   end
   return most
end

--- How many samples are judged together, so that chance alone does not fail them; at most half of them.
-- @param events  in all of them
function M.width(samples, events)
   local each = events / math.max(1, samples)
   return math.max(1, math.min(math.floor(samples / 2), math.ceil(STEADY_EVENTS / math.max(each, 1e-9))))
end

local function column(samples, key)
   local list = {}
   for i, sample in ipairs(samples) do
      list[i] = sample[key]
   end
   return list
end

--- Judge a sustain phase.
-- @param o        the group rfc9411 of the plan
-- @param samples  list of { transactions_per_s =, throughput_bps =, concurrent = }
-- @param seen     { attempted =, failed =, opened =, resets =, transactions =, measured_s = } of the clients
-- @param wanted   { transactions_per_s =, gets = of a connection } or { concurrent = }
-- @return list of { name =, value =, limit =, met = }
function M.judge(o, samples, seen, wanted)
   local list = {}
   local function add(name, value, limit, met)
      list[#list + 1] = { name = name, value = value, limit = limit, met = met }
   end
   local may_fail, may_reset = M.allowed(seen.attempted, o.failures), M.allowed(seen.opened, o.failures)
   add("failed_transactions", seen.failed, may_fail, seen.failed <= may_fail)
   add("reset_connections", seen.resets, may_reset, seen.resets <= may_reset)
   if wanted.concurrent then
      local least = math.huge
      for _, sample in ipairs(samples) do
         least = math.min(least, sample.concurrent)
      end
      local low = wanted.concurrent * (1 - o.shortfall)
      add("least_open_connections", least, low, least >= low)
      return list
   end
   local rate = seen.measured_s > 0 and seen.transactions / seen.measured_s or 0
   -- connections are whole: one of them may be due just before a phase or its samples, or just behind them
   local one = seen.measured_s > 0 and wanted.gets / seen.measured_s or 0
   local low = math.max(0, wanted.transactions_per_s * (1 - o.shortfall) - one)
   add("transactions_per_s", rate, low, rate >= low)
   local width = M.width(#samples, seen.transactions)
   local off = M.deviation(column(samples, "throughput_bps"), width)
   local most = o.deviation + wanted.gets * #samples / math.max(1, seen.transactions * width)
   add("rate_deviation", off, most, off <= most)
   local open, mean = column(samples, "concurrent"), 0
   for _, n in ipairs(open) do
      mean = mean + n / #open
   end
   if mean >= FEW_CONNECTIONS then
      off = M.deviation(open, 1)
      add("concurrency_deviation", off, o.concurrency_deviation, off <= o.concurrency_deviation)
   end
   return list
end

return M
