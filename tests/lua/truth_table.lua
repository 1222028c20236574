-- SPDX-License-Identifier: BSD-3-Clause

--- A table of docs/explanation/truth.md: what was measured, beside the truth and its bounds.
local units = require "framegauge.text.units"

local M = {}

local function whole(value)
   return units.format_count(math.floor(value + 0.5))
end

--- Does a check hold?
-- @param check  { what =, truth =, measured =, low =, high = }, numbers; or truth and measured words
function M.holds(check)
   if type(check.truth) == "string" then
      return check.measured == check.truth
   end
   return check.measured and check.measured >= check.low and check.measured <= check.high
end

--- Lines of Markdown.
-- @param checks  list
-- @param wrong   list to which each check is added that does not hold
-- @param number  function(value) -> text; nil: rounded to whole ones
function M.text(checks, wrong, number)
   local out = { "| figure | truth | measured | at least | at most |\n|---|--:|--:|--:|--:|" }
   local function text(value)
      return type(value) == "string" and value or value and (number or whole)(value) or ""
   end
   for _, check in ipairs(checks) do
      local holds = M.holds(check)
      wrong[#wrong + 1] = not holds and check or nil
      out[#out + 1] = ("| %s | %s | %s | %s | %s |"):format(check.what, text(check.truth),
         holds and text(check.measured) or "**" .. text(check.measured) .. "**", text(check.low),
         text(check.high))
   end
   return table.concat(out, "\n") .. "\n"
end

return M
