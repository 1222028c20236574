-- SPDX-License-Identifier: BSD-3-Clause

--- One line for each type of stream, as RFC 2544 wants its reports: for a reader, a modifier belongs to what
-- the direction says.
local M = {}

local function named(row)
   if not row.modifier then
      return row
   end
   return setmetatable({ direction = row.direction .. ", " .. row.modifier }, { __index = row })
end

--- A result whose rows are named by direction and modifier.
-- @param result  as it is; not changed
function M.of(result)
   local results = {}
   for test, rows in pairs(result.results) do
      results[test] = {}
      for i, row in ipairs(rows) do
         results[test][i] = named(row)
      end
   end
   return setmetatable({ results = results }, { __index = result })
end

return M
