-- SPDX-License-Identifier: BSD-3-Clause

--- Bar charts of block characters, for terminals that can show them.
local uv = require "luv"

local M = {}

local WIDTH = 40
local FULL = "█"
local EIGHTHS = { "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

--- Whether standard output is a terminal whose locale is UTF-8.
function M.wanted()
   for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
      local value = os.getenv(name)
      if value and value ~= "" then
         return uv.guess_handle(1) == "tty" and value:lower():find "utf%-?8" ~= nil
      end
   end
   return false
end

--- One bar, padded to its full width.
-- @param share  0..1 of it
function M.bar(share)
   local eighths = math.floor(math.max(0, math.min(share, 1)) * WIDTH * 8 + 0.5)
   local full, part = math.floor(eighths / 8), eighths % 8
   return FULL:rep(full) .. (EIGHTHS[part] or "") .. (" "):rep(WIDTH - full - (part > 0 and 1 or 0))
end

--- A chart of percentages.
-- @param lines  list of { label, percent }
-- @return its text; empty without lines
function M.chart(lines)
   local widest, out = 0, {}
   for _, line in ipairs(lines) do
      widest = math.max(widest, #line[1])
   end
   for i, line in ipairs(lines) do
      local space = (" "):rep(widest - #line[1])
      out[i] = ("%s%s  %s %6.2f %%\n"):format(space, line[1], M.bar(line[2] / 100), line[2])
   end
   return table.concat(out)
end

return M
