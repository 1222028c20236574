-- SPDX-License-Identifier: BSD-3-Clause

--- What the device must reach: `criteria:` of a plan and `--expect`, for every method and every figure.
--
--    [SUBJECT.]FIGURE>=VALUE[@SUBJECT]... [with 95% confidence]        or <=
--
-- A figure is one of methods.common.figures, by its key, its key without the unit, or `criterion` of its
-- row. It applies to all rows that have it and that belong to all subjects: a test, a frame size, a
-- direction, and what the method adds, such as services and streams. With a confidence the bound of the
-- figure's uncertainty must reach the value, not the figure: what is not shown to have reached it has not
-- (as ISO 14253-1 decides).
--
-- A criterion is met where every row that it applies to has met it. It is undecided where there is no row, or
-- where a row's figure is missing or is not the device's. A row without the figure fails where the device is
-- the reason: no load passed, nothing arrived, or the row failed by a criterion of the method. Only this
-- module uses two properties of a result row:
--
--    bound     ">=": the device reached at least the value of a tester-limited row (framegauge.text.rows)
--    plain     the value may be a number without a unit
--
-- and one of a table (framegauge.report.view): `asked`, a key: rows that have it count only where a subject
-- is a value of it.
local figures = require "framegauge.methods.common.figures"
local methods = require "framegauge.methods"
local mixes = require "framegauge.core.mixes"
local show = require "framegauge.text.show"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local FORM = "FIGURE>=VALUE or FIGURE<=VALUE, and perhaps @ and a subject"

local function tables_of(plan)
   return require("framegauge.methods." .. plan.test .. ".result").TABLES
end

-- The tables that a plan fills. Tables with the name of a test that is not made stay empty.
local function made_by(plan)
   local all, tests = tables_of(plan), plan[plan.test].tests
   local by_test = false
   for _, one in ipairs(all) do
      by_test = by_test or tests ~= nil and tables.contains(tests, one.name)
   end
   return tables.map(all, function(one)
      return (not by_test or tables.contains(tests, one.name)) and one or nil
   end)
end

local function is_test(row, value, one)
   return row.test == value or one.name == value
end

-- Directions that rows of a table may have, as the method says; else from each port to each other.
-- @param named  values of the other subjects of the criterion, by key; may be nil
local function directions(plan, one, named)
   local of_method, list = methods.of(plan).directions, {}
   if of_method then
      return of_method(plan, one.name, named or {})
   end
   for _, from in ipairs(plan.ports) do
      for _, to in ipairs(plan.ports) do
         list[#list + 1] = from ~= to and from.name .. "->" .. to.name or nil
      end
   end
   return list
end

local function read_direction(text)
   return (text:find("->", 1, true) or text == "both" or text == "all") and text
end

-- What a criterion may be about: list of
--    key       of rows
--    values    that it may have; nil: any
--    words     what these values are called, with read
--    read      function(text) -> a value, or nil
--    is        function(row, value, table), where the key of a row is not compared
--    of_table  function(plan, table, named): the values that rows of a table may have
local function subjects_of(plan)
   local group, of_method = plan[plan.test], methods.of(plan).subjects
   local list = of_method and of_method(plan) or {}
   list[#list + 1] = { key = "test", values = group.tests or {}, is = is_test }
   list[#list + 1] = {
      key = "frame_size", words = "frame sizes", values = group.frame_sizes or {},
      read = function(text)
         return mixes.CYCLES[text] and text or tonumber(text)
      end,
   }
   list[#list + 1] = { key = "direction", read = read_direction, of_table = directions }
   return list
end

local function subject(plan, text)
   local near, known = nil, {}
   for _, one in ipairs(subjects_of(plan)) do
      local value = one.read and one.read(text) or not one.read and text
      if value and (one.values == nil or tables.contains(one.values, value)) then
         return { key = one.key, value = value, open = one.is ~= nil and one.key ~= "test",
            may_be_of = function(of_table, named)
               return not one.of_table or tables.contains(one.of_table(plan, of_table, named), value)
            end,
            is = function(row, of_table)
               return one.is and one.is(row, value, of_table) or not one.is and row[one.key] == value
            end }
      end
      near = near or value and one.read and one.values[1] and one or nil
      for _, name in ipairs(one.values or {}) do
         known[#known + 1] = type(name) == "string" and name or nil
      end
   end
   return nil, ("the plan has no test, frame size or other subject '%s'%s"):format(text,
      suggest.hint(text, known))
      .. (near and ("; it has the %s %s"):format(near.words, table.concat(near.values, ", ")) or "")
end

local function values_of(subjects)
   local named = {}
   for _, one in ipairs(subjects) do
      named[one.key] = one.value
   end
   return named
end

-- May rows of a table belong to all subjects, and do they count? Rows of some tables count only where the
-- criterion names them.
-- @param all  tables of the plan
local function may_be_about(one, subjects, all)
   local named = values_of(subjects)
   for _, wanted in ipairs(subjects) do
      local may = wanted.open or (one.record.by_key[wanted.key] ~= nil or one.suite == wanted.key)
         and wanted.may_be_of(one, named)
      if wanted.key == "test" and tables.find(all, "name", wanted.value) then
         may = one.name == wanted.value
      end
      if not may then
         return false
      end
   end
   return not one.asked or one.record.by_key[one.asked] ~= nil
      or tables.find(subjects, "key", one.asked) ~= nil
end

-- The text without "with 95% confidence", and that share; nil and a message where the share is not valid.
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

-- The parts of a criterion, not yet looked up: name, side, value, list of subjects.
local function split(text)
   local left, side, right = text:match "^%s*([^<>]-)%s*([<>]=)%s*(.-)%s*$"
   local name = left and left:match "([%w_]+)$"
   local before = name and left:sub(1, -#name - 1)
   if not name or before ~= "" and not before:find "^[^%s]+%.$" then
      return nil, "there is no figure with a comparison"
   end
   local subjects = { before ~= "" and before:sub(1, -2) or nil }
   for one in right:gmatch "@%s*([^@]*)" do
      subjects[#subjects + 1] = one:match "^(.-)%s*$"
   end
   return { name = name, side = side, value = right:match "^([^@]-)%s*$" or right:match "^([^@]-)%s*@",
      subjects = subjects }
end

-- The candidates of a table for a figure of that name: list of { figure =, wanted = a number, or
-- function(row) }. A value that is a number comes before one that follows from the row.
local function candidates(one, asked)
   local list, numbers, message = {}, 0, nil
   for _, figure in ipairs(figures.criteria(one.record)) do
      if figure.names[asked.name] then
         if figure.better ~= asked.side and figure.better ~= figures.EITHER then
            message = message or ("%s is a criterion with %s"):format(asked.name, figure.better)
         else
            local wanted, why = figure.parse(asked.value)
            message = not wanted and (message or why or ("'%s' is no number"):format(asked.value)) or message
            if type(wanted) == "number" then
               numbers = numbers + 1
               table.insert(list, numbers, { figure = figure, wanted = wanted })
            elseif wanted then
               list[#list + 1] = { figure = figure, wanted = wanted }
            end
         end
      end
   end
   return list, message
end

local function knows_bound(list)
   return tables.any(list, function(one) return one.figure.row.uncertainty or one.figure.row.coverage end)
end

-- Names of a plan's figures in criteria, the main ones; and a list of all.
local function names_of(plan)
   local main, all, seen = {}, 0, {}
   for _, one in ipairs(made_by(plan)) do
      local compared = figures.compared(one.record)
      for _, figure in ipairs(figures.criteria(one.record)) do
         local other = figure.row.criterion
         local name = other and (figure.path and other or figure.name) or figure.name
         all = all + (seen[name] and 0 or 1)
         if not seen[name] and (other or tables.contains(compared, figure)) then
            main[#main + 1] = name .. (figure.better == figures.EITHER and "<=" or figure.better)
         end
         seen[name] = true
      end
   end
   table.sort(main)
   return table.concat(main, ", ") .. (all > #main and (" and %d more that 'framegauge help results' has")
      :format(all - #main) or ""), tables.keys(seen)
end

-- Fill `of` of a criterion: by table, the candidates.
local function find_tables(criterion, asked, plan)
   local all, message, exists, bounded, known = made_by(plan), nil, false, false, {}
   for _, one in ipairs(all) do
      local list, why = candidates(one, asked)
      for _, name in ipairs(list[1] and one.record.by_key.direction
         and directions(plan, one, values_of(criterion.subjects)) or {}) do
         known[#known + 1] = not tables.contains(known, name) and name or nil
      end
      message, exists = message or why, exists or list[1] ~= nil
      if list[1] and may_be_about(one, criterion.subjects, all) then
         criterion.of[one.name] = list
         bounded = bounded or knows_bound(list)
      end
   end
   if not exists then
      return nil, message or ("there is no figure '%s' in the tests of the plan%s"):format(asked.name,
         suggest.hint(asked.name, select(2, names_of(plan))))
   elseif not next(criterion.of) then
      return nil, ("no row with %s is about %s; %s"):format(asked.name, asked.subjects[1]
         and table.concat(asked.subjects, " and ") or "the plan as a whole",
         not tables.find(criterion.subjects, "key", "direction")
         and "rows of some tests count only with @ and the test"
         or known[1] and "directions of such rows: " .. table.concat(known, ", ")
         or "rows of these tables have no direction")
   elseif criterion.confidence and not bounded then
      return nil, ("no uncertainty of %s is known"):format(asked.name)
   end
   return criterion
end

local function read(text, plan)
   local whole, confidence = with_confidence(text)
   if not whole then
      return nil, confidence
   end
   local asked, message = split(whole)
   if not asked then
      return nil, message
   end
   local criterion = { text = text, confidence = confidence, side = asked.side, subjects = {}, of = {},
      limit = asked.side .. " " .. asked.value }
   for i, one in ipairs(asked.subjects) do
      criterion.subjects[i], message = subject(plan, one)
      if not criterion.subjects[i] then
         return nil, message
      end
   end
   return find_tables(criterion, asked, plan)
end

--- Read one criterion.
-- @param plan  the plan it will be held against
-- @return an object for the functions below, or nil and a message
function M.parse(text, plan)
   local criterion, why = read(text, plan)
   if not criterion then
      return nil, ("'%s': %s; expected %s, with the figures of this plan: %s"):format(text, why, FORM,
         names_of(plan))
   end
   return criterion
end

-- @param subjects  all of a criterion
local function is_about(subjects, row, one)
   local named = not one.asked or row[one.asked] == nil
   for _, each in ipairs(subjects) do
      if not each.is(row, one) then
         return false
      end
      named = named or each.key == one.asked
   end
   return named
end

local function known(list, row, plan)
   for _, one in ipairs(list) do
      local value = one.figure.of(row, plan)
      if value ~= nil then
         return one, value
      end
   end
end

-- The first candidate whose bound on the required side has the required confidence, and that bound.
local function bound_of(criterion, list, row)
   for _, one in ipairs(list) do
      local figure = one.figure
      local u, coverage = row.uncertainty and row.uncertainty[figure.key], figure.row.coverage
      coverage = type(coverage) == "function" and coverage(row) or coverage
      if coverage and coverage >= criterion.confidence then
         local value = figure.of(row)
         return value and one, value
      elseif u and (u.coverage or 0) >= criterion.confidence then
         local bound = criterion.side == ">=" and u.low or criterion.side == "<=" and u.high or nil
         return bound and one, bound
      end
   end
end

-- Is the device the reason why a valid row has not all figures?
local function has_failed(one, row)
   if row.outcome == "fail" or row.rx == 0 and (row.tx or 0) > 0 then
      return true
   end
   return tables.any(one.record.rows, function(of) return of.sought and row[of[1]] == nil end)
end

-- @return whether the row met it: true, false, or nil and the reason why it is undecided; then candidate and
-- value. "skip": the criterion does not apply to the row
local function judge(criterion, one_table, row, plan)
   local list = criterion.of[one_table.name]
   if row.validity == "not-applicable" then
      return "skip"
   elseif criterion.confidence and row.validity ~= "valid" then
      return nil, row.validity
   end
   local one, value
   if criterion.confidence then
      one, value = bound_of(criterion, list, row)
   else
      one, value = known(list, row, plan)
   end
   if value == nil then
      if row.validity ~= "valid" then
         return nil, row.validity
      elseif criterion.confidence or has_failed(one_table, row) then
         return false, "no figure"
      end
      return list[1].figure.optional and "skip" or nil, "it has no such figure"
   end
   local wanted = one.wanted
   if type(wanted) == "function" then
      wanted = wanted(row)
   end
   if not wanted then
      return nil, "the rate of the line is not known"
   end
   -- rounded as criteria are written: 95 of 100 is 0.95, and equal texts are equal values
   local is, limit = value / one.figure.scale, wanted
   local share = type(one.wanted) == "function" and limit > 0 and is / limit or is -- ranks rows
   local met = criterion.side == ">=" and is >= limit or criterion.side == "<=" and is <= limit
   if row.validity == "valid" then
      return met, nil, one, value, share
   end
   local at_least = met and row.validity == "tester-limited" and criterion.side == ">="
      and tables.find(tables.map(list, function(by) return by.figure.row end), "bound", ">=") ~= nil
   return at_least or nil, row.validity, one, value, share
end

local function written(one, value)
   local text, unit = show.write(one.figure.row, value)
   return text .. (unit ~= "" and " " .. unit or "")
end

-- Worst first: failed, then undecided, then met, and among equals the worse figure.
local function is_worse(criterion, this, other)
   local RANK = { [false] = 3, [true] = 1 }
   local a, b = RANK[this.met] or 2, RANK[other.met] or 2
   if a ~= b or not (this.share and other.share) then
      return a > b
   end
   return (this.share < other.share) == (criterion.side == ">=")
end

--- Hold the results against one criterion.
-- @param complete  whether all rows the plan asks for are there
-- @return { text =, met = true; false: the device fell short; nil: not decided, limit = as it was given, and
-- of the row that decides: row = its name, figure = in words, reason = why it is not decided }
function M.evaluate(criterion, plan, results, complete)
   local worst
   for _, one in ipairs(tables_of(plan)) do
      local list = criterion.of[one.name]
      for i, row in ipairs(list and one.rows(results) or {}) do
         if is_about(criterion.subjects, row, one) then
            local met, reason, by, value, share = judge(criterion, one, row, plan)
            local this = { met = met, row = show.whole_name(one, row, i), reason = reason,
               share = share, figure = by and written(by, value) }
            if met ~= "skip" and (not worst or is_worse(criterion, this, worst)) then
               worst = this
            end
         end
      end
   end
   local found = worst or { reason = "no row has such a figure" }
   if found.met and not complete then
      found = { reason = "the run did not come to its end" }
   end
   return { text = criterion.text, met = found.met, limit = criterion.limit, row = found.row,
      figure = found.figure, reason = found.met == nil and found.reason or nil }
end

--- Are all of them decided? @param list  of evaluate()
function M.are_decided(list)
   for _, one in ipairs(list) do
      if one.met == nil then
         return false
      end
   end
   return true
end

--- The criteria that a row of a result fell short of, as one text; nil where it met all.
-- @param result  result.json, read
-- @param one     the table of the row
function M.short_of(result, one, row)
   local texts = {}
   for _, expected in ipairs(result.expectations) do
      local criterion = M.parse(expected.text, result.plan)
      if criterion and criterion.of[one.name] and is_about(criterion.subjects, row, one)
         and judge(criterion, one, row, result.plan) == false then
         texts[#texts + 1] = expected.text
      end
   end
   return #texts > 0 and table.concat(texts, ", ") or nil
end

return M
