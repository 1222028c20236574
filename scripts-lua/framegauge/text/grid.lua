-- SPDX-License-Identifier: BSD-3-Clause

--- Tables on a terminal, of columns as framegauge.text.show makes them. Figures stand right, words left; a
-- verdict has its colour.
local width = require("framegauge.text.columns").width
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

local COLOURS = { good = "good", warning = "warning", bad = "bad", idle = "dim" }

-- A terminal may know no Greek.
local function plain(text)
   return (text:gsub("µ", "u"):gsub("…", "..."))
end

local function cells_of(columns, rows)
   local lines, widths = {}, {}
   for i, column in ipairs(columns) do
      widths[i] = math.max(width(plain(column[1])), width(plain(column[2])))
   end
   for _, row in ipairs(rows) do
      local line = {}
      for i, column in ipairs(columns) do
         line[i] = plain(column[3](row) or "-")
         widths[i] = math.max(widths[i], width(line[i]))
      end
      lines[#lines + 1] = line
   end
   return lines, widths
end

-- Colour takes no room, so the text is painted after its width was counted.
local function cell(text, room, column, painter)
   local space = (" "):rep(room - width(text))
   local painted = painter(text, column)
   return column.left and painted .. space or space .. painted
end

local function rule(widths)
   local dashes = tables.map(widths, function(room) return ("-"):rep(room) end)
   return table.concat(dashes, "  ")
end

--- A table as text.
-- @param paint  framegauge.text.ansi
function M.text(columns, rows, paint)
   local lines, widths = cells_of(columns, rows)
   local out = {}
   local function add(cells, painter)
      for i, column in ipairs(columns) do
         cells[i] = cell(cells[i], widths[i], column, painter)
      end
      out[#out + 1] = (table.concat(cells, "  "):gsub("%s+$", ""))
   end
   for heading = 1, 2 do
      local cells = tables.map(columns, function(column) return plain(column[heading]) end)
      if table.concat(cells) ~= "" then
         add(cells, function(text)
            return text
         end)
      end
   end
   out[#out + 1] = rule(widths)
   for _, cells in ipairs(lines) do
      add(cells, function(word, column)
         local look = column.kind == "validity" and COLOURS[verdict.look(word)]
         return look and paint(word, look) or word
      end)
   end
   return table.concat(out, "\n") .. "\n"
end

return M
