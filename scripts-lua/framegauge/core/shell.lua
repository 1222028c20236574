-- SPDX-License-Identifier: BSD-3-Clause

--- Commands as a user types or copies them: what a shell would split or replace is in quotes.
local tables = require "framegauge.core.tables"

local M = {}

--- A word of a command, such as a path. @return it, in quotes where a shell needs them
function M.word(text)
   return text:find "^[%w_@%%+=:,./-]+$" and text or "'" .. text:gsub("'", "'\\''") .. "'"
end

--- A command. @param words  its list
function M.command(words)
   return table.concat(tables.map(words, M.word), " ")
end

return M
