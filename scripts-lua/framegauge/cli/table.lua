-- SPDX-License-Identifier: BSD-3-Clause

--- Aligned text.
local M = {}

--- Rows as lines of right-aligned columns with two spaces between them.
-- @param rows  lists of cells (strings or numbers), all of the same length; the first row is the heading
-- @param left  true: the first column is text, aligned to the left
-- @return lines, each with its newline
function M.text(rows, left)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, #tostring(cell))
      end
   end
   local lines = {}
   for r, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         cells[i] = ("%" .. (left and i == 1 and "-" or "") .. widths[i] .. "s"):format(cell)
      end
      lines[r] = table.concat(cells, "  ") .. "\n"
   end
   return table.concat(lines)
end

return M
