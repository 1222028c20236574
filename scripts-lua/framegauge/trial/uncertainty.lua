-- SPDX-License-Identifier: BSD-3-Clause

--- From what contributes to the uncertainty of a figure (components.lua) to the uncertainty.
--
-- Standard uncertainties are combined in quadrature (GUM 5.1.2, all sensitivities are 1 because components
-- have the unit of the figure) and expanded by Student's factor for the effective degrees of freedom of Welch
-- and Satterthwaite (GUM G.4). Bounds are added to that as they are: what is known to lie between bounds may
-- lie at one of them always.
local binomial = require "framegauge.core.binomial"

local M = {}

local COVERAGE = 0.95

--- Probability that a variable of Student's distribution is farther than t from 0 (DLMF 8.17, GUM G.3).
-- @usage ("%.3f"):format(uncertainty.beyond(2.776, 4)) --> 0.050
function M.beyond(t, degrees)
   return binomial.beta(degrees / 2, 0.5, degrees / (degrees + t * t))
end

--- Student's factor: this many standard uncertainties hold the truth in 95 of 100 cases.
-- @param degrees  of freedom; math.huge: the normal distribution
-- @usage ("%.3f"):format(uncertainty.student(4)) --> 2.776
function M.student(degrees)
   if degrees > 1e6 then
      return 1.959964
   end
   local low, high = 1.9, 13
   for _ = 1, 60 do
      local t = (low + high) / 2
      if M.beyond(t, degrees) > 1 - COVERAGE then
         low = t
      else
         high = t
      end
   end
   return (low + high) / 2
end

-- Welch and Satterthwaite: degrees of freedom of a sum of variances.
local function effective(components, combined)
   local sum = 0
   for _, one in ipairs(components) do
      sum = sum + (one.standard and one.degrees and one.standard ^ 4 / one.degrees or 0)
   end
   return sum > 0 and combined ^ 4 / sum or math.huge
end

-- Not known is nil.
local function finite(value)
   return value > -math.huge and value < math.huge and value or nil
end

local function published(component)
   return {
      name = component.name, type = component.type, standard = component.standard,
      below = component.below and finite(component.below), above = component.above
         and finite(component.above), source = component.source,
   }
end

--- The uncertainty of a figure.
-- @param value       the figure
-- @param components  list of { name =, type =, source =, and either standard = and degrees = of freedom
--                    (nil: infinite) or below =, above = (math.huge: no bound) and coverage = (nil: 1) };
--                    false stands for none
-- @param o.min, o.max  what the figure can be by definition
-- @return as framegauge.text.uncertainty has it
-- @usage local u = uncertainty.of(10, { { name = "search", type = "B", below = 0, above = 2, source = "" } })
-- return u.kind, u.low, u.high, u.coverage --> interval 10 12 1
function M.of(value, components, o)
   local variance, below, above, coverage, list = 0, 0, 0, 1, {}
   for i = 1, #components do
      local one = components[i]
      if one then
         variance = variance + (one.standard or 0) ^ 2
         below, above = below + (one.below or 0), above + (one.above or 0)
         coverage = math.min(coverage, one.standard and COVERAGE or one.coverage or 1)
         list[#list + 1] = one
      end
   end
   local combined, normal = math.sqrt(variance), coverage < 1 and variance > 0
   local k = normal and math.max(2, M.student(effective(list, combined))) or nil
   local spread = k and k * combined or 0
   local low = math.max(value - below - spread, o and o.min or -math.huge)
   local high = math.min(value + above + spread, o and o.max or math.huge)
   for i, one in ipairs(list) do
      list[i] = published(one)
   end
   return {
      kind = k and "normal" or "interval", low = finite(low), high = finite(high),
      expanded = finite(math.max(value - low, high - value)), coverage = coverage, k = k, components = list,
   }
end

return M
