-- SPDX-License-Identifier: BSD-3-Clause

--- Colour for those who can see it: on a terminal, unless NO_COLOR is set (no-color.org).
local M = {}

local CODES = { good = "32", warning = "33", bad = "31", dim = "2", bold = "1" }

--- A function (text, how) -> text; how is good, warning, bad, dim or bold.
-- @param wanted  false: leave text as it is
function M.new(wanted)
   local no_color = os.getenv "NO_COLOR"
   if not wanted or (no_color and no_color ~= "") then
      return function(text)
         return text
      end
   end
   return function(text, how)
      return "\27[" .. CODES[how] .. "m" .. text .. "\27[0m"
   end
end

return M
