-- SPDX-License-Identifier: BSD-3-Clause

--- The appendix: every trial in the order they were made, those that did not count too.
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {}

local count, field, nanoseconds = words.count, words.field, words.nanoseconds

-- "1,937 + 1,937": what each direction lost.
local function lost_by_direction(trial)
   local parts = {}
   for i, direction in ipairs(trial.directions) do
      parts[i] = count(direction.lost)
   end
   return #parts > 1 and trial.lost > 0 and table.concat(parts, " + ") or nil
end

local function sum(key)
   return function(trial)
      local total = 0
      for _, direction in ipairs(trial.directions) do
         total = total + direction[key]
      end
      return count(total)
   end
end

-- "3 of 4": of the management queries.
local function answered(trial)
   local management = trial.management
   return management and ("%s of %s"):format(count(management.replies), count(management.queries)) or nil
end

local COLUMNS = {
   { "Trial", "", field "trial" },
   { "Phase", "", field "phase", left = true },
   { "Frame", "bytes", field "frame_size" },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Length", "s", field("duration_s", function(s) return ("%g"):format(s) end) },
   { "Load", "% of line", field("intended_percent", words.fixed(2)) },
   { "Intended", "frames/s", field("intended_fps", count) },
   { "Offered", "frames/s", field("offered_fps", count) },
   { "Sent", "frames", field("tx", count) },
   { "Received", "frames", field("rx", count) },
   { "Lost", "frames", field("lost", count) },
   { "by direction", "frames", lost_by_direction, optional = true },
   { "Queries", "answered", answered, optional = true },
   { "Twice", "frames", field("duplicates", count) },
   { "Reord.", "frames", field("reordered", count) },
   { "Late", "frames", field("late", count) },
   { "Unsent", "frames", sum "unsent" },
   { "Refused", "frames", field("refused", count) },
   { "Dropped", "frames", field("tester_drops", count) },
   { "Lag", "", field("worst_lag_ns", nanoseconds) },
   { "Poll gap", "", field("longest_poll_gap_ns", nanoseconds) },
   { "Verdict", "", field("verdict", words.quiet_verdict), left = true },
}

local function reasons(trial)
   return #trial.reasons > 0 and table.concat(trial.reasons, "; ") or nil
end

--- The section.
-- @param columns  where the trials are not of frames (framegauge.report.html.tables)
function M.body(trials, columns)
   local out = {}
   for i, group in ipairs(words.grouped(trials, "test")) do
      out[i] = tables.build {
         caption = ("%s: %s"):format(group.name, words.plural(#group.rows, "trial")), class = "small",
         columns = group.rows[1].directions and COLUMNS or columns, rows = group.rows, below = reasons,
      }
   end
   return out
end

return M
