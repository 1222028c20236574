-- SPDX-License-Identifier: BSD-3-Clause

--- What a run is going to do, for `run --dry-run`: every trial that can be foreseen, and the time it takes.
local ansi = require "framegauge.text.ansi"
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local units = require "framegauge.text.units"

local M = {}

local clock, count = format.clock, format.count

local function lengths(row)
   if #row.expected == 0 then
      return "-"
   end
   local list, seen = {}, {}
   for _, trial in ipairs(row.expected) do
      local text = units.format_time(trial.seconds)
      if not seen[text] then
         seen[text], list[#list + 1] = true, text
      end
   end
   return #list <= 3 and table.concat(list, ", ") or list[1] .. " ... " .. list[#list]
end

-- Loads that do not depend on the device, all or the first of them.
local function loads(row)
   local first, last = row.expected[1], row.expected[row.known]
   if #row.expected == 0 then
      return "-"
   elseif row.known == 0 then
      return "by what was found before"
   elseif row.known > 1 and first.fps ~= last.fps then
      return ("%s down to %s"):format(count(first.fps), count(last.fps))
   end
   return count(first.fps) .. (row.known < row.most and ", then by the outcome" or "")
end

local COLUMNS = {
   { "", "test", function(row) return row.test:match "[^.]+$" end, left = true },
   { "frame", "size", function(row) return tostring(row.frame_size) end },
   { "trials", "expected", function(row) return count(#row.expected) end },
   { "", "at least", function(row) return count(row.least) end },
   { "", "at most", function(row) return count(row.most) end },
   { "", "time", function(row) return clock(row.expected.seconds) end },
   { "", "at most", function(row) return clock(row.most_s) end },
   { "", "lengths", lengths, left = true },
   { "", "loads, frames per second", loads, left = true },
}

local function totals(rows)
   local sum = { trials = 0, least = 0, most = 0, seconds = 0, least_s = 0, most_s = 0 }
   for _, row in ipairs(rows) do
      sum.trials, sum.seconds = sum.trials + #row.expected, sum.seconds + row.expected.seconds
      for _, key in ipairs { "least", "most", "least_s", "most_s" } do
         sum[key] = sum[key] + row[key]
      end
   end
   return sum
end

--- The text.
-- @param rows   framegauge.methods.rfc2544.estimate's outlook
-- @param notes  lines on what had to be assumed
function M.text(plan, rows, notes)
   local sum, o = totals(rows), plan.rfc2544
   local lines = { grid.text(COLUMNS, rows, ansi.new(false)) }
   local function add(...)
      lines[#lines + 1] = string.format(...) .. "\n"
   end
   add("Each trial waits besides: %s for learning, %s for the drain, %s to settle; the times include it.",
      units.format_time(o.learning_wait), units.format_time(o.drain), units.format_time(o.settle))
   add("At least and at most: of devices that carry from 1 %% to all of what is tried, with no trial to be "
      .. "repeated.")
   for _, note in ipairs(notes) do
      add("%s", note)
   end
   add("")
   add("Estimate: %s (%s to %s) in %s (%s to %s).", format.plural(sum.trials, "trial"), count(sum.least),
      count(sum.most), clock(sum.seconds), clock(sum.least_s), clock(sum.most_s))
   return table.concat(lines)
end

return M
