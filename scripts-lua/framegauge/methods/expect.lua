-- SPDX-License-Identifier: BSD-3-Clause

--- What the device must reach: `--expect 'throughput>=95%'`, `--expect 'voice.avail>=99.99%'`.
--
-- With `with 95% confidence` behind it, it is not the figure that must reach the value but the bound of its
-- uncertainty: what cannot be shown to have reached it has not (as ISO 14253-1 decides).
--
-- A figure can be expected whose result row has `expect` = { name, the side on which it must be, how its
-- value is written }. Rows of one name stand for one another: the first figure that is known counts. One with
-- `coverage` is a bound itself, which is sure to that share. A method says the rest in its `expectations`:
--
--    examples               some, for messages
--    figures(plan)          the rows of its records that have `expect`, and others
--    rows(results)          the rows of the results that expectations are about
--    subject(plan, name)    whose figures they are: function(row), whether a row is about it; or nil and what
--                           is wrong with it. Without subject_is the name is nil
--    subject_is             what stands before the figure and a dot: "a service"
--    of(plan, text)         what may stand behind the value and an @, as subject()
--    absent_fails           a valid row without the figure fell short; else it does not say
--    valid_only             a row that is not valid does not say; else one that reaches a least value has met
--                           it, because then the device did, whatever the tester could not do beyond
local loads = require "framegauge.traffic.loads"
local methods = require "framegauge.methods"
local rows = require "framegauge.text.rows"
local units = require "framegauge.text.units"

local M = {}

local function number(text)
   local value = tonumber(text)
   if not value then
      return nil, ("'%s' is no number"):format(text)
   end
   return value
end

-- A load at the frame size of a row.
local function load(text)
   local rate, message = units.parse_rate(text)
   return rate and function(row)
      return loads.of_rate(rate, row.frame_size, row.theoretical_fps)
   end, message
end

-- How a value is written, and by what a figure is divided to compare.
local KINDS = {
   bits = { units.parse_bits, 1 }, load = { load, 1 }, number = { number, 1 },
   percent = { units.parse_ratio, 100 }, ratio = { units.parse_ratio, 1 }, time = { units.parse_time, 1e9 },
}

local function figure_of(list, row, plan)
   for _, one in ipairs(list) do
      local value
      if one.of then
         value = one.of(row, plan)
      else
         value = rows.value(row, one[1])
      end
      if value ~= nil then
         return value / KINDS[one.expect[3]][2]
      end
   end
end

-- @return the rows of that name, the value that is wanted; or nil and a message
local function read(kind, plan, name, sign, text)
   local list = {}
   for _, row in ipairs(kind.figures(plan)) do
      list[#list + 1] = row.expect and row.expect[1] == name and row or nil
   end
   if not list[1] then
      return nil, ("there is no figure '%s'"):format(name)
   end
   local wanted, message = KINDS[list[1].expect[3]][1](text)
   if not wanted then
      return nil, message
   elseif sign ~= list[1].expect[2] then
      return nil, ("%s is a criterion with %s"):format(name, list[1].expect[2])
   end
   return list, wanted
end

-- The bound of the uncertainty of a figure on the side that counts; nil where it is not known so well.
local function bound_of(list, row, side, confidence)
   for _, one in ipairs(list) do
      local u = one[1] and row.uncertainty and row.uncertainty[rows.flat_key(one[1])]
      if (one.coverage or u and u.coverage or 0) >= confidence then
         local bound
         if one.coverage then
            bound = rows.value(row, one[1])
         else
            bound = side == ">=" and u.low or side == "<=" and u.high
         end
         return bound and bound / KINDS[one.expect[3]][2] or nil
      end
   end
end

-- The text without "with 95% confidence", and that share; nil and a message where it is none.
local function with_confidence(text)
   local before, share = text:match "^(.-)%s+with%s+(%S+)%s+confidence%s*$"
   if not before then
      return text
   end
   local confidence = units.parse_ratio(share)
   if not confidence or confidence < 0.5 or confidence > 1 then
      return nil, ("'%s' is no confidence, from 50%% to 100%%"):format(share)
   end
   return before, confidence
end

-- @return true; false: the device fell short; nil: the row does not say
local function met_by(kind, side, value, wanted, validity)
   local met = value ~= nil and (side == ">=" and value >= wanted or side == "<=" and value <= wanted)
   if validity == "valid" and (value ~= nil or kind.absent_fails) then
      return met
   end
   return validity ~= "valid" and not kind.valid_only and side == ">=" and met or nil
end

local function always()
   return true
end

-- @param list  rows of the figure
-- @param o     sign =, wanted =, confidence = or nil
local function met_in(kind, list, o, row, plan)
   local wanted = o.wanted
   if type(wanted) == "function" then
      wanted = wanted(row)
   end
   if not wanted then
      return nil
   elseif not o.confidence then
      return met_by(kind, o.sign, figure_of(list, row, plan), wanted, row.validity)
   elseif row.validity ~= "valid" then
      return nil
   end
   local bound = bound_of(list, row, o.sign, o.confidence)
   return bound ~= nil and met_by(kind, o.sign, bound, wanted, "valid")
end

local function has_uncertainty(list)
   for _, one in ipairs(list) do
      if one.uncertainty or one.coverage then
         return true
      end
   end
   return false
end

local function parse(kind, whole, plan)
   local text, confidence = with_confidence(whole)
   if not text then
      return nil, confidence
   end
   local form = kind.subject_is and "^%s*([%w_-]+)%.([%w_]+)" or "^%s*()([%w_]+)"
   local name, key, sign, rest = text:match(form .. "%s*([<>]=)%s*(.-)%s*$")
   if not key then
      return nil, kind.subject_is and ("no figure of %s with a comparison"):format(kind.subject_is)
         or "no figure with a comparison"
   end
   local is_its, message = kind.subject(plan, kind.subject_is and name)
   if not is_its then
      return nil, message
   end
   local value, part = rest:match "^(.-)%s*@%s*(.-)$"
   local list, wanted = read(kind, plan, key, sign, kind.of and value or rest)
   if not list then
      return nil, wanted
   elseif confidence and not has_uncertainty(list) then
      return nil, ("no uncertainty of %s is known"):format(key)
   end
   local is_part = always
   if kind.of and part then
      is_part, message = kind.of(plan, part)
   end
   return is_part and {
      text = whole, about = function(row) return is_its(row) and is_part(row) end,
      met = function(row)
         return met_in(kind, list, { sign = sign, wanted = wanted, confidence = confidence }, row, plan)
      end,
   }, message
end

--- Read one expectation.
-- @param plan  the plan it will be held against
-- @return { text =, about = function(row): whether it is about a row, met = function(row): true; false: the
-- device fell short; nil: the row does not say }, or nil and a message
function M.parse(text, plan)
   local kind = methods.of(plan).expectations
   if not kind then
      return nil, ("--expect '%s': nothing can be expected of the test %s"):format(text, plan.test)
   end
   local expectation, why = parse(kind, text, plan)
   if not expectation then
      return nil, ("--expect '%s': %s; expected such as %s"):format(text, why, kind.examples)
   end
   return expectation
end

--- The rows that the expectations of a plan are about.
function M.rows(plan, results)
   local kind = methods.of(plan).expectations
   return kind and kind.rows(results) or {}
end

--- Hold the rows of a result against one expectation.
-- @param complete  whether all rows the plan asks for are there
-- @return { text =, met = true; false: the device fell short; nil: cannot be said }
function M.evaluate(expectation, lines, complete)
   local met = complete or nil
   for _, row in ipairs(lines) do
      if expectation.about(row) then
         local this = expectation.met(row)
         if this == false then
            return { text = expectation.text, met = false }
         elseif this == nil then
            met = nil
         end
      end
   end
   return { text = expectation.text, met = met }
end

--- The expectations that a row fell short of, as one text; nil when there is none.
-- @param result  result.json, read
function M.short_of(result, row)
   local texts = {}
   for _, one in ipairs(result.expectations) do
      local expectation = M.parse(one.text, result.plan)
      if expectation and M.evaluate(expectation, { row }, true).met == false then
         texts[#texts + 1] = one.text
      end
   end
   return #texts > 0 and table.concat(texts, ", ") or nil
end

return M
