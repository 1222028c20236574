-- SPDX-License-Identifier: BSD-3-Clause

--- All commands of the console, in the order of `help`. console/command.lua describes a row.
local tables = require "framegauge.core.tables"

local M = { list = {}, by_name = {}, looking = {} }

for _, part in ipairs { "look", "traffic", "record", "tests", "session" } do
   for _, row in ipairs(require("framegauge.console.commands." .. part)) do
      M.list[#M.list + 1] = tables.named(row, { "name", "summary", "help" })
      M.by_name[row.name], row.arguments = row, row.arguments or {}
      for _, argument in ipairs(row.arguments) do
         tables.named(argument, { "name", "help" })
      end
      M.looking[#M.looking + 1] = row.looks and row.name or nil
   end
end

return M
