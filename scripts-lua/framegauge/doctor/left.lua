-- SPDX-License-Identifier: BSD-3-Clause

--- Checks of what testers that were killed have left changed on the host.
local tables = require "framegauge.core.tables"
local undo = require "framegauge.core.undo"

local M = {}

--- What each of them left.
function M.changes(machine)
   local rows = {}
   if machine.root == "" then
      undo.each_left(function(journal)
         rows[#rows + 1] = {
            state = "warning", topic = "left behind",
            finding = ("by '%s', which was killed: %s"):format(journal.command, table.concat(tables.map(
               journal.steps, function(step) return step.problem end), "; ")),
            effect = "the host is not as it was before that test",
            fix = "framegauge doctor --restore",
         }
      end)
   end
   return rows
end

M.checks = { M.changes }

return M
