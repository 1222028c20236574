-- SPDX-License-Identifier: BSD-3-Clause

--- Aligned text.
local M = {}

--- Rows as lines of right-aligned columns with two spaces between them.
-- @param rows  lists of cells (strings or numbers), all of the same length; the first row is the heading
-- @param left  true: the first column is text, aligned to the left; or a list of which columns are
-- @return lines, each with its newline
function M.text(rows, left)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, #tostring(cell))
      end
   end
   local lines = {}
   left = left == true and { true } or left or {}
   for r, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         local blanks = (" "):rep(widths[i] - #tostring(cell))
         cells[i] = left[i] and cell .. blanks or blanks .. cell
      end
      lines[r] = table.concat(cells, "  "):gsub("%s+$", "") .. "\n"
   end
   return table.concat(lines)
end

return M
