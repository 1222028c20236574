-- SPDX-License-Identifier: BSD-3-Clause

--- A replay: what was sent and when, and what arrived of it; a row for each time.
local Plot = require "framegauge.report.chart.plot"
local csv = require "framegauge.report.csv"
local fields = require "framegauge.report.replay.fields"
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"
local outcome = require "framegauge.report.outcome"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = {}

M.NAME = "Replay"
M.STANDARD = nil -- there is none for it
M.ORDER = fields.ORDER

M.published = fields.published

local count, decimal, field = format.count, format.decimal, words.field

function M.rows(results)
   return results.replay or {}
end

function M.test_names(result)
   return "replay of " .. result.plan.replay.file
end

-- Percentiles stand under names of their own in the CSV.
function M.csv(result)
   local columns, rows = { unpack(fields.CSV) }, {}
   for i, row in ipairs(M.rows(result.results)) do
      rows[i] = setmetatable({ behind_ns = {} }, { __index = row })
      for k, pair in ipairs(row.error_ns) do
         local key = ("p%g"):format(100 * pair[1]):gsub("%.", "_")
         rows[i].behind_ns[key], columns[#fields.CSV + k] = pair[2], "behind_ns." .. key
      end
   end
   return #rows > 0 and { { "replay.csv", csv.text(columns, rows) } } or {}
end

local function found(key)
   return function(row)
      local v = fields.verified(row)
      return v and count(v[key]) or "-"
   end
end

local function behind(share)
   return function(row)
      return decimal(fields.behind(row, share) / 1e3, 3)
   end
end

local COLUMNS = {
   { "", "direction", function(row) return row.direction end, left = true },
   { "sent", "frames", function(row) return count(row.frames) end },
   { "in", "s", function(row) return decimal(row.duration_s, 3) end },
   { "", "lost", found "lost" },
   { "out of", "order", found "reordered" },
   { "more than", "once", found "duplicates" },
   { "not sent", "so", found "foreign" },
   { "behind", "p50, us", behind(0.5) },
   { "", "p99, us", behind(0.99) },
   { "", "max, us", behind(1) },
   { "", "verdict", function(row) return row.verdict end, left = true, verdict = true },
}

function M.tables(result)
   return { { title = "Replay", columns = COLUMNS, rows = M.rows(result.results) } }
end

--- What one must know to believe the table.
function M.notes(result, add)
   local rows = M.rows(result.results)
   local row = rows[1]
   if not row then
      return
   end
   add(("Sent %s%s. Behind: departures behind their times."):format(row.setting.pace,
      fields.rewritten(row) ~= "" and "; rewritten: " .. fields.rewritten(row) or ""))
   if row.oversize > 0 then
      add(("%s left out: larger than max_frame, or no frames."):format(format.plural(row.oversize, "frame")))
   end
   for _, each in ipairs(rows) do
      for _, reason in ipairs(each.reasons) do
         add(("Trial %d: %s: %s."):format(each.trial, each.verdict, reason))
      end
   end
end

function M.suites(result)
   local cases = {}
   for i, row in ipairs(M.rows(result.results)) do
      cases[i] = outcome(row)
      cases[i].name = ("replay %d, %s"):format(i, row.direction)
      cases[i].seconds = row.duration_s
   end
   return { { name = "replay", cases = cases } }
end

--- Figures to remember: those of the last time.
function M.tiles(result)
   local rows = M.rows(result.results)
   local row = rows[#rows]
   if not row then
      return {}
   end
   local list, v = { { "Sent", count(row.frames), "frames", row.setting.pace } }, fields.verified(row)
   if v then
      list[#list + 1] = {
         "Arrived as sent", count(v.same), "frames",
         v.whole and "all, in order" or ("%s lost"):format(count(v.lost)),
      }
   end
   list[#list + 1] = {
      "Behind the schedule", decimal(fields.behind(row, 0.99) / 1e3, 3), "us", "99 % of the frames",
   }
   return list
end

local HTML = {
   { "Direction", "", function(row) return words.direction(row.direction) end, left = true },
   { "Trial", "", field "trial" },
   { "Sent", "frames", field("frames", count) },
   { "Same", "", found "same" },
   { "Lost", "", found "lost" },
   { "Out of order", "RFC 4737", found "reordered" },
   { "More than once", "", found "duplicates" },
   { "Not sent so", "", found "foreign" },
   { "Of neighbours", "ARP …", found "talk" },
   { "Verdict", "", function(row) return words.verdict(row.verdict) end, left = true },
}

local function reasons(row)
   return #row.reasons > 0 and table.concat(row.reasons, "; ") or nil
end

function M.summary(result)
   return tables.build {
      caption = "What arrived", columns = HTML, rows = M.rows(result.results), below = reasons,
   }
end

local TIMING = {
   { "Trial", "", field "trial" },
   { "Recorded", "s", field("recorded_s", function(s) return decimal(s, 3) end) },
   { "Sent in", "s", field("duration_s", function(s) return decimal(s, 3) end) },
   { "Behind p50", "us", behind(0.5) },
   { "p90", "us", behind(0.9) },
   { "p99", "us", behind(0.99) },
   { "p99.9", "us", behind(0.999) },
   { "max", "us", behind(1) },
   { "Slips", "times", field("slips", count) },
   { "Slipped", "us", field("slipped_ns", function(ns) return decimal(ns / 1e3, 1) end) },
   { "Left out", "frames", field("oversize", count) },
   { "Cut off", "frames", field("truncated", count) },
}

-- Share of the frames that left later than so much.
local function chart(rows)
   local most = 1
   for _, row in ipairs(rows) do
      most = math.max(most, fields.behind(row, 1) / 1e3)
   end
   local plot = Plot.new {
      id = "behind", title = "Timing error",
      description = "Time behind the schedule that a share of the frames kept to. The table has the figures.",
      x = { scale = scale.linear(100, nil, true), label = "% of the frames" },
      y = { scale = scale.linear(most), label = "behind the schedule, us" },
   }
   for i, row in ipairs(rows) do
      local points = {}
      for k, pair in ipairs(row.error_ns) do
         points[k] = { 100 * pair[1], pair[2] / 1e3 }
      end
      plot:series { points = points, class = "s" .. (i - 1) % 6 + 1, shape = i, name = "trial " .. row.trial }
   end
   return plot:figure("Departures behind their times. On a port that departs frames by itself the error is "
      .. "that of the port; elsewhere a frame leaves at the first poll after its time.")
end

function M.sections(result)
   local rows = M.rows(result.results)
   if #rows == 0 then
      return {}
   end
   local rewritten = fields.rewritten(rows[1])
   return {
      { "Timing", nil, {
         h.p { ("Sent %s%s."):format(rows[1].setting.pace, rows[1].setting.loops ~= 1
            and (", %d times over"):format(rows[1].setting.loops) or "") },
         chart({ unpack(rows, math.max(1, #rows - 5)) }),
         tables.build {
            caption = "Time behind the schedule", columns = TIMING, rows = rows, class = "compact",
         },
      } },
      { "Rewritten fields", nil, h.p {
         rewritten ~= "" and rewritten or "None: every frame left as it was recorded.",
      } },
   }
end

--- Why the figures are not the tester's own limits.
function M.evidence(result)
   local drops, refused, starved = 0, 0, 0
   for _, trial in ipairs(result.trials) do
      drops = drops + trial.tester_drops
      refused, starved = refused + trial.sent.refused, starved + trial.sent.starved
   end
   return {
      h.p { "Every frame that was sent is known by a digest of all its octets, and so is every one that "
         .. "arrives; both sequences are compared while they grow. A trial in which the schedule slipped, "
         .. "the comparison fell behind or the tester dropped a frame is marked, and its loss is not shown "
         .. "as the device's." },
      h.p { ("Over all trials: %s dropped by the tester's ports, %s a port was full for a moment, %s the "
         .. "file was behind."):format(format.plural(drops, "frame"), format.plural(refused, "time"),
         format.plural(starved, "time")) },
   }
end

--- The columns of a table of trials.
M.TRIALS = {
   { "Trial", "", field "trial" },
   { "Length", "s", field("duration_s", function(s) return ("%.3g"):format(s) end) },
   { "Sent", "frames", function(trial) return count(trial.sent.frames) end },
   { "Received", "frames", field("received", count) },
   { "Refused", "times", function(trial) return count(trial.sent.refused) end },
   { "No buffer", "times", function(trial) return count(trial.sent.no_mbuf) end },
   { "File behind", "times", function(trial) return count(trial.sent.starved) end },
   { "Slips", "", function(trial) return count(trial.sent.slips) end },
   { "Verdict", "", function(trial) return words.verdict(trial.verdict) end, left = true },
}

return M
