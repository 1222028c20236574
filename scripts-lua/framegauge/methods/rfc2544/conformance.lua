-- SPDX-License-Identifier: BSD-3-Clause

--- Whether a plan keeps to the letter of RFC 2544, and where not.
local tables = require "framegauge.core.tables"

local M = {}

local MIN_TRIAL, MIN_WAIT, MIN_SETTLE, MIN_SIZES = 60, 2, 5, 5
local MIN_LATENCY_TRIAL, MIN_TAG_AFTER, MIN_LATENCY_REPETITIONS = 120, 60, 20
local MIN_BURST_LIMIT, MIN_BURST_REPETITIONS = 2, 50
local BURSTS = { 16, 64, 256, 1024 }
local MIN_OVERLOAD, MIN_BEFORE_RESET = 60, 15

local function seconds(value)
   return ("%g s"):format(value)
end

-- Note that something is shorter than it should be.
local function too_short(what, value, least, section)
   if value < least then
      return ("%s (%s; section %s asks for %s)"):format(what, seconds(value), section, seconds(least))
   end
end

local function too_few(what, value, least, section)
   if value < least then
      return ("%s (%d; section %s asks for %d)"):format(what, value, section, least)
   end
end

-- What the searches aim at: one goal each, but for MLRsearch.
local function goals_of(o)
   local t = o.throughput
   if t.goals then
      return t.goals
   end
   local trials = t.search == "tst009" and t.loss_verify_trials or 1
   return { { final_trial = t.trial, loss_ratio = t.loss_tolerance, exceed_ratio = 1 - 1 / trials } }
end

-- The least or greatest that any goal has of something: function(a, b) says which.
local function extreme(o, key, choose)
   local value
   for _, goal in ipairs(goals_of(o)) do
      value = value and choose(value, goal[key]) or goal[key]
   end
   return value
end

-- Tests whose trials are made at the throughput, which is searched for where the plan does not give it.
local function needs_throughput(o, tests)
   if tests.throughput then
      return true
   end
   for _, test in ipairs { "latency", "back_to_back", "system_recovery", "reset" } do
      if tests[test] and not o[test].rate then
         return true
      end
   end
   return false
end

-- The demands on all tests, and on each: function(options of rfc2544) -> what falls short of it, or nil.
local GENERAL = {
   function(o)
      if o.learning_wait < MIN_WAIT or o.drain < MIN_WAIT or o.settle < MIN_SETTLE then
         return ("short waits (%s, %s, %s; section 23 asks for %s, %s, %s)"):format(seconds(o.learning_wait),
            seconds(o.drain), seconds(o.settle), seconds(MIN_WAIT), seconds(MIN_WAIT), seconds(MIN_SETTLE))
      end
   end,
   function(o)
      local sizes = tables.map(o.frame_sizes, function(size) return tonumber(size) end)
      if #sizes < MIN_SIZES then
         return ("fewer than five frame sizes (%d; section 9)"):format(#sizes)
      end
   end,
}

local OF_TEST = {
   throughput = {
      function(o)
         return too_short("short trials", extreme(o, "final_trial", math.min), MIN_TRIAL, "24")
      end,
      function(o)
         local loss = extreme(o, "loss_ratio", math.max)
         if loss > 0 then
            return ("loss tolerated (%g %%; section 26.1 allows none)"):format(loss * 100)
         end
      end,
      function(o)
         if extreme(o, "exceed_ratio", math.max) > 0 then
            return "trials with loss repeated (section 26.1 has the load lowered)"
         end
      end,
   },
   latency = {
      function(o)
         return too_short("short latency trials", o.latency.trial, MIN_LATENCY_TRIAL, "26.2")
      end,
      function(o)
         return too_short("frames tagged early", o.latency.tag_after, MIN_TAG_AFTER, "26.2")
      end,
      function(o)
         return too_few("few latency trials", o.latency.repetitions, MIN_LATENCY_REPETITIONS, "26.2")
      end,
   },
   frame_loss = {
      function(o)
         return too_short("short frame loss trials", o.frame_loss.trial, MIN_TRIAL, "24")
      end,
   },
   back_to_back = {
      function(o)
         return too_short("short limit of the bursts", o.back_to_back.limit, MIN_BURST_LIMIT, "26.4")
      end,
      function(o)
         return too_few("few burst searches", o.back_to_back.repetitions, MIN_BURST_REPETITIONS, "26.4")
      end,
   },
   system_recovery = {
      function(o)
         return too_short("short overload", o.system_recovery.overload, MIN_OVERLOAD, "26.5")
      end,
   },
   reset = {
      function(o)
         return too_short("early reset", o.reset.after, MIN_BEFORE_RESET, "4 of RFC 6201")
      end,
   },
   bursty_traffic = {
      function(o)
         return too_short("short trials of bursts", o.bursty_traffic.trial, MIN_TRIAL, "24")
      end,
      function(o)
         local there = {}
         for _, frames in ipairs(o.bursty_traffic.burst_frames) do
            there[frames] = true
         end
         for _, frames in ipairs(BURSTS) do
            if not there[frames] then
               return ("no bursts of %d frames (section 21)"):format(frames)
            end
         end
      end,
   },
}

--- Compare a plan with RFC 2544.
-- @return { standard =, conforms = whether it keeps to all of it, notes = list of what does not }
function M.of(plan)
   local notes, tests = {}, {}
   local o = plan.fitted and plan.fitted:shortest() or plan.rfc2544
   for _, test in ipairs(o.tests) do
      tests[test] = true
   end
   tests.throughput = needs_throughput(o, tests)
   local function hold(demands)
      for _, demand in ipairs(demands) do
         notes[#notes + 1] = demand(o)
      end
   end
   hold(tests.throughput and OF_TEST.throughput or {})
   hold(GENERAL)
   for _, test in ipairs {
      "latency", "frame_loss", "back_to_back", "system_recovery", "reset", "bursty_traffic",
   } do
      hold(tests[test] and OF_TEST[test] or {})
   end
   return { standard = "RFC 2544", conforms = #notes == 0, notes = notes }
end

return M
