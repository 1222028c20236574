-- SPDX-License-Identifier: BSD-3-Clause

--- Tables of a report, of columns as framegauge.text.show makes them; what is words on a terminal may be an
-- element here. The first column names the row.
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"

local M = {}

--- What stands where nothing is known.
M.DASH = "–"

-- How the text of a column's kind looks.
local LOOKS = {
   direction = formatters.direction, validity = formatters.verdict, quiet = formatters.quiet_verdict,
   share = formatters.share, time = formatters.micro,
}

local function heading(column)
   return h.th {
      scope = "col", class = column.left and "left" or nil, column[1],
      column[2] ~= "" and h.span { class = "unit", column[2] } or false,
   }
end

local function shown(column, row)
   local value = column[3](row)
   if type(value) == "string" then
      value = value:gsub("^>=", "at least "):gsub("^<=", "at most ")
      return LOOKS[column.kind] and LOOKS[column.kind](value) or value
   end
   return value or M.DASH
end

local function cells(columns, row)
   local out = {}
   for i, column in ipairs(columns) do
      local class = column.left and "left" or nil
      out[i] = i == 1 and h.th { scope = "row", class = class, shown(column, row) }
         or h.td { class = class, shown(column, row) }
   end
   return out
end

-- Rows that a page of paper should not part.
local SHORT = 18

--- A table.
-- @param o.caption  what it shows
-- @param o.columns, o.rows
-- @param o.class    further class
-- @param o.below    function(row) -> content of a line of its own under the row, or nil
function M.build(o)
   local head, body = {}, {}
   for i, column in ipairs(o.columns) do
      head[i] = heading(column)
   end
   for _, row in ipairs(o.rows) do
      local below = o.below and o.below(row)
      body[#body + 1] = h.tr { class = below and "more" or nil, cells(o.columns, row) }
      body[#body + 1] = below and h.tr { class = "below", h.td { colspan = #o.columns, below } } or nil
   end
   return h.div {
      class = #o.rows <= SHORT and "scroll short" or "scroll",
      h.table {
         class = o.class, h.caption { o.caption }, h.thead { h.tr { head } }, "\n", h.tbody { body },
      },
   }
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
   for _, warning in ipairs(row.warnings or {}) do
      list[#list + 1] = warning
   end
   return #list > 0 and table.concat(list, "; ") or nil
end

--- Names and what they are, side by side.
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

--- What words mean, in a list.
-- @param list  of { word, sentence }
function M.definitions(list)
   local items = tables.map(list, function(one) return h.li { h.b { one[1] }, ": ", one[2] } end)
   return h.ul { items }
end

return M
