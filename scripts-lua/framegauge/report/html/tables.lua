-- SPDX-License-Identifier: BSD-3-Clause

--- Tables of a report: what a column shows, said once.
--
-- A column: { heading, unit, function(row) -> text, element or nil }, with left = true for words; figures
-- stand right; optional = true for one that is left out when it has nothing to say. The first column names
-- the row.
local h = require "framegauge.report.html.element"

local M = {}

--- What stands where nothing is known.
M.DASH = "–"

local function heading(column)
   return h.th {
      scope = "col", class = column.left and "left" or nil, column[1],
      column[2] ~= "" and h.span { class = "unit", column[2] } or false,
   }
end

local function cells(columns, row)
   local out = {}
   for i, column in ipairs(columns) do
      local value = column[3](row)
      local class = column.left and "left" or nil
      if i == 1 then
         out[i] = h.th { scope = "row", class = class, value or M.DASH }
      else
         out[i] = h.td { class = class, value or M.DASH }
      end
   end
   return out
end

-- The columns that have something to say of these rows.
local function telling(columns, rows)
   local list = {}
   for _, column in ipairs(columns) do
      local keep = not column.optional
      for i = 1, keep and 0 or #rows do
         local value = column[3](rows[i])
         keep = keep or (value ~= nil and value ~= false)
      end
      list[#list + 1] = keep and column or nil
   end
   return list
end

-- Rows that a page of paper should not part.
local SHORT = 18

--- A table.
-- @param o.caption  what it shows
-- @param o.columns, o.rows
-- @param o.class    further class
-- @param o.below    function(row) -> content of a line of its own under the row, or nil
function M.build(o)
   local head, body, columns = {}, {}, telling(o.columns, o.rows)
   for i, column in ipairs(columns) do
      head[i] = heading(column)
   end
   for _, row in ipairs(o.rows) do
      local below = o.below and o.below(row)
      body[#body + 1] = h.tr { class = below and "more" or nil, cells(columns, row) }
      body[#body + 1] = below and h.tr { class = "below", h.td { colspan = #columns, below } } or nil
   end
   return h.div {
      class = #o.rows <= SHORT and "scroll short" or "scroll",
      h.table {
         class = o.class, h.caption { o.caption }, h.thead { h.tr { head } }, "\n", h.tbody { body },
      },
   }
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
   local items = {}
   for i, one in ipairs(list) do
      items[i] = h.li { h.b { one[1] }, ": ", one[2] }
   end
   return h.ul { items }
end

return M
