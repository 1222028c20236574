-- SPDX-License-Identifier: BSD-3-Clause

--- "Did you mean": the known word nearest to a misspelt one.
local M = {}

--- Edit distance: letters to insert, delete, replace or swap with their neighbour.
function M.distance(a, b)
   local before
   local previous, row = {}, {}
   for j = 0, #b do
      row[j] = j
   end
   for i = 1, #a do
      before, previous, row = previous, row, { [0] = i }
      for j = 1, #b do
         local same = a:byte(i) == b:byte(j)
         row[j] = math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same and 0 or 1))
         if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
            row[j] = math.min(row[j], before[j - 2] + 1)
         end
      end
   end
   return row[#b]
end

--- The word nearest to another, or nil when none is near enough to be meant.
-- @param word   what was written
-- @param known  list of the words there are
function M.word(word, known)
   local best, best_distance
   for _, candidate in ipairs(known) do
      local distance = M.distance(word:lower(), candidate:lower())
      if candidate:sub(1, #word) == word then
         distance = math.min(distance, 1)
      end
      if distance <= math.max(1, math.floor(#candidate / 3)) and (not best or distance < best_distance) then
         best, best_distance = candidate, distance
      end
   end
   return best
end

--- "; did you mean 'run'?", or "" when nothing is near.
function M.hint(word, known)
   local near = M.word(word, known)
   return near and ("; did you mean '%s'?"):format(near) or ""
end

return M
