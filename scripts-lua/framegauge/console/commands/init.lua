-- SPDX-License-Identifier: BSD-3-Clause

--- All commands of the console, in the order of `help`. console/command.lua describes a row.
local M = { list = {}, by_name = {}, looking = {} }

for _, part in ipairs { "look", "traffic", "record", "tests", "session" } do
   for _, row in ipairs(require("framegauge.console.commands." .. part)) do
      M.list[#M.list + 1] = row
      M.by_name[row.name], row.arguments = row, row.arguments or {}
      M.looking[#M.looking + 1] = row.looks and row.name or nil
   end
end

return M
