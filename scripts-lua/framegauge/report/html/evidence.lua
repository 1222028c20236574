-- SPDX-License-Identifier: BSD-3-Clause

--- Why the figures can be trusted: what the tester itself did while it measured.
local altered = require "framegauge.report.altered"
local captured = require "framegauge.report.captured"
local h = require "framegauge.report.html.element"
local latency = require "framegauge.report.html.latency"
local said = require "framegauge.report.said"
local tables = require "framegauge.report.html.tables"
local views = require "framegauge.report.view"
local words = require "framegauge.report.html.words"

local M = {}

local count, field, nanoseconds = words.count, words.field, words.nanoseconds

local TIME = {
   ["wire-free"] = "Time is that of the virtual wire, which ran as fast as the processor could compute it: "
      .. "what the machine was busy with cannot have changed a figure.",
   ["wire-real"] = "Time is that of the virtual wire, kept in step with the clock.",
   tsc = "Time is the processor's clock (TSC).",
}

local function off_by(offered, intended)
   return intended > 0 and (offered / intended - 1) * 1e6 or 0
end

-- How far the slower direction's load was from the intended one, parts per million; where each has a load of
-- its own, that which was furthest from it.
local function deviation(trial)
   local furthest = trial.directions[1].intended_fps and 0
   for _, direction in ipairs(furthest and trial.directions or {}) do
      local off = off_by(direction.offered_fps, direction.intended_fps)
      furthest = math.abs(off) > math.abs(furthest) and off or furthest
   end
   return furthest or off_by(trial.offered_fps, trial.intended_fps)
end

local function unsent(trial)
   local sum = 0
   for _, direction in ipairs(trial.directions) do
      sum = sum + direction.unsent
   end
   return sum
end

local function ppm(value)
   local text = ("%+.0f"):format(value)
   return (text == "+0" or text == "-0") and "0" or (text:gsub("^-", "−"))
end

local DECIDING = {
   { "Frame", "bytes", field "frame_size" },
   { "Trial", "no.", function(r) return r.trial.trial end },
   { "Load", "", function(r) return r.role end, left = true },
   { "Intended", "frames/s", field("trial.intended_fps", count) },
   { "Offered", "frames/s", field("trial.offered_fps", count) },
   { "Off by", "ppm", function(r) return ppm(deviation(r.trial)) end },
   { "Late", "frames", field("trial.late", count) },
   { "Never sent", "frames", function(r) return count(unsent(r.trial)) end },
   { "Off schedule", "frames", field("trial.off_schedule", count) },
   { "Refused", "frames", field("trial.refused", count) },
   { "Dropped", "frames", field("trial.tester_drops", count) },
   { "Worst lag", "", field("trial.worst_lag_ns", nanoseconds) },
   { "Poll gap", "", field("trial.longest_poll_gap_ns", nanoseconds) },
   { "Verdict", "", field("trial.verdict", words.verdict), left = true },
}

local OVERALL = {
   { "Test", "", field("name"), left = true },
   { "Trials", "", field("trials", count) },
   { "Valid", "", field("valid", count) },
   { "Tester-limited", "", field("tester-limited", count) },
   { "Invalid", "", field("invalid", count) },
   { "Off by", "ppm, at most", field("deviation", ppm) },
   { "Late", "frames", field("late", count) },
   { "Never sent", "frames", field("unsent", count) },
   { "Off schedule", "frames", field("off_schedule", count) },
   { "Refused", "frames", field("refused", count) },
   { "Dropped", "frames", field("tester_drops", count) },
   { "Worst lag", "", field("worst_lag_ns", nanoseconds) },
   { "Poll gap", "longest", field("longest_poll_gap_ns", nanoseconds) },
}

local SUMS = { "late", "off_schedule", "refused", "tester_drops" }
local WORST = { "worst_lag_ns", "longest_poll_gap_ns" }

local function worst_of(name, trials)
   local all = {
      name = name, trials = #trials, valid = 0, ["tester-limited"] = 0, invalid = 0, deviation = 0,
      unsent = 0,
   }
   for _, trial in ipairs(trials) do
      all[trial.verdict] = all[trial.verdict] + 1
      all.unsent = all.unsent + unsent(trial)
      local off = deviation(trial)
      all.deviation = math.abs(off) > math.abs(all.deviation) and off or all.deviation
      for _, key in ipairs(SUMS) do
         all[key] = (all[key] or 0) + (trial[key] or 0)
      end
      for _, key in ipairs(WORST) do
         all[key] = trial[key] and math.max(trial[key], all[key] or 0) or all[key]
      end
   end
   return all
end

local function overall(result)
   local list = {}
   for _, group in ipairs(words.grouped(result.trials, "test")) do
      list[#list + 1] = group.rows[1].directions and worst_of(group.name, group.rows) or nil
   end
   return list
end

local function stamps(result)
   for _, trial in ipairs(result.trials) do
      if trial.latency then
         return latency.definition(trial.latency)
      end
   end
   return nil
end

local EXPLANATION = {
   { "Off by", "the load really offered against the one intended, in the slower direction. More than 1,000 "
      .. "ppm too slow makes a trial tester-limited." },
   { "Late, never sent", "frames whose time to leave went by. The tester does not make up for them with a "
      .. "burst: it counts them, and the trial is not the device's." },
   { "Off schedule", "frames that left so long after they were due that the device saw them closer together "
      .. "than intended. A loss of no more frames than these is not held against the device." },
   { "Refused", "frames the port did not take at once; they left a moment later." },
   { "Dropped", "frames that came back and that the tester's own ports lost. They are never taken for loss "
      .. "of the device." },
   { "Worst lag", "how long after it was due the most belated frame left." },
   { "Poll gap", "the longest time no worker looked at its ports." },
}

-- Sentences about modifiers that have the tester say something, and on frames that did not arrive as sent.
local function sentences(trials)
   local out = {}
   for _, list in ipairs { said.of(trials), altered.of(trials) } do
      for _, sentence in ipairs(list) do
         out[#out + 1] = h.p { sentence }
      end
   end
   return out
end

local QUEUES = {
   { "Port", "", field("port"), left = true },
   { "Queue", "", field("queue") },
   { "Sends", "lcore", field("tx_lcore") },
   { "Receives", "lcore", field("rx_lcore") },
   { "Sent", "frames", field("tx", count) },
   { "Received", "frames", field("rx", count) },
   { "Passed on", "frames", field("passed", count) },
   { "First", "due", field("first_due_ns", nanoseconds) },
   { "", "late by", function(r) return nanoseconds(r.first_ns - r.first_due_ns) end },
}

-- The queues of the last trial, where ports have several.
local function queues(result)
   local last = result.trials[#result.trials]
   if not last or not last.queues then
      return nil
   end
   return {
      tables.build { caption = "The queues of the ports in the last trial", columns = QUEUES,
         rows = last.queues },
      h.p {
         "All lcores follow one schedule from one instant of the time stamp counter. Each stream, or each "
            .. "part of one that several queues share in sending, is measured by one lcore; what arrived at "
            .. "another was passed on to it. Where frames of a part came over several queues, nobody knows "
            .. "in which order they arrived: reordering is not given then.",
      },
   }
end

-- What was captured meanwhile, and whether all of it.
local function captures(moment)
   local out = {}
   for i, fact in ipairs(moment.captures or {}) do
      out[i] = h.p { captured.in_words(fact) }
   end
   return out
end

--- The section.
function M.body(result, moment)
   local view, last = views.of(result.plan.test), result.trials[#result.trials]
   local of_frames = overall(result)
   if view.evidence then
      return {
         view.evidence(result),
         #of_frames > 0 and {
            tables.build { caption = "The tester in trials of frames", columns = OVERALL, rows = of_frames },
            tables.definitions(EXPLANATION),
         },
         captures(moment), h.p { last and TIME[last.time] or "" },
      }
   end
   local decided = view.deciding(result)
   return {
      h.p {
         "A figure is called the device's only when the tester has shown that it was not the limit: it "
            .. "offered the load it was asked for, and lost nothing itself. Frames are counted one by one, "
            .. "by sequence number, after the last one has had time to arrive.",
      },
      #decided > 0 and tables.build {
         caption = "The tester in the trials that decided the throughput", columns = DECIDING, rows = decided,
      },
      tables.build { caption = "The tester over all trials", columns = OVERALL, rows = of_frames },
      queues(result) or {},
      tables.definitions(EXPLANATION), sentences(result.trials), captures(moment),
      h.p { last and (TIME[last.time] or "Time: " .. last.time .. ".") }, h.p { stamps(result) or "" },
   }
end

return M
