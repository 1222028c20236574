-- SPDX-License-Identifier: BSD-3-Clause

--- Text in columns: tables of cells, names with their meaning, and wrapped lines.
local M = {}

local WIDTH = 92
local WIDEST_NAME = 44

--- Columns that a text takes on a terminal: characters of UTF-8, not bytes.
function M.width(text)
   return #tostring(text):gsub("[\128-\191]", "")
end

--- Rows as lines of right-aligned columns with two spaces between them.
-- @param rows  lists of cells (strings or numbers), all of the same length; the first row is the heading
-- @param left  true: the first column is text, aligned to the left; or a list of the columns that are
-- @return lines, each with its newline
function M.text(rows, left)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, M.width(cell))
      end
   end
   local lines = {}
   left = left == true and { true } or left or {}
   for r, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         local blanks = (" "):rep(widths[i] - M.width(cell))
         cells[i] = left[i] and cell .. blanks or blanks .. cell
      end
      lines[r] = table.concat(cells, "  "):gsub("%s+$", "") .. "\n"
   end
   return table.concat(lines)
end

--- Lines that are wider than a width wrapped between words, with their indentation.
-- @param width  default: the width of the help on the command line
-- @return text, its last line ended
function M.wrapped(text, width)
   width = width or WIDTH
   local out = {}
   for line in text:gmatch "([^\n]*)\n?" do
      local indent = line:match "^ *"
      while #line > width do
         local cut = line:sub(1, width + 1):match "^.*() "
         if not cut or cut <= #indent then
            break
         end
         out[#out + 1] = line:sub(1, cut - 1)
         line = indent .. line:sub(cut + 1)
      end
      out[#out + 1] = line
   end
   return (table.concat(out, "\n"):gsub("\n+$", "\n"))
end

--- Two columns: names padded to the widest, texts wrapped beside them, or below a name that is too wide.
-- @param width  of both; default: the width of the help on the command line
function M.described(rows, width)
   local widest, most = 0, width or WIDTH
   for _, row in ipairs(rows) do
      widest = #row[1] <= math.min(WIDEST_NAME, most / 2) and math.max(widest, #row[1]) or widest
   end
   local lines = {}
   for _, row in ipairs(rows) do
      local line = ("  %-" .. widest .. "s "):format(row[1])
      if #row[1] > widest then
         lines[#lines + 1] = "  " .. row[1]
         line = (" "):rep(widest + 3)
      end
      for word in row[2]:gmatch("%S+") do
         if #line + #word >= most then
            lines[#lines + 1] = line
            line = (" "):rep(widest + 3)
         end
         line = line .. " " .. word
      end
      lines[#lines + 1] = line
   end
   return table.concat(lines, "\n") .. "\n"
end

return M
