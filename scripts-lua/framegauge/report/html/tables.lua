-- SPDX-License-Identifier: BSD-3-Clause

--- Tables of a report, of columns as framegauge.text.show makes them; what is words on a terminal may be an
-- element here. The first column names the row.
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local length = require("framegauge.text.columns").width
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"

local M = {}

--- The text of an unknown value.
M.DASH = "–"

-- How the text of a column's kind looks.
local LOOKS = {
   direction = formatters.direction, validity = formatters.verdict, quiet = formatters.quiet_verdict,
   share = formatters.share, key = formatters.test,
}

-- A column without a name and unit has a cell and no heading, so that nothing empty is read aloud.
local function heading(column)
   return column[1] .. column[2] == "" and h.td {} or h.th {
      scope = "col", class = column.left and "left" or nil, column[1],
      column[2] ~= "" and h.span { class = "unit", column[2] } or false,
   }
end

local function shown(column, row)
   local value = column[3](row)
   if type(value) == "string" then
      value = value:gsub("^>=", "at least "):gsub("^<=", "at most ")
      return LOOKS[column.kind] and LOOKS[column.kind](value) or formatters.words(value)
   end
   return value or M.DASH
end

local function cells(columns, row, letter)
   local out = {}
   for i, column in ipairs(columns) do
      local class = column.left and "left" or nil
      out[i] = i == 1 and h.th { scope = "row", class = class, shown(column, row), letter and h.sup { letter } }
         or h.td { class = class, shown(column, row) }
   end
   return out
end

local LETTERS = "abcdefghijklmnopqrstuvwxyz"

-- Rows that should not be split between two pages of paper.
local SHORT = 18

-- Room for a table, in pixels of CSS of paper (style.lua): on a page, and on one on its side or a desk's
-- screen, whichever has less. Tables of trials are wider than the text of a screen.
local UPRIGHT, ASIDE, TRIALS = 684, 905, 1000
-- The greatest width of a character in a cell, and a cell's padding; and the width at which the font shrinks.
local PLAIN, DENSE = { character = 6.76, beside = 8.9 }, { character = 5.72, beside = 5.1 }
local DRAWING = ("0"):rep(10) -- as wide as a drawing in a cell

local function range(from, to)
   local list = {}
   for i = from, to do
      list[#list + 1] = i
   end
   return list
end

local function longest_word(text)
   local most = 0
   for word in text:gmatch "%S+" do
      most = math.max(most, length(word))
   end
   return most
end

-- Characters of the widest cell of each column. Text at the left may be wrapped, and so are headings, but for
-- their units.
local function widths(columns, body)
   local list = {}
   for i, column in ipairs(columns) do
      list[i] = math.max(longest_word(column[1]), length(column[2]))
      for _, line in ipairs(body) do
         local text = h.render(line[i]):gsub("<svg.-</svg>", DRAWING):gsub("<[^>]*>", ""):gsub("&[^;]*;", "x")
         list[i] = math.max(list[i], column.left and longest_word(text) or length(text))
      end
   end
   return list
end

local function room(list, from, to, style)
   local sum = 0
   for i = from, to do
      sum = sum + list[i] * style.character + style.beside
   end
   return sum
end

-- The columns of one table: all of them, or parts of about equal width, each after the first columns, which
-- name the row. "max" after "Delay min" stays with it.
-- @return list of lists of columns' numbers; the class of the table
local function parts_of(columns, list, aside)
   local n, names = #columns, 1
   local all = room(list, 1, n, DENSE)
   if room(list, 1, n, PLAIN) <= UPRIGHT then
      return nil, nil
   elseif all <= aside then
      return nil, all <= UPRIGHT and "dense" or "dense broad"
   end
   while columns[names + 1].id do
      names = names + 1
   end
   local head = room(list, 1, names, DENSE)
   local share = (all - head) / math.ceil((all - head) / (aside - head))
   local parts, taken = {}, math.huge
   for i = names + 1, n do
      local more = room(list, i, i, DENSE)
      if taken >= share and not columns[i][1]:find "^%l" or taken + more > aside - head then
         parts[#parts + 1], taken = range(1, names), 0
      end
      table.insert(parts[#parts], i)
      taken = taken + more
   end
   return parts, "dense broad"
end

-- Texts below rows. A text of several rows stands once, at the end of the table, after a letter that its rows
-- have, too.
-- @return by number of a row: its own text, or false, and its letter; the list of texts at the end
local function below_rows(o)
   local own, letters, ends, count, letter_of = {}, {}, {}, {}, {}
   for i, row in ipairs(o.below and o.rows or {}) do
      own[i] = o.below(row) or false
      count[own[i]] = (count[own[i]] or 0) + 1
   end
   for i, text in ipairs(own) do
      if text and count[text] > 1 and (letter_of[text] or #ends < #LETTERS) then
         if not letter_of[text] then
            ends[#ends + 1] = text
            letter_of[text] = LETTERS:sub(#ends, #ends)
         end
         letters[i], own[i] = letter_of[text], false
      end
   end
   return own, letters, ends
end

local function note(which, text, letter)
   return h.tr { class = "below", h.td { colspan = #which,
      h.span { letter and { h.sup { letter }, " " } or false, formatters.words(text) } } }
end

-- @param which  numbers of the columns that stand in it
-- @param texts, ends  of below_rows(), where they stand in it
local function element(o, body, which, class, caption, texts, ends)
   local head, lines = {}, {}
   for k, i in ipairs(which) do
      head[k] = heading(o.columns[i])
   end
   for k in ipairs(o.rows) do
      local below = texts and texts[k]
      lines[#lines + 1] = h.tr { class = below and "more" or nil, tables.map(which, function(i)
         return body[k][i]
      end) }
      lines[#lines + 1] = below and note(which, below) or nil
   end
   for k, text in ipairs(ends or {}) do
      lines[#lines + 1] = note(which, text, LETTERS:sub(k, k))
   end
   return h.table { class = class, h.caption { caption }, h.thead { h.tr { head } }, "\n", h.tbody { lines } }
end

-- The column of tests is not needed where the caption names the one test.
local function without_test(o)
   local first, second = o.columns[1], o.columns[2]
   local same = o.names_test and o.rows[2] and first.path == "test" and second.id
   for _, row in ipairs(same and o.rows or {}) do
      same = same and first[3](row) == first[3](o.rows[1])
   end
   return same and { unpack(o.columns, 2) } or o.columns
end

--- A table. One that is too wide for a page on its side becomes several, one below the other.
-- @param o.caption  what it shows
-- @param o.names_test  whether the caption names the test of its rows, if they are of one
-- @param o.columns, o.rows
-- @param o.class    further class
-- @param o.below    function(row) -> text of a line of its own under the row, or nil
function M.build(o)
   o.columns = without_test(o)
   local texts, letters, ends = below_rows(o)
   local body = tables.map(o.rows, function(row, i)
      return cells(o.columns, row, letters[i])
   end)
   local parts, class = parts_of(o.columns, widths(o.columns, body), o.class == "small" and TRIALS or ASIDE)
   class = o.class and class and o.class .. " " .. class or o.class or class
   return tables.map(parts or { range(1, #o.columns) }, function(which, k)
      local caption = parts and ("%s (%d of %d)"):format(o.caption, k, #parts) or o.caption
      return h.div {
         tabindex = 0, -- what does not fit is reached by keys, too
         class = "scroll" .. (#o.rows <= SHORT and " short" or ""),
         element(o, body, which, class, caption, k == 1 and texts, k == #(parts or { 1 }) and ends),
      }
   end)
end

--- A table of rows of a record.
-- @param o  { record, name of the table, rows } and what build() takes
function M.of(o)
   o.rows = o[3]
   o.columns = show.columns(o[1], o[2], o.rows)
   return M.build(o)
end

--- Reasons and warnings of a row, for its line below; nil without any.
function M.reasons(row)
   local list = { unpack(row.reasons or {}) }
   tables.append(list, row.warnings or {})
   return #list > 0 and table.concat(list, "; ") or nil
end

--- Names and their values, side by side.
-- @param list  of { name, content, full = whether it takes the whole width }; without content it is left out
function M.facts(list)
   local out = {}
   for _, fact in ipairs(list) do
      if fact[2] then
         out[#out + 1] = h.div { class = fact.full and "full" or nil, h.dt { fact[1] }, h.dd { fact[2] } }
      end
   end
   return h.dl { class = "facts", out }
end

--- Definitions of words, in a list.
-- @param list  of { word, sentence }
function M.definitions(list)
   local items = tables.map(list, function(one) return h.li { h.b { one[1] }, ": ", one[2] } end)
   return h.ul { items }
end

return M
