-- SPDX-License-Identifier: BSD-3-Clause

--- Whether a plan keeps to the letter of RFC 2544, and where not.
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"

local M = {}

local MIN_TRIAL, MIN_WAIT, MIN_SETTLE, MIN_SIZES = 60, 2, 5, 5
local BURSTS = { 16, 64, 256, 1024 }

-- The minimum of a test's key, a time or a number, and the section that requires it.
local LEAST = {
   { "latency", "trial", "short latency trials", 120, "26.2" },
   { "latency", "tag_after", "first tagged frame soon after the start", 60, "26.2" },
   { "latency", "repetitions", "few latency trials", 20, "26.2", number = true },
   { "frame_loss", "trial", "short frame loss trials", MIN_TRIAL, "24" },
   { "back_to_back", "limit", "short limit of the bursts", 2, "26.4" },
   { "back_to_back", "repetitions", "few burst searches", 50, "26.4", number = true },
   { "system_recovery", "overload", "short overload", 60, "26.5" },
   { "reset", "after", "reset soon after the start", 15, "4 of RFC 6201" },
   { "bursty_traffic", "trial", "short trials of bursts", MIN_TRIAL, "24" },
}

-- The goals of the searches: one each, except for MLRsearch.
local function goals_of(o)
   local t = o.throughput
   if t.goals then
      return t.goals
   end
   local trials = t.search == "tst009" and t.loss_verify_trials or 1
   return { { final_trial = t.trial, loss_ratio = t.loss_tolerance, exceed_ratio = 1 - 1 / trials } }
end

-- The least or greatest value among all goals: function(a, b) says which.
local function extreme(o, key, choose)
   local value
   for _, goal in ipairs(goals_of(o)) do
      value = value and choose(value, goal[key]) or goal[key]
   end
   return value
end

-- Tests at the throughput, which is searched for where the plan does not give it.
local function needs_throughput(o)
   if tables.contains(o.tests, "throughput") then
      return true
   end
   for _, test in ipairs { "latency", "back_to_back", "system_recovery", "reset" } do
      if tables.contains(o.tests, test) and not o[test].rate then
         return true
      end
   end
   return false
end

local function too_short(what, value, least, section, unit)
   return value < least, "%s (%g%s; section %s asks for %g%s)", what, value, unit, section, least, unit
end

local function hold_throughput(o, note)
   local loss = extreme(o, "loss_ratio", math.max)
   note(too_short("short trials", extreme(o, "final_trial", math.min), MIN_TRIAL, "24", " s"))
   note(loss > 0, "loss tolerated (%g %%; section 26.1 allows none)", loss * 100)
   note(extreme(o, "exceed_ratio", math.max) > 0,
      "trials with loss repeated (section 26.1 has the load lowered)")
end

local function hold_bursts(o, note)
   for _, frames in ipairs(BURSTS) do
      if not tables.contains(o.bursty_traffic.burst_frames, frames) then
         note(true, "no bursts of %d frames (section 21)", frames)
         return
      end
   end
end

--- Compare a plan with RFC 2544.
-- @return { standard =, conforms = whether it keeps to all of it, notes = list of deviations }
function M.of(plan)
   local o = plan.fitted and plan.fitted:shortest() or plan.rfc2544
   return suite.conformance("RFC 2544", function(note)
      if needs_throughput(o) then
         hold_throughput(o, note)
      end
      note(o.learning_wait < MIN_WAIT or o.drain < MIN_WAIT or o.settle < MIN_SETTLE,
         "short waits (%g s, %g s, %g s; section 23 asks for %g s, %g s, %g s)", o.learning_wait, o.drain,
         o.settle, MIN_WAIT, MIN_WAIT, MIN_SETTLE)
      local sizes = #tables.map(o.frame_sizes, function(size) return tonumber(size) end) -- of mixes nil
      note(sizes < MIN_SIZES, "fewer than five frame sizes (%d; section 9)", sizes)
      for _, row in ipairs(LEAST) do
         local test, key, what, least, section = unpack(row)
         if tables.contains(o.tests, test) then
            note(too_short(what, o[test][key], least, section, row.number and "" or " s"))
         end
      end
      if tables.contains(o.tests, "bursty_traffic") then
         hold_bursts(o, note)
      end
   end)
end

return M
