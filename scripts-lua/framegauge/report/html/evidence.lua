-- SPDX-License-Identifier: BSD-3-Clause

--- Why the figures can be trusted: the tester's own behaviour during the measurement.
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local notes = require "framegauge.report.notes"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"
local trial_rows = require "framegauge.trial.result"
local verdict = require "framegauge.text.verdict"

local M = {}

local TIME = {
   ["wire-free"] = "Time is the time of the virtual wire, which ran as fast as the processor could compute it: what the machine was busy with cannot have changed a figure.",
   ["wire-real"] = "Time is the time of the virtual wire, kept in step with the clock.",
   tsc = "Time is the processor's clock (TSC).",
}

local function off_by(offered, intended)
   return intended > 0 and (offered / intended - 1) * 1e6 or 0
end

-- How far the slower direction's load was from the intended one, parts per million; where each direction has
-- its own load, the greatest difference.
local function deviation(trial)
   local furthest = trial.directions[1].intended_fps and 0
   for _, direction in ipairs(furthest and trial.directions or {}) do
      local off = direction.intended_fps and off_by(direction.offered_fps, direction.intended_fps) or 0
      furthest = math.abs(off) > math.abs(furthest) and off or furthest
   end
   return furthest or off_by(trial.offered_fps, trial.intended_fps)
end

local function ppm(value)
   local text = ("%+.0f"):format(value)
   return (text == "+0" or text == "-0") and "0" or (text:gsub("^-", "−"))
end

local function column(heading, unit, key, write)
   return { heading, unit, function(row) return row[key] and (write or formatters.count)(row[key]) end }
end

-- Columns of evidence that all trials of frames have, by their rows.
local function of_trials(name, lines, ...)
   local list = { ... }
   for _, one in ipairs(show.columns(trial_rows.TRIAL, name, lines)) do
      list[#list + 1] = one
   end
   return list
end

-- Validities of several trials, counted, for a table of tests.
M.COUNTS = {
   { "Test", "", function(row) return formatters.test(row.name) end, left = true }, column("Trials", "", "trials"),
   column("Valid", "", "valid"), column("Tester-limited", "", "tester-limited"), column("Invalid", "",
      "invalid"),
}

--- The trials of a test as one row: how many there were of each validity, and the sums and maxima of what
-- they have.
-- @param sums, maxima  combined values, by key: function(trial): number or nil
function M.summed(group, sums, maxima)
   local all = { name = group.name, trials = #group.rows }
   for _, validity in ipairs(verdict.VALIDITY) do
      all[validity] = 0
   end
   for _, trial in ipairs(group.rows) do
      all[trial.validity] = all[trial.validity] + 1
      for key, read in pairs(sums) do
         all[key] = (all[key] or 0) + (read(trial) or 0)
      end
      for key, read in pairs(maxima) do
         local value = read(trial)
         all[key] = value and (not all[key] or math.abs(value) > math.abs(all[key])) and value or all[key]
      end
   end
   return all
end

--- Functions that read keys of a row: { key = function(row) }.
function M.readers(...)
   local list = {}
   for _, key in ipairs { ... } do
      list[key] = function(row) return rows.value(row, key) end
   end
   return list
end

local SUMS = M.readers("late", "off_schedule", "refused", "tester_drops")
SUMS.unsent = trial_rows.unsent
local MAXIMA = M.readers("lag_max_ns", "poll_gap_max_ns")
MAXIMA.deviation = deviation

local function overall(result)
   local list = {}
   for _, group in ipairs(formatters.grouped(result.trials, "test")) do
      list[#list + 1] = group.rows[1].directions and M.summed(group, SUMS, MAXIMA) or nil
   end
   return list
end

local OFF_BY = column("Rate error", "ppm, at most", "deviation", ppm)

local function overall_table(caption, lines)
   return #lines > 0 and tables.build {
      caption = caption, rows = lines,
      columns = of_trials("overall", lines, M.COUNTS[1], M.COUNTS[2], M.COUNTS[3], M.COUNTS[4], M.COUNTS[5],
         OFF_BY),
   }
end

local function deciding_table(decided)
   local lines = {}
   for i, one in ipairs(decided) do
      lines[i] = setmetatable({ role = one.role, deviation = deviation(one.trial) }, { __index = one.trial })
   end
   return #lines > 0 and tables.build {
      caption = "The tester in the trials that decided the throughput", rows = lines,
      columns = of_trials("deciding", lines, column("Frame", "bytes", "frame_size", tostring),
         column("Trial", "no.", "trial"), column("Load", "", "role", tostring), column("Intended",
            "frames/s", "intended_fps"),
         column("Offered", "frames/s", "offered_fps"), column("Rate error", "ppm", "deviation", ppm)),
   }
end

local EXPLANATION = {
   { "Rate error", "difference between the offered and the intended load, in the slower direction. More than 1,000 ppm too slow makes a trial tester-limited." },
   { "Late, unsent", "frames that were not sent when they were due. The tester does not send them later in a burst: it counts them, and the trial is not valid." },
   { "Off schedule", "frames that were sent so late that the device received them closer together than intended. A loss of at most this number of frames does not count against the device." },
   { "Refused", "frames that the port did not accept at once; they were sent a moment later." },
   { "Dropped", "frames that arrived and were lost in the tester's own ports. They never count as lost by the device." },
   { "Lag", "how late the latest frame was sent." },
   { "Poll gap", "the longest time in which no worker polled its ports." },
}

-- The queues of the last trial, where ports have several.
local function queues(last)
   return last and last.queues and {
      tables.of { trial_rows.QUEUE, "queues", last.queues, caption = "The queues of the ports in the last trial" },
      h.p {
         "All lcores follow one schedule from one instant of the time stamp counter. Each stream, or each substream where several queues share in sending one, is measured by one lcore; what arrived at another was passed on to it. Where frames of a substream came over several queues, the order of their arrival is not known: reordering is not given then.",
      },
   }
end

-- The cards' own counters in the last trial, where they are exact.
local function cards(last)
   return last and last.cards and {
      tables.of {
         trial_rows.CARD, "cards", last.cards, caption = "The cards' own counters in the last trial",
      },
      h.p {
         "The card counts at its MAC and at its queues, the tester what it handed over and fetched. A trial in which they differ without a reason is invalid.",
      },
   }
end

local function paragraphs(...)
   local out = {}
   for _, list in ipairs { ... } do
      for _, sentence in ipairs(list) do
         out[#out + 1] = h.p { sentence }
      end
   end
   return out
end

local N = "N in a table: the number of frames, pairs or trials on which the figure before it rests."

local function timestamps(result)
   for _, trial in ipairs(result.trials) do
      if trial.latency then
         return notes.latency(trial.latency)
      end
   end
   return nil
end

--- The section.
-- @param view  of the result (framegauge.report.view)
function M.body(result, moment, view)
   local last = result.trials[#result.trials]
   local of_frames, captured = overall(result), {}
   for i, fact in ipairs(moment.captures or {}) do
      captured[i] = notes.captured(fact)
   end
   if view.evidence then
      return {
         view.evidence(result), overall_table("The tester in trials of frames", of_frames),
         #of_frames > 0 and tables.definitions(EXPLANATION), cards(last) or {}, paragraphs(captured),
         h.p { last
            and TIME[last.time] or "" }, h.p { N },
      }
   end
   return {
      h.p {
         "A figure is valid only if the tester was not the limit: it offered the intended load and lost no frame itself. Frames are counted one by one, by their sequence numbers, when the last one has had time to arrive.",
      },
      deciding_table(view.deciding(result)), overall_table("The tester over all trials", of_frames),
      queues(last) or {}, cards(last) or {},
      tables.definitions(EXPLANATION), paragraphs(notes.background(result.trials),
         notes.payload(result.trials), notes.flow_control(result.trials),
         notes.altered(result.trials), notes.disorder(result.trials),
         captured),
      h.p { last and (TIME[last.time] or "Time: " .. last.time .. ".") }, h.p { timestamps(result) or "" },
      h.p { N },
   }
end

return M
