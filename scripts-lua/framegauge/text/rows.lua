-- SPDX-License-Identifier: BSD-3-Clause

--- Result rows: one row for each figure of a result, from which everything else about the figure follows.
--
-- A record is a list of rows in the order a person reads them. A row:
--
--    { "throughput_fps", "number", "meaning, in words", null = true, col = "Throughput", at = "summary" }
--
--    [1]       key in result.json: <what>_<statistic>_<unit>; the path of a figure inside of objects, joined
--              by "_", reads the same way (latency.min_ns is latency_min_ns in the CSV)
--    [2]       type: a name in M.TYPES, a list of words, a record, M.list(), M.map() or M.forms(). A row
--              without a type is no figure of result.json but a column only: its key is then the path of a
--              figure in an object, or `of` is a function of the row
--    [3]       help
--    null      the key is always there and null where nothing is known
--    optional  the key is left out where nothing is known
--
-- and where it is shown (framegauge.text.show):
--
--    col       heading of its column; without one it is in no table of a report
--    unit      below the heading (default: by the key)
--    as        how it is written (default: by the key and type)
--    at        names of the tables it stands in, such as "terminal summary"; every table has those with `id`
--    id        it tells rows apart: what a test case is called, with "%s" for the figure; or the
--              noun behind the figure, { "port", "ports" }
--    bound     ">=" or "<=": what a figure of a tester-limited row is worth; "exact": nothing
--    none      what stands where nothing is known
--    sought    a search looks for it: where nothing is known, none was found, and the device is the reason
--    hidden    the column is left out where no line has it, as with `optional`
--    unless    the column is left out where lines have this key
--    uncertainty  function(row, run): how far from the figure the truth may be (trial/uncertainty.lua), by
--              the row and what it follows from: run.trial (records by number), run.time,
--              run.calibration; nil where nothing can be defended
--    n         key of the count on which the figure rests, in the same object or one around it: of frames,
--              pairs or trials. Tables show it behind the figure
--    better, criterion, resolution, main, coverage, plain  what makes it a figure that can be asked
--              for and compared (framegauge.methods.common.figures, .criteria)
--    apart     of an object: its figures are in no table of the record
--
-- A record may say besides: `is_even`, its lists have an entry each for the same points; `one_of`, at least
-- one of these keys is known; `together`, lists of keys that are known all or none; `open`, it has other
-- keys, too.
--
-- From a record come the order of keys and the nulls of result.json (published), what is checked when a trial
-- is read back (wrong), the JSON Schema (framegauge.report.schema), the reference of all figures
-- (framegauge.report.reference), CSV files (flat), and the tables on a terminal and on the page.
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"

local M = {}

--- Single values, as JSON Schema has them.
M.TYPES = {
   count = { type = "integer", minimum = 0 },
   ordinal = { type = "integer", minimum = 1 },
   integer = { type = "integer" },
   number = { type = "number", minimum = 0 },
   positive = { type = "number", exclusiveMinimum = 0 },
   signed = { type = "number" },
   ratio = { type = "number", minimum = 0, maximum = 1 },
   text = { type = "string" },
   boolean = { type = "boolean" },
   object = { type = "object" },
}

--- Rows of a record.
-- @param name  of the record, for the schema and the reference
-- @param help  its meaning, in words
-- @param ...   lists of rows, one after the other
function M.record(name, help, ...)
   local record = { kind = "record", name = name, help = help, rows = {}, by_key = {}, rank = {} }
   for _, list in ipairs { ... } do
      for _, row in ipairs(list) do
         record.rows[#record.rows + 1] = row
         if row[2] then
            assert(not record.by_key[row[1]], row[1])
            record.by_key[row[1]], record.rank[row[1]] = row, #record.rows
         end
      end
   end
   return record
end

--- A list of values of a type. @param o  least, most: how many there may be
function M.list(of, o)
   return { kind = "list", of = of, least = o and o.least, most = o and o.most }
end

--- An object with keys that are not known beforehand, and values of a type.
function M.map(of)
   return { kind = "map", of = of }
end

--- One of several records. @param choose  function(value): which of them a value is
function M.forms(choose, ...)
   return { kind = "forms", choose = choose, ... }
end

--- Rows as they are, but with other properties: shared rows in a table of their own.
-- @param o  by key: properties that replace the row's
function M.with(list, o)
   return tables.map(list, function(row) return setmetatable(o[row[1]] or {}, { __index = row }) end)
end

local published

local PUBLISHED = {
   record = function(value, record)
      local copy = {}
      for key, item in pairs(value) do
         local row = record.by_key[key]
         copy[key] = row and published(item, row[2]) or item
      end
      for _, row in ipairs(record.rows) do
         if row.null and copy[row[1]] == nil then
            copy[row[1]] = json.null
         end
      end
      return json.object(copy, record.rank)
   end,
   list = function(value, type)
      return tables.map(value, function(item) return published(item, type.of) end)
   end,
   map = function(value, type)
      local copy = {}
      for key, item in pairs(value) do
         copy[key] = published(item, type.of)
      end
      return json.object(copy)
   end,
   forms = function(value, type)
      return published(value, type.choose(value))
   end,
}

--- A value as result.json has it: keys in order, null where nothing is known.
function published(value, type)
   local publish = value ~= json.null and PUBLISHED[type.kind]
   return publish and publish(value, type) or value
end

M.published = published

local IS = {
   integer = function(value) return type(value) == "number" and value % 1 == 0 end,
   number = function(value) return type(value) == "number" and math.abs(value) < math.huge end,
   string = function(value) return type(value) == "string" end,
   boolean = function(value) return type(value) == "boolean" end,
   object = function(value) return type(value) == "table" end,
}

local function fits(value, name)
   local t = M.TYPES[name]
   return IS[t.type](value) and not (t.minimum and value < t.minimum) and not (t.maximum
      and value > t.maximum)
      and not (t.exclusiveMinimum and value <= t.exclusiveMinimum)
end

local wrong

-- Of a record whose lists have an entry each for the same points: the first list that is longer or shorter.
local function uneven(value, record, path)
   local first
   for _, row in ipairs(record.is_even and record.rows or {}) do
      local list = row[2].kind == "list" and value[row[1]] or nil
      first = first or list
      if list and #list ~= #first then
         return ("%s.%s: %d entries, not %d"):format(path, row[1], #list, #first)
      end
   end
end

-- Of a record that has at least one of `one_of`, and all or none of each list of `together`: what is missing.
local function apart(value, record, path)
   local function known(key) return value[key] ~= nil and value[key] ~= json.null end
   if record.one_of and not tables.any(record.one_of, known) then
      return ("%s: none of %s"):format(path, table.concat(record.one_of, ", "))
   end
   for _, keys in ipairs(record.together or {}) do
      for _, key in ipairs(keys) do
         if not known(key) and tables.any(keys, known) then
            return ("%s.%s: missing beside %s"):format(path, key, table.concat(keys, ", "))
         end
      end
   end
end

local function wrong_record(value, record, path)
   for _, row in ipairs(record.rows) do
      local item = value[row[1]]
      local below = path == "" and row[1] or ("%s.%s"):format(path, row[1])
      if row[2] and item == nil and not row.optional and not row.null then
         return below .. ": missing"
      elseif row[2] and item ~= nil and not (row.null and item == json.null) then
         local problem = wrong(item, row[2], below)
         if problem then
            return problem
         end
      end
   end
   for key in pairs(record.open and {} or value) do
      if not record.by_key[key] then
         return ("%s: not known"):format(path == "" and tostring(key) or path .. "." .. tostring(key))
      end
   end
   return apart(value, record, path) or uneven(value, record, path)
end

local function wrong_items(value, type, path)
   local n = #value
   if n < (type.least or 0) or n > (type.most or n) then
      return ("%s: %d entries, not %s"):format(path, n, n < (type.least or 0) and "at least " .. type.least
         or "at most " .. type.most)
   end
   for key, item in pairs(value) do
      local form = type.kind == "list" and "%s[%s]" or "%s.%s"
      local problem = wrong(item, type.of, form:format(path, tostring(key)))
      if problem then
         return problem
      end
   end
end

--- What is wrong with a value that was read as JSON: the path of the first key that does not fit, and why.
-- What may be null may be missing, too.
-- @return nil when all is well
function wrong(value, t, path)
   path = path or ""
   if t.kind == "forms" then
      return wrong(value, t.choose(value), path)
   end
   local single = type(t) == "string"
   if single and fits(value, t) or not single and not t.kind and tables.contains(t, value) then
      return nil
   elseif single or not t.kind or type(value) ~= "table" then
      local encoded, text = pcall(json.encode, value)
      return ("%s: %s is no %s"):format(path, encoded and #text < 60 and text or type(value),
         single and t or t.kind or "known word")
   end
   return (t.kind == "record" and wrong_record or wrong_items)(value, t, path)
end

M.wrong = wrong

--- The value of a row or of a path in objects, such as "latency.min_ns"; nil without a value.
function M.value(row, path)
   local value = row
   for key in path:gmatch "[^.]+" do
      if type(value) ~= "table" then
         return nil
      end
      value = value[key]
   end
   if value == json.null then
      return nil
   end
   return value
end

--- The key of a figure in an object, as CSV files have it.
-- @usage rows.flat_key "latency.mean_ns" --> latency_mean_ns
function M.flat_key(path)
   return (path:gsub("%.", "_"))
end

--- The row of a figure, by its path in objects; nil without one.
function M.at(record, path)
   local row
   for key in path:gmatch "[^.]+" do
      row = type(record) == "table" and record.kind == "record" and record.by_key[key] or nil
      record = row and row[2]
   end
   return row
end

--- The path of the count on which a figure rests; nil where its row names none.
-- @usage rows.n_of(trial.TRIAL, "latency.mean_ns") --> latency.count
function M.n_of(record, path)
   local row = M.at(record, path)
   local around = row and row.n and path
   while around and around ~= "" do
      around = around:match "^(.*%.)[^.]+%.?$" or ""
      if M.at(record, around .. row.n) then
         return around .. row.n
      end
   end
end

-- Single figures of a record with those in its objects: visit(path, row, whether it may be left out).
local function each(record, prefix, visit, optional)
   for _, row in ipairs(record.rows) do
      local t = row[2]
      if type(t) == "table" and t.kind == "record" then
         each(t, prefix .. row[1] .. ".", visit, optional or row.optional)
      elseif t then
         visit(prefix .. row[1], row, optional or row.optional)
      end
   end
end

--- Every figure of a record that is one value, by its path: list of { path, row }.
-- @param rows  of a result: those that are left out where nothing is known are listed only if one has them
function M.flat(record, rows)
   local list = {}
   each(record, "", function(path, row, optional)
      local t, known = row[2], not rows or not optional
      for _, one in ipairs(not known and rows or {}) do
         known = known or M.value(one, path) ~= nil
      end
      local plain = t.kind == "forms" and type(t[1]) == "string" or t.kind == "list" and t.of == "text"
      local single = type(t) == "string" and t ~= "object" or not t.kind or plain
      list[#list + 1] = single and known and { path, row } or nil
   end)
   return list
end

return M
