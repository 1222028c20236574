-- SPDX-License-Identifier: BSD-3-Clause

--- Formats of figures and words that the sections of the page share.
local format = require "framegauge.text.format"
local h = require "framegauge.text.xml"
local mixes = require "framegauge.core.mixes"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local value_at = require("framegauge.text.rows").value
local verdict = require "framegauge.text.verdict"

local M = {}

M.count, M.decimal, M.plural = format.count, format.decimal, format.plural

--- When a run began, to the minute; nil when that is not known.
-- @param moment  run.json, read
function M.begun(moment)
   return moment.started and (moment.started:gsub("T", " "):gsub(":%d%dZ$", " UTC"))
end

--- Words as a terminal has them, with the sign for micro and with arrows.
function M.words(text)
   return (text:gsub("(%d) us%f[%W]", "%1 µs"):gsub("(%w)%->(%w)", "%1 → %2"))
end

--- A test's name in words: "fully meshed" for `rfc2889.fully_meshed`. Names in capitals are proper names.
function M.test(name)
   local last = name:match "[^.]+$" or name
   return last:find "%u" and last or show.words(last)
end

--- A time with the unit that suits.
function M.nanoseconds(ns)
   return M.words(format.nanoseconds(ns))
end

--- A verdict in its colour; the colour is not its only sign.
function M.verdict(word)
   return h.span { class = "verdict " .. (verdict.look(word) or "warning"), word }
end

--- The same for tables in which most rows are good: only the others stand out.
function M.quiet_verdict(word)
   return word == "valid" and word or M.verdict(word)
end

--- "both directions" or "east → west".
function M.direction(name)
   local from, to = tostring(name):match "^(.-)%->(.+)$"
   if from == to and from then
      return from .. " and back"
   end
   return name == "both" and "both" or (tostring(name):gsub("%->", " → "))
end

--- A share in percent as a small bar with its figure.
function M.share(text)
   return h.span {
      class = "share", text,
      h.svg {
         viewBox = "0 0 50 8", ["aria-hidden"] = "true",
         h.rect { class = "whole", width = 50, height = 8 },
         h.rect { class = "part", width = ("%.1f"):format(math.min(tonumber(text) or 0, 100) / 2),
            height = 8 },
      },
   }
end

--- Rows by the value of a key or of a function of them, in the order they first appear.
-- @return list of { name = value, rows }
function M.grouped(rows, key)
   local groups, by_name = {}, {}
   for _, row in ipairs(rows) do
      local name
      if type(key) == "function" then
         name = key(row)
      else
         name = row[key]
      end
      if not by_name[name] then
         by_name[name] = { name = name, rows = {} }
         groups[#groups + 1] = by_name[name]
      end
      table.insert(by_name[name].rows, row)
   end
   return groups
end

--- Direction of a row and the type of its stream, where that is not the plain one.
function M.stream(row)
   return M.direction(row.direction) .. (row.modifier and ", " .. row.modifier or "")
end

local function value_of(row, key)
   local value = type(key) == "function" and key or value_at
   return value(row, key)
end

-- A figure of the device precedes a tester-limited one.
local function is_worse(row, found, key, side)
   local valid = row.validity == "valid"
   if valid ~= (found.validity == "valid") then
      return valid
   end
   local value, other = value_of(row, key), value_of(found, key)
   return value ~= other and (value < other) == (side == ">=")
end

local function extreme(rows, key, side)
   local found
   for _, row in ipairs(rows) do
      if value_of(row, key) and (not found or is_worse(row, found, key, side)) then
         found = row
      end
   end
   return found
end

--- The row of a list that has the largest value of a key or of a function of it, valid rows before others;
-- nil when none has any.
function M.largest(rows, key)
   return extreme(rows, key, "<=")
end

--- The worst row by a figure: a valid row without the figure, because nothing passed, else the row with the
-- worst value, valid rows before others; the first row where nothing was measured.
-- @param side  ">=" or "<=": which way is better
function M.worst(rows, key, side)
   for _, row in ipairs(rows) do
      if value_of(row, key) == nil and row.validity == "valid" then
         return row
      end
   end
   return extreme(rows, key, side) or rows[1]
end

--- The number of rows that passed, and the number with an outcome.
function M.passed(rows)
   local passed, of = 0, 0
   for _, row in ipairs(rows) do
      passed = passed + (row.outcome == "pass" and 1 or 0)
      of = of + ((row.outcome == "pass" or row.outcome == "fail") and 1 or 0)
   end
   return passed, of
end

--- A figure of a row for a tile: "nothing passed" differs from "not measured".
function M.tile(row, key, write)
   local value = value_of(row, key)
   if value then
      return write(value)
   end
   return row.validity == "valid" and "none found" or "not measured"
end

--- "64 bytes, east → west"
function M.subject(row)
   return ("%s, %s"):format(mixes.text(row.frame_size), M.stream(row))
end

--- The frame sizes of some rows, or other numbers, ascending, each once; mixes stand behind them.
function M.sizes(rows, key)
   local list = tables.field(M.grouped(rows, key or "frame_size"), "name")
   table.sort(list, mixes.before)
   return list
end

--- The rows ordered by frame size, for a line that runs from left to right.
function M.by_size(rows)
   local list = { unpack(rows) }
   table.sort(list, function(a, b)
      return mixes.before(a.frame_size, b.frame_size)
   end)
   return list
end

-- "512, 1024 bytes, imix", "64 bytes, east → west": the subject of several rows.
local function subjects(rows)
   local directions, sizes = M.grouped(rows, M.stream), M.sizes(rows)
   local list = table.concat(tables.map(sizes, function(size, i)
      return tonumber(sizes[i + 1]) and size or mixes.text(size)
   end), ", ")
   return #directions == 1 and list .. ", " .. directions[1].name or list
end

--- Why the rows of a test have their verdicts, each reason once; false when all are valid.
function M.reasons(rows)
   local all, items = {}, {}
   for _, row in ipairs(rows) do
      for _, reason in ipairs(row.reasons or {}) do
         all[#all + 1] = setmetatable({ key = verdict.word(row) .. reason, reason = reason },
            { __index = row })
      end
   end
   for i, group in ipairs(M.grouped(all, "key")) do
      local first = group.rows[1]
      items[i] = h.li { subjects(group.rows), ": ", M.verdict(verdict.word(first)), " – ", first.reason }
   end
   return #items > 0 and h.ul { class = "reasons", items }
end

return M
