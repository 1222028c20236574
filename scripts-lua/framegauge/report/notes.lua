-- SPDX-License-Identifier: BSD-3-Clause

--- What one must know to believe the tables of RFC 2544's tests, in sentences.
local calibration = require "framegauge.report.calibration"
local fields = require "framegauge.report.fields"
local format = require "framegauge.report.format"
local said = require "framegauge.report.said"

local M = {}

local count = format.count

local function direction_note(rows)
   if rows[1] and rows[1].direction == "both" then
      return "Both directions were loaded at once; figures are per direction."
   end
end

-- @param key  where a row has what was measured
local function latency_note(result, rows, key)
   local first
   for _, row in ipairs(rows) do
      first = first or row[key]
   end
   return first and ("Latency: %s, stamped by %s, error at most %s.\n%s"):format(first.definition,
      first.source, format.nanoseconds(first.error_bound_ns), calibration.in_words(result.calibration))
end

local function evidence_note(rows)
   local worst = { late = 0, refused = 0, tester_drops = 0, worst_lag_ns = 0, longest_poll_gap_ns = 0 }
   for _, row in ipairs(rows) do
      for key, value in pairs(row.evidence) do
         worst[key] = math.max(worst[key], value)
      end
   end
   if not rows[1] then
      return nil
   end
   local note = "Tester in the deciding trials: at worst %s late, %s refused, %s dropped, lag %s, gap %s."
   return note:format(count(worst.late), count(worst.refused), count(worst.tester_drops),
      format.nanoseconds(worst.worst_lag_ns), format.nanoseconds(worst.longest_poll_gap_ns))
end

local function irregular_note(rows)
   for _, row in ipairs(rows) do
      if row.regular == false and row.limited_by == "maximum" then
         return "Irregular (RFC 9971): the highest load passed, so nothing bounds the result from above."
      end
   end
   return nil
end

local TITLES = {
   latency = "Latency, ", frame_loss = "Frame loss, ", back_to_back = "Back-to-back, ",
   system_recovery = "System recovery, ", reset = "Reset, ", bursty_traffic = "Bursty traffic, ",
}

-- Rows that have the same verdict for the same reason: list of { row = the first, reason =, rows = by size }.
local function by_reason(rows)
   local groups, by_key = {}, {}
   for _, row in ipairs(rows) do
      for _, reason in ipairs(row.reasons) do
         local key = table.concat({ row.verdict, row.goal or "", reason }, "\n")
         if not by_key[key] then
            by_key[key] = { row = row, reason = reason, sizes = {}, rows = {} }
            groups[#groups + 1] = by_key[key]
         end
         local group, size = by_key[key], row.frame_size
         if not group.rows[size] then
            group.rows[size], group.sizes[#group.sizes + 1] = {}, size
         end
         table.insert(group.rows[size], row)
      end
   end
   return groups
end

-- The frame sizes of a group; with the direction where it is about one of them only.
local function sizes_in_words(group, rows)
   local words = {}
   for i, size in ipairs(group.sizes) do
      local all = 0
      for _, row in ipairs(rows) do
         all = all + (row.frame_size == size and row.goal == group.row.goal and 1 or 0)
      end
      words[i] = #group.rows[size] < all and ("%d (%s)"):format(size, group.rows[size][1].direction) or size
   end
   return table.concat(words, ", ")
end

-- Each reason once, with the frame sizes it is about.
local function verdict_notes(test, rows, add)
   for _, group in ipairs(by_reason(rows)) do
      add(("%s%s bytes%s %s %s: %s."):format(TITLES[test] or "", sizes_in_words(group, rows),
         group.row.goal and ", " .. group.row.goal .. "," or "", #group.sizes == 1 and "is" or "are",
         group.row.verdict:gsub("%-a", " a"), group.reason))
   end
end

--- All of them.
-- @param add    function(sentence)
function M.of(result, add)
   local rows = result.results.throughput or {}
   add(direction_note(rows))
   if result.results.latency then
      add(latency_note(result, result.results.latency, "every_frame"))
   else
      add(latency_note(result, rows, "latency"))
   end
   add(calibration.beyond_in_words(result.calibration))
   add(evidence_note(rows))
   add(irregular_note(rows))
   for _, sentence in ipairs(said.of(result.trials)) do
      add(sentence)
   end
   for _, test in ipairs(fields.TESTS) do
      verdict_notes(test, result.results[test] or {}, add)
   end
end

return M
