-- SPDX-License-Identifier: BSD-3-Clause

--- Every figure of a result as documentation: `framegauge help results` and docs/reference/figures.md, by its
-- row.
local columns = require("framegauge.text.columns").described
local criteria = require("framegauge.methods.common.figures").criteria
local methods = require "framegauge.methods"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local schema = require "framegauge.report.schema"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_USAGE = 2

-- A type in words.
local function type_of(t)
   if type(t) == "string" then
      local known = rows.TYPES[t]
      return (known.type == "string" and "text" or known.type)
   elseif t.kind == "record" then
      return ("[%s](#%s)"):format(t.name, t.name)
   elseif t.kind == "list" then
      return "list of " .. type_of(t.of)
   elseif t.kind == "map" then
      return "object of " .. type_of(t.of)
   elseif t.kind == "forms" then
      local list = tables.map(t, function(form) return type_of(form) end)
      return table.concat(list, " or ")
   end
   return "`" .. table.concat(t, "`, `") .. "`"
end

local BETTER = { [">="] = ", more is better", ["<="] = ", less is better" }

-- @param record  the rows of a test, or an object in it
local function facts(row, record)
   local better = ""
   for _, figure in ipairs(record and criteria(record) or {}) do
      better = figure.path == row[1] and BETTER[figure.better] or better
   end
   return type_of(row[2]) .. (row.null and ", null" or row.optional and ", optional" or "") .. better
      .. (row.n and (", N: `%s`"):format(row.n) or "")
end

-- Records of the rows of tests and of objects in them: their figures can be asked for and compared.
-- @return set of records, and names of tables by their record
local function of_tests()
   local known, named = {}, {}
   local function visit(record)
      known[record] = true
      for _, row in ipairs(record.rows) do
         local t = row[2]
         if type(t) == "table" and t.kind == "record" and not row.apart and row[1] ~= "uncertainty" then
            visit(t)
         end
      end
   end
   for _, name in ipairs(methods.names()) do
      for _, one in ipairs(results.of(name).TABLES) do
         visit(one.record)
         named[one.record] = named[one.record] or {}
         table.insert(named[one.record], one.name)
      end
   end
   return known, named
end

-- All records, each once, in the order they are first met.
local function records()
   local list, seen = {}, {}
   local function visit(t)
      if type(t) == "string" or seen[t] then
         return
      end
      seen[t] = true
      if t.kind == "record" then
         list[#list + 1] = t
         for _, row in ipairs(t.rows) do
            if row[2] then
               visit(row[2])
            end
         end
      end
      for _, below in ipairs { t.of or false, unpack(t.kind == "forms" and t or {}) } do
         if below then
            visit(below)
         end
      end
   end
   visit(schema.record())
   return list
end

local function published(record)
   return tables.map(record.rows, function(row) return row[2] and row or nil end)
end

--- The text of the page.
function M.markdown()
   local out = {
      "# Figures\n\nEvery key of `result.json` and of a line of `trials.jsonl`. [results.md](results.md) explains what they have in common: folders, validity, calibration.\n\nA figure is named `<what>_<statistic>_<unit>`. Figures in an object are read with its name in front, and so are the columns of the CSV files: `min_ns` in `latency` is `latency_min_ns`. *null*: the key is always there, null where nothing is known. *optional*: the key is left out where nothing is known. *more is better*, *less is better*: [criteria](../how-to/ci.md) can ask for it. *N*: the count of frames, pairs or trials on which the figure rests; tables show it behind the figure.\n",
   }
   local known = of_tests()
   for _, record in ipairs(records()) do
      out[#out + 1] = ("\n## %s\n\n%s.\n\n| key | type | meaning |\n|---|---|---|\n"):format(record.name,
         (record.help:gsub("^%l", string.upper)))
      for _, row in ipairs(published(record)) do
         out[#out + 1] = ("| `%s` | %s | %s |\n"):format(row[1], facts(row, known[record] and record), row[3])
      end
   end
   out[#out + 1] = "\nThis page is generated from the result rows (scripts-lua/framegauge/methods/*/result.lua, trial/result.lua, report/result.lua):\n`build/app/framegauge script docs/generate/figures.lua > docs/reference/figures.md`.\n"
   return table.concat(out)
end

local function plain(text)
   return (text:gsub("%[([%w_]+)%]%(#[%w_]+%)", "%1"):gsub("`", ""))
end

local function section(record, known)
   local lines = tables.map(published(record), function(row)
      return { row[1], plain(("%s [%s]"):format(row[3], facts(row, known[record] and record))) }
   end)
   return ("%s: %s\n%s"):format(record.name, plain(record.help), columns(lines))
end

local function overview()
   local tests, objects, _, named = {}, {}, of_tests()
   for _, record in ipairs(records()) do
      local list = named[record] and tests or objects
      local several = named[record] and named[record][2] and table.concat(named[record], ", ")
      list[#list + 1] = { record.name, plain(record.help) .. (several and (" (%s)"):format(several) or "") }
   end
   return "Every figure of result.json, by its object. 'framegauge help results NAME' shows one of these, or a\nfigure by its key, such as throughput_fps or latency_min_ns.\n\nRows of tests:\n"
      .. columns(tests)
      .. "\nObjects:\n" .. columns(objects)
end

--- The text of `framegauge help results [NAME]`. Raises an object with exit status and message for an unknown
-- name.
-- @param name  of a test, an object or a figure; nil: what there is
function M.page(name)
   if not name then
      return overview()
   end
   local out, names, figures = {}, {}, {}
   local known, named = of_tests()
   for _, record in ipairs(records()) do
      local is_its = record.name == name or tables.contains(named[record] or {}, name)
      names = tables.joined(names, { record.name }, named[record] or {})
      out[#out + 1] = is_its and section(record, known) or nil
      for _, figure in ipairs(rows.flat(record)) do
         local key = figure[1]:gsub("%.", "_")
         names[#names + 1] = key
         figures[#figures + 1] = (key == name or figure[1] == name) and {
            record.name .. "." .. figure[1], plain(("%s [%s]"):format(figure[2][3], facts(figure[2]))),
         } or nil
      end
   end
   if not out[1] and not figures[1] then
      user_error.raise("help results", BAD_USAGE, "there is no figure or test '%s'%s", name,
         suggest.hint(name, names))
   end
   return table.concat(out, "\n") .. (figures[1] and not out[1] and columns(figures) or "")
end

return M
