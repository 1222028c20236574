-- SPDX-License-Identifier: BSD-3-Clause

--- Checks of what testers that were killed have left changed on the host.
local finding = require "framegauge.doctor.finding"
local ansi = require "framegauge.text.ansi"
local grid = require "framegauge.text.grid"
local plain = require "framegauge.text.plain"
local tables = require "framegauge.core.tables"
local undo = require "framegauge.core.undo"

local M = {}

--- What each of them left.
function M.changes(machine)
   local rows = {}
   if machine.root == "" then
      undo.each_left(function(journal)
         rows[#rows + 1] = finding.warning("left behind",
            ("by '%s', which was killed: %s"):format(journal.command,
               table.concat(tables.field(journal.steps, "problem"), "; ")),
            "the host is not as it was before that test", "framegauge doctor --restore")
      end)
   end
   return rows
end

local COLUMNS = {
   { "Process", "", function(row) return tostring(row.pid) end },
   { "State", "", function(row) return row.lives and "at work" or "killed" end, left = true },
   { "Command", "", function(row) return row.command end, left = true },
   { "Changed", "", function(row) return row.changed end, left = true },
   { "Put back by", "", function(row)
      return row.lives and "its end" or "framegauge doctor --restore"
   end, left = true },
}

--- The table of `doctor --changes`: what this user's testers have changed at present.
function M.table()
   local rows = {}
   undo.each(function(journal)
      for _, step in ipairs(journal.steps) do
         rows[#rows + 1] = setmetatable({ changed = plain.text(step.problem) }, { __index = journal })
      end
   end)
   return rows[1] and grid.text(COLUMNS, rows, ansi.new(false))
      or "Nothing on this host is changed by a tester of this user.\n"
end

M.checks = { M.changes }

return M
