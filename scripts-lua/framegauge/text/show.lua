-- SPDX-License-Identifier: BSD-3-Clause

--- How figures are written, and the columns of a table of them, by their rows (framegauge.text.rows).
--
-- A column: { heading, unit, function(row): text, or nil where nothing is known; left = of words, kind =,
-- optional = is left out where no line has it }. A terminal (framegauge.text.grid) and the page
-- (report/html/tables) show the same columns.
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local rows = require "framegauge.text.rows"
local units = require "framegauge.text.units"

local M = {}

local function fixed(decimals, divisor)
   return function(value)
      return format.decimal(value / (divisor or 1), decimals)
   end
end

local function mbps(value)
   if value > 0 and value < 0.1 then
      return format.small(value)
   end
   return format.decimal(value, value < 10000 and 2 or 1)
end

-- A loss is never rounded down to none.
local function loss(ratio)
   return ratio == 0 and "0" or ratio < 1e-6 and ("%.1e"):format(ratio * 100) or format.decimal(ratio * 100,
      4)
end

local function flr(ratio)
   return ratio == 0 and "0" or ratio < 1e-3 and ("%.2e"):format(ratio) or format.decimal(ratio * 100, 3)
      .. " %"
end

-- Six digits, and all of them where there are more before the point: no exponent; with separators.
local function plain_number(value)
   if value % 1 == 0 or math.abs(value) >= 999999.5 then
      return format.decimal(value, 0)
   end
   local whole, rest = ("%.6g"):format(value):match "^(-?%d+)(.*)$"
   return units.format_count(tonumber(whole)) .. rest
end

-- What names something, such as a size of frames or a trial: without separators.
local function label(value)
   return mixes.CYCLES[value] and value or (value % 1 == 0 and "%.0f" or "%.6g"):format(value)
end

-- Words that are written in another way than keys have them.
local PROPER = { stamp = "STAMP", twamp = "TWAMP", light = "Light", http = "HTTP", pdv = "PDV", mtu = "MTU",
   crc = "CRC" }

--- A key, such as of a test, as a person reads it.
-- @usage show.words "http_throughput" --> HTTP throughput
function M.words(key)
   return (key:gsub("_", " "):gsub("%a+", PROPER))
end

-- What ended a search (framegauge.search), in words.
local LIMITS = { maximum = "not reached", max_trials = "number of trials" }

local function limit(value)
   return LIMITS[value] or (value:gsub("_", " "))
end

local function words(list)
   return table.concat(list, ", ")
end

--- How a value is written, by name: { function(value), unit below the heading, left = of words }.
M.KINDS = {
   count = { format.count }, number = { plain_number }, label = { label }, number3 = { fixed(3) },
   seconds = { plain_number, "s" }, seconds3 = { fixed(3), "s" }, time = { format.nanoseconds },
   us = { fixed(2, 1e3), "µs" }, us3 = { fixed(3, 1e3), "µs" }, ms = { fixed(3, 1e6), "ms" },
   fps = { format.frame_rate, "frames/s" }, frames = { format.count, "frames" },
   frames1 = { fixed(1), "frames" }, bytes = { format.count, "bytes" },
   percent = { fixed(2), "%" }, percent1 = { fixed(1), "%" }, percent3 = { fixed(3), "%" },
   share = { fixed(2), "%" }, ratio = { fixed(2, 0.01), "%" }, loss = { loss, "%" }, flr = { flr },
   mbps = { mbps, "Mbit/s" }, megabits = { fixed(3, 1e6), "Mbit/s" },
   bits = { function(bps) return units.format_bits(bps) end },
   bits1 = { function(bps) return units.format_bits(bps, 1) end },
   yes = { function(value) return value and "yes" or "no" end, left = true }, rate = { format.frame_rate },
   words = { words, left = true }, key = { tostring, left = true }, plain = { tostring, left = true },
   direction = { tostring, left = true }, limit = { limit, left = true },
   validity = { tostring, left = true }, quiet = { tostring, left = true },
}

-- Endings of keys and what they are written as.
local ENDINGS = {
   ns = "us", fps = "fps", percent = "percent", ratio = "loss", bps = "bits", mbps = "mbps",
   frames = "frames", s = "seconds", bytes = "bytes", octets = "bytes",
}

local TYPES = { count = "count", ordinal = "count", integer = "count", number = "number", signed = "number",
   positive = "number", ratio = "number", boolean = "yes" }

-- Keys that are written in a way of their own; `key` is a key of the plan, which a page shows in words.
local NAMES = { direction = "direction", test = "key", frame_size = "label", trial = "label",
   limited_by = "limit" }

local function kind_of(row)
   return row.as or NAMES[row[1]] or row[1] and ENDINGS[row[1]:match "_(%a+)$"] or TYPES[row[2]] or "plain"
end

-- What a figure is worth that the tester kept from being better: it must not look exact.
local function bounded(row, text, bound)
   if row.validity ~= "tester-limited" or not bound then
      return text
   end
   return bound ~= "exact" and bound .. text or nil
end

--- A figure as its row has it written.
-- @return the text and its unit, "" where it has none
function M.write(row, value)
   local kind = M.KINDS[kind_of(row)]
   return kind[1](value), kind[2] or ""
end

--- The same for a row of a table, as its cell has it: nil where the figure would look exact and is not.
function M.write_of(line, row, value)
   local text, unit = M.write(row, value)
   return bounded(line, text, row.bound), unit
end

--- The column of a row of a record.
-- @param prefix  path of the object it is in
function M.column(row, prefix)
   local name = kind_of(row)
   local kind = assert(M.KINDS[name], name)
   local path = (prefix or "") .. (row[1] or "")
   local value = row.of or function(one) return rows.value(one, path) end
   local left = row.left
   if left == nil then
      left = kind.left
   end
   return { row.col, row.unit or kind[2] or "", path = not row.of and path or nil, function(one)
      local figure = value(one)
      if figure == nil then
         return row.sought and "none found" or row.none
      end
      return bounded(one, kind[1](figure), row.bound)
   end, left = left, kind = name, id = row.id ~= nil, optional = row.optional or row.hidden,
      unless = row.unless }
end

--- Does a row stand in one of the tables of these names?
function M.stands_in(row, names)
   if row.id then
      return true
   end
   for name in names:gmatch "%S+" do
      if (" " .. (row.at or "") .. " "):find(" " .. name .. " ", 1, true) then
         return true
      end
   end
   return false
end

local function add(list, record, name, prefix)
   for _, row in ipairs(record.rows) do
      local t = row[2]
      if row.col and M.stands_in(row, name) then
         list[#list + 1] = M.column(row, prefix)
      elseif type(t) == "table" and t.kind == "record" and not row.apart then
         add(list, t, name, (prefix or "") .. row[1] .. ".")
      end
   end
end

-- The counts on which figures rest, each behind the last figure that rests on it.
local function with_counts(list, record)
   local last, shown, out = {}, {}, {}
   for i, column in ipairs(list) do
      local n = column.path and rows.n_of(record, column.path)
      last[n or ""], shown[column.path or ""] = i, true
   end
   for i, column in ipairs(list) do
      out[#out + 1] = column
      local n = column.path and rows.n_of(record, column.path)
      if n and last[n] == i and not shown[n] then
         local row = rows.at(record, n)
         out[#out + 1] = M.column(setmetatable({ col = "N", optional = true, unit = false },
            { __index = row }), n:sub(1, #n - #row[1]))
      end
   end
   return out
end

--- The columns of a table, in the order of the rows. Columns of optional figures are there only where one of
-- the lines has something to show.
-- @param record  what the lines are
-- @param name    of the table, as the rows have it in `at`; or several
-- @param lines   of a result
function M.columns(record, name, lines)
   local all, list = {}, {}
   add(all, record, name)
   for _, column in ipairs(with_counts(all, record)) do
      local keep, dropped = not column.optional, false
      for _, line in ipairs(lines) do
         keep = keep or column[3](line) ~= nil
         dropped = dropped or column.unless and rows.value(line, column.unless) ~= nil
      end
      list[#list + 1] = keep and not dropped and column or nil
   end
   return list
end

--- What a row is called: the figures that tell it from others, in words.
function M.name(record, one)
   local parts = {}
   for _, row in ipairs(record.rows) do
      local value = row.id and rows.value(one, row[1])
      if value ~= nil and value ~= false and row.id then
         local text = M.KINDS[kind_of(row)][1](value)
         parts[#parts + 1] = type(row.id) == "function" and row.id(value, one)
            or type(row.id) == "table" and text .. " " .. row.id[value == 1 and 1 or 2]
            or type(row.id) == "string" and row.id:format(text) or text
      end
   end
   return table.concat(parts, ", ")
end

--- What a row of a table (framegauge.report.view) is called, in the table.
-- @param i  its place there
function M.case(one, row, i)
   return one.case and one.case(row, i) or M.name(one.record, row)
end

--- The name where it stands by itself: with the name of its suite.
function M.whole_name(one, row, i)
   local suite = one.suite and row[one.suite]
   return (suite and suite .. ", " or "") .. M.case(one, row, i)
end

return M
