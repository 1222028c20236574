-- SPDX-License-Identifier: BSD-3-Clause

--- Figures and words as the sections of the page share them.
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"

local M = {}

M.count, M.decimal, M.plural = format.count, format.decimal, format.plural

--- When a run began, to the minute; nil when that is not known.
-- @param moment  run.json, read
function M.begun(moment)
   return moment.started and (moment.started:gsub("T", " "):gsub(":%d%dZ$", " UTC"))
end

--- A time with the unit that suits.
function M.nanoseconds(ns)
   return (format.nanoseconds(ns):gsub("us$", "µs"))
end

local LOOK = {
   valid = "good", ["tester-limited"] = "warning", incomplete = "warning", invalid = "bad",
   pass = "good", fail = "bad", ["not-testable"] = "idle", ["not-applicable"] = "idle", met = "good",
   ["not met"] = "bad", ["not decided"] = "warning",
}

--- A verdict in its colour, which is not all that tells it.
function M.verdict(word)
   return h.span { class = "verdict " .. (LOOK[word] or "warning"), word }
end

--- The same where all is as it should be in most rows, and only what is not should stand out.
function M.quiet_verdict(word)
   return word == "valid" and word or M.verdict(word)
end

--- A function for a column: the field of a row, written so.
-- @param key    of the row; "a.b" looks into a
-- @param write  value -> text (default: tostring)
function M.field(key, write)
   return function(row)
      local value = row
      for part in key:gmatch "[^.]+" do
         value = type(value) == "table" and value[part] or nil
      end
      return value ~= nil and (write or tostring)(value) or nil
   end
end

--- A number with so many decimals.
function M.fixed(decimals)
   return function(value)
      return format.decimal(value, decimals)
   end
end

--- Megabits per second.
function M.mbps(value)
   return format.decimal(value, value < 10000 and 2 or 1)
end

--- Nanoseconds as microseconds, the figure alone.
function M.microseconds(ns)
   return format.decimal(ns / 1e3, 2)
end

--- Nanoseconds as milliseconds, the figure alone.
function M.milliseconds(ns)
   return format.decimal(ns / 1e6, 3)
end

--- "both directions" or "east → west".
function M.direction(name)
   local from, to = tostring(name):match "^(.-)%->(.+)$"
   if from == to and from then
      return from .. " and back"
   end
   return name == "both" and "both" or (tostring(name):gsub("%->", " → "))
end

--- A share as a small bar with its figure.
function M.share(percent)
   return h.span {
      class = "share", ("%.2f"):format(percent),
      h.svg {
         viewBox = "0 0 50 8", ["aria-hidden"] = "true",
         h.rect { class = "whole", width = 50, height = 8 },
         h.rect { class = "part", width = ("%.1f"):format(math.min(percent, 100) / 2), height = 8 },
      },
   }
end

--- The rows of a result by the value of a key, in the order they first appear.
-- @return list of { name = value, rows }
function M.grouped(rows, key)
   local groups, by_name = {}, {}
   for _, row in ipairs(rows) do
      local name = row[key]
      if not by_name[name] then
         by_name[name] = { name = name, rows = {} }
         groups[#groups + 1] = by_name[name]
      end
      table.insert(by_name[name].rows, row)
   end
   return groups
end

--- The row of a list that has the largest value of a key; nil when none has any.
function M.largest(rows, key)
   local found
   for _, row in ipairs(rows) do
      if row[key] and (not found or row[key] > found[key]) then
         found = row
      end
   end
   return found
end

--- "64 bytes, east → west"
function M.subject(row)
   return ("%d bytes, %s"):format(row.frame_size, M.direction(row.direction))
end

--- The frame sizes of some rows, ascending, each once.
function M.sizes(rows)
   local list, seen = {}, {}
   for _, row in ipairs(rows) do
      if not seen[row.frame_size] then
         seen[row.frame_size] = true
         list[#list + 1] = row.frame_size
      end
   end
   table.sort(list)
   return list
end

--- The rows ordered by frame size, for a line that runs from left to right.
function M.by_size(rows)
   local list = { unpack(rows) }
   table.sort(list, function(a, b)
      return a.frame_size < b.frame_size
   end)
   return list
end

-- "512, 1024 bytes", "64 bytes, east → west": what several rows are about.
local function subjects(rows)
   local directions = M.grouped(rows, "direction")
   local sizes = table.concat(M.sizes(rows), ", ")
   return #directions == 1 and sizes .. " bytes, " .. M.direction(rows[1].direction) or sizes .. " bytes"
end

--- Why the rows of a test have their verdicts, each reason once; false when all are valid.
function M.reasons(rows)
   local all, items = {}, {}
   for _, row in ipairs(rows) do
      for _, reason in ipairs(row.reasons or {}) do
         all[#all + 1] = {
            key = row.verdict .. reason, verdict = row.verdict, reason = reason,
            frame_size = row.frame_size, direction = row.direction,
         }
      end
   end
   for i, group in ipairs(M.grouped(all, "key")) do
      local first = group.rows[1]
      items[i] = h.li { subjects(group.rows), ": ", M.verdict(first.verdict), " – ", first.reason }
   end
   return #items > 0 and h.ul { class = "reasons", items }
end

return M
