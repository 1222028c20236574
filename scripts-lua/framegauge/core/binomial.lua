-- SPDX-License-Identifier: BSD-3-Clause

--- What a count of rare events says of their probability: the interval of Clopper and Pearson (Biometrika 26,
-- 1934), which holds the truth at least as often as it claims, whatever the truth is.
--
-- Its bounds are quantiles of the beta distribution, found by bisection on the regularized incomplete beta
-- function, whose continued fraction is DLMF 8.17.22, evaluated by Lentz' algorithm.
local M = {}

local TERMS, SMALL, ENOUGH = 10000, 1e-300, 1e-14

-- Logarithm of the gamma function: Stirling's series (DLMF 5.11.1), whose argument is raised first.
local function log_gamma(x)
   local shift = 0
   while x < 15 do
      shift, x = shift + math.log(x), x + 1
   end
   local r = 1 / (x * x)
   local series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x
   return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi) + series - shift
end

-- Term number m of the continued fraction.
local function coefficient(m, a, b, x)
   local half = math.floor(m / 2)
   if m % 2 == 0 then
      return half * (b - half) * x / ((a + m - 1) * (a + m))
   end
   return -(a + half) * (a + b + half) * x / ((a + m - 1) * (a + m))
end

local function away_from_zero(x)
   return math.abs(x) < SMALL and SMALL or x
end

local function fraction(a, b, x)
   local f, c, d = 1, 1, 0
   for m = 1, TERMS do
      local term = coefficient(m, a, b, x)
      d = 1 / away_from_zero(1 + term * d)
      c = away_from_zero(1 + term / c)
      f = f * c * d
      if math.abs(c * d - 1) < ENOUGH then
         break
      end
   end
   return 1 / f
end

--- The regularized incomplete beta function: probability that a beta variable is at most x.
-- @usage ("%.6f"):format(binomial.beta(2, 3, 0.5)) --> 0.687500
function M.beta(a, b, x)
   if x <= 0 or x >= 1 then
      return x <= 0 and 0 or 1
   elseif x > (a + 1) / (a + b + 2) then
      return 1 - M.beta(b, a, 1 - x)
   end
   local front = a * math.log(x) + b * math.log(1 - x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
   return math.exp(front) / a * fraction(a, b, x)
end

local function quantile(a, b, p)
   local low, high = 0, 1
   for _ = 1, 200 do
      local x = (low + high) / 2
      if x == low or x == high then
         break
      elseif M.beta(a, b, x) < p then
         low = x
      else
         high = x
      end
   end
   return (low + high) / 2
end

--- Between what bounds the probability of an event is that was seen n times in N independent trials.
-- @param coverage  how often the interval shall hold the truth; default 0.95. With n = 0 or n = N the whole
--                  of what may be missed is on one side
-- @return lower and upper bound
-- @usage local low, high = binomial.interval(3, 1000000)
-- return ("%.2e %.2e"):format(low, high) --> 6.19e-07 8.77e-06
function M.interval(n, N, coverage)
   local missed = 1 - (coverage or 0.95)
   if n == 0 or n == N then
      local bound = missed ^ (1 / N)
      return n == 0 and 0 or bound, n == 0 and 1 - bound or 1
   end
   return quantile(n, N - n + 1, missed / 2), quantile(n + 1, N - n, 1 - missed / 2)
end

return M
