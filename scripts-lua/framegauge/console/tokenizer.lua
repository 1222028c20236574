-- SPDX-License-Identifier: BSD-3-Clause

--- The words of a command line: `rate east "1 Gbps L1" seconds=10`.
--
-- Blanks separate words, quotes of either kind keep them together. A word with an equals sign behind a name
-- is named; the name may have dots, as keys of a plan have.
local M = {}

-- One word from `at` on: its text and the place behind it; or nil and what is wrong.
local function take(text, at)
   local parts, quoted = {}, false
   while at <= #text do
      local c = text:sub(at, at)
      if c:find "%s" then
         break
      elseif c == '"' or c == "'" then
         local close = text:find(c, at + 1, true)
         if not close then
            return nil, "a quote is not closed"
         end
         parts[#parts + 1], quoted = text:sub(at + 1, close - 1), true
         at = close + 1
      else
         parts[#parts + 1] = c
         at = at + 1
      end
   end
   return table.concat(parts), at, quoted
end

--- Split a text into words.
-- @return list of { text =, name = nil or the name before the equals sign, value = what is behind it, first
--              =, last = where it stands in the text }; or nil and what is wrong
function M.split(text)
   local list, at = {}, 1
   while true do
      at = text:find("%S", at)
      if not at then
         return list
      end
      local word, next_at, quoted = take(text, at)
      if not word then
         return nil, next_at
      end
      local name, value = word:match "^([%a_][%w_.%-]*)=(.*)$"
      if quoted and text:sub(at, at):find "[\"']" then
         name, value = nil, nil
      end
      list[#list + 1] = { text = word, name = name, value = value, first = at, last = next_at - 1 }
      at = next_at
   end
end

return M
