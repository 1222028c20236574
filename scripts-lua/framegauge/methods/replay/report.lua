-- SPDX-License-Identifier: BSD-3-Clause

--- A replay: frames sent, their times, and frames received; a row for each repetition.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local lines = require "framegauge.report.chart.lines"
local result_rows = require "framegauge.methods.replay.result"
local tables = require "framegauge.report.html.tables"

local M = {}

M.NAME = "Replay"

local count, decimal, plural = format.count, format.decimal, format.plural

local function rows_of(result)
   return result.results.replay or {}
end

-- Fields that were rewritten, in words; "" without any.
local function rewritten(row)
   local r, list = row.setting.rewrite, {}
   for _, one in ipairs {
      { r.source_mac, "source MAC %s" }, { r.destination_mac, "destination MAC %s" }, { r.vlan, "VLAN %s" },
   } do
      list[#list + 1] = one[1] and one[2]:format(one[1]) or nil
   end
   for _, text in ipairs(r.networks or {}) do
      list[#list + 1] = text
   end
   return table.concat(list, ", ")
end

function M.test_names(result)
   return "replay of " .. result.plan.replay.file
end

-- Oddities of the capture, in sentences.
local function remarks(row)
   local list = {}
   for i, remark in ipairs(row.remarks or {}) do
      list[i] = "The capture: " .. remark .. "."
   end
   return list
end

function M.notes(result, add)
   local row = rows_of(result)[1]
   if row then
      add(("Sent %s%s. Late by: departures after their times."):format(row.setting.pace,
         rewritten(row) ~= "" and "; rewritten: " .. rewritten(row) or ""))
      for _, remark in ipairs(remarks(row)) do
         add(remark)
      end
   end
end

--- Headline figures: of the last repetition.
function M.tiles(result)
   local rows = rows_of(result)
   local row = rows[#rows]
   if not row then
      return {}
   end
   local list, v = { { "Sent", count(row.frames), "frames", row.setting.pace } }, row.verified
   list[2] = v and {
      "Arrived as sent", count(v.same), "frames", v.whole and "all, in order" or ("%s lost"):format(count(v.lost)), row = row,
   }
   list[#list + 1] = {
      "Late by", decimal(row.behind.p99_ns / 1e3, 3), "µs", "99 % of the frames", row = row,
   }
   return list
end

function M.summary(result)
   return tables.of { result_rows.ROW, "html", rows_of(result), caption = "What arrived",
      below = tables.reasons }
end

local SHARES = { { 50, "p50_ns" }, { 90, "p90_ns" }, { 99, "p99_ns" }, { 99.9, "p999_ns" }, { 100,
   "max_ns" } }

-- Share of the frames that left later than a bound.
local function chart(rows)
   local points = {}
   for _, row in ipairs(rows) do
      for _, share in ipairs(SHARES) do
         points[#points + 1] = { trial = "trial " .. row.trial, share = share[1],
            us = row.behind[share[2]] / 1e3 }
      end
   end
   return lines.draw {
      id = "behind", title = "Timing error", rows = points, group = "trial",
      description = "Time behind the schedule that a share of the frames kept to.",
      x = { of = "share", label = "% of the frames", scale = "exact" }, y = { label = "behind the schedule, µs" },
      lines = { { y = "us", name = tostring } },
      say = function(point) return ("%g %%: %s µs"):format(point.share, decimal(point.us, 3)) end,
      caption = "Departures behind their times. On a port that departs frames by itself the error is the port's; elsewhere a frame leaves at the first poll after its time.",
   }
end

function M.sections(result)
   local rows = rows_of(result)
   if #rows == 0 then
      return {}
   end
   local fields, setting = rewritten(rows[1]), rows[1].setting
   return {
      { "Timing", nil, {
         h.p { ("Sent %s%s."):format(setting.pace, setting.loops ~= 1 and (", %d times over"):format(setting.loops) or ""),
            " " .. table.concat(remarks(rows[1]), " ") },
         chart { unpack(rows, math.max(1, #rows - 5)) },
         tables.of { result_rows.ROW, "timing", rows, caption = "Time behind the schedule",
            class = "compact" },
      } },
      { "Rewritten fields", nil, h.p { fields ~= "" and fields or "None: every frame left as it was recorded." } },
   }
end

function M.evidence(result)
   local drops, refused, starved = 0, 0, 0
   for _, trial in ipairs(result.trials) do
      drops = drops + trial.tester_drops
      refused, starved = refused + trial.sent.refused, starved + trial.sent.starved
   end
   return {
      h.p { "Every frame that was sent is known by a digest of all its bytes, and so is every one that arrives; both sequences are compared while they grow. A trial in which the schedule slipped, the comparison fell behind or the tester dropped a frame is marked, and its loss is not shown as the device's." },
      h.p { ("Over all trials: %s dropped by the tester's ports, %s a port was full for a moment, %s the file was behind."):format(plural(drops, "frame"), plural(refused, "time"), plural(starved,
         "time")) },
   }
end

local function sent(heading, unit, key)
   return { heading, unit, function(trial) return count(trial.sent[key]) end }
end

M.trial_columns = {
   { "Trial", "", function(trial) return count(trial.trial) end },
   { "Length", "s", function(trial) return ("%.3g"):format(trial.duration_s) end }, sent("Sent", "frames",
      "frames"),
   { "Received", "frames", function(trial) return count(trial.received) end }, sent("Refused", "times",
      "refused"),
   sent("No buffer", "times", "no_mbuf"), sent("File behind", "times", "starved"), sent("Slips", "", "slips"),
   { "Verdict", "", function(trial) return formatters.verdict(trial.validity) end, left = true },
}

return M
