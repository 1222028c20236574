-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of one run: numbered, judged, repeated when invalid, and recorded before anyone uses them.
--
-- A resumed run gives the session the recorded trials. As long as they last they are the results: each
-- request must equal the recorded one.
local offered = require "framegauge.trial.offered"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local undo = require "framegauge.core.undo"
local user_error = require "framegauge.core.user_error"

local Session = {}
Session.__index = Session

--- Start a session.
-- @param o.tester   the tester (framegauge.tester)
-- @param o.retries  how often an invalid trial is made again
-- @param o.phases   learning_wait, drain and settle in seconds (RFC 2544 section 23)
-- @param o.sink     called with each finished record; it keeps it where a crash cannot take it
-- @param o.recorded trials of the run that is resumed (framegauge.run.resume); may be nil
-- @param o.remembers  for how long trials find in the device what earlier ones left there, such as addresses:
--                   seconds, 0 = the last trial alone counts; nil: not at all
-- @param o.watch    object with started(ask), finished(record) and recalled(ask, record), for a person who is
--                   waiting; may be nil
-- @param o.say      function(text): shows a person a line; may be nil without a person
function Session.new(o)
   return setmetatable({
      tester = o.tester or {}, -- a rehearsal has none
      before = o.tester and o.tester.trials or 0, -- trials that the tester made before this session
      retries = o.retries,
      phases = o.phases,
      sink = o.sink,
      recorded = o.recorded or {},
      remembers = o.remembers,
      watch = o.watch,
      say = o.say,
      changes = undo.group(), -- of the host, for a trial; put back at the end of the run
      trials = {}, -- every record so far, invalid ones too
      recalled = {}, -- what was asked of recorded trials
      seconds = 0, -- that they take with all waits
      held = {}, -- by kind of trial: frames close together that the device did not lose
   }, Session)
end

function Session:measure(ask)
   local function make()
      return self.tester:trial {
         frame_size = not ask.streams and ask.frame_size or nil, -- streams have their own
         fps = ask.fps,
         duration = ask.seconds,
         loads = ask.loads,
         tags = ask.tags,
         burst = ask.burst,
         max_lag = ask.max_lag,
         outage = ask.outage,
         directions = ask.directions,
         streams = ask.streams,
         silent = ask.silent,
         broadcast = ask.broadcast,
         patient = ask.patient,
         gap = ask.gap,
         members = ask.members,
         stagger = ask.stagger,
         stations = ask.stations,
         modifier = ask.modifier,
         management = ask.modifier and self.management,
         learning_wait = self.phases.learning_wait,
         drain = ask.drain or self.phases.drain,
         settle = self.phases.settle,
      }
   end
   if ask.around then
      return ask.around(make)
   end
   return make()
end

--- Seconds that a trial takes with everything around it.
function Session:seconds_of(ask)
   local phases = self.phases
   local announced = ask.stations and ask.stations.count / ask.stations.fps or 0
   return announced + ask.seconds + phases.learning_wait + (ask.drain or phases.drain) + phases.settle
end

local function disagree(...)
   error(user_error.new { status = 2, command = "run", disagrees = true, message = string.format(...) }, 0)
end

-- The next recorded trial, nil when all are used up.
function Session:recall(ask)
   local record = self.recorded[ask.number]
   if not record then
      return nil
   end
   for key, wanted in pairs {
      test = ask.test, phase = ask.phase, frame_size = ask.frame_size, direction = ask.direction,
      intended_fps = ask.fps, duration_s = ask.seconds, loads = ask.loads or false,
      outage = ask.outage or false,
      modifier = ask.modifier or false, burst = ask.burst or false, setting = ask.setting or false,
   } do
      if not tables.same(record[key] or false, wanted) then
         disagree("the run cannot be resumed: its trial %d differs in %s from the one that is asked for now",
            ask.number, key)
      end
   end
   self.trials[ask.number] = record
   if self.watch then
      self.watch:recalled(ask, record)
   end
   return record
end

--- Call it at the end of the run: an unused recorded trial is an error.
function Session:finish()
   if #self.recorded > #self.trials then
      disagree("the run cannot be resumed: it made %d trials, and now %d are enough", #self.recorded,
         #self.trials)
   end
end

-- The parts of a request that the device sees.
local function kind_of(ask)
   return ("%s %s %s"):format(ask.frame_size, ask.direction, ask.modifier)
end

-- A trial of a constant load that lost nothing shows how many frames may leave at once without harm.
-- Once a payload was found changed, the payloads of all frames are compared.
function Session:learn(ask, record)
   local tester = self.tester
   tester.changes_payload = tester.changes_payload or (record.altered or {}).wrong_payload ~= nil
   if ask.any_loss and not ask.max_lag and record.validity == "valid" and record.lost == 0 then
      local kind = kind_of(ask)
      self.held[kind] = math.max(self.held[kind] or 0, trial.lump(record))
   end
   return record
end

-- One attempt at a trial. The reference device's random draws follow from its number, also in a resumed run.
function Session:make(ask)
   self.tester.trials = self.before + ask.number - 1
   return ask.make and ask.make(ask) or trial.record(self:measure(ask), ask)
end

-- Before the first unrecorded trial of a resumed run: a device that remembers gets the same state again. The
-- recorded trials that it has not forgotten, and the last one, are made again, without recording. Waits may
-- be shorter than in the plan and do not count.
function Session:restore()
   local list = self.remembers and self.recalled or {}
   local first, seconds = #list, 0
   while first > 1 and seconds + list[first].seconds < self.remembers do
      seconds, first = seconds + list[first].seconds, first - 1
   end
   for i = math.max(1, first), #list do
      self:make(list[i])
   end
   self.recalled = {}
end

function Session:once(ask)
   ask.number, ask.modifier = #self.trials + 1, self.modifier
   ask.held = not ask.max_lag and self.held[kind_of(ask)] or nil
   self.seconds = self.seconds + self:seconds_of(ask)
   local recalled = self:recall(ask)
   if recalled then
      table.insert(self.recalled, tables.copy(ask)) -- another attempt gives it another number
      return self:learn(ask, recalled)
   end
   self:restore()
   if self.watch then
      self.watch:started(ask)
   end
   local record = self:make(ask)
   self.trials[ask.number] = record
   self.sink(record)
   if self.watch then
      self.watch:finished(record)
   end
   return self:learn(ask, record)
end

--- Make all trials from now on with a modifier (framegauge.traffic.modifiers); nil: none.
-- @param management  what management-frames asks for, as the tester takes it
function Session:modify(modifier, management)
   self.modifier, self.management = modifier, management
end

--- Make one trial. Yields until it is over.
-- @param ask  test, phase, frame_size, direction (its name in the report), directions (list of "a->b"), fps
--             of one direction, seconds, line_fps where known. Where needed: loads, tags, burst, outage,
--             max_lag as the tester takes them (fps is then the mean of the loads, seconds the sum), drain
--             where it is not the plan's, link_may_change, span = whether to keep when the first and the last
--             frame of each direction arrived, any_loss = whether it matters only if frames are lost, not how
--             many, apart = whether a stream without a due frame says nothing of the others, silent,
--             broadcast, patient, gap and members = as the tester takes them, tunnelled = whether frames may
--             arrive in a tunnel, or have left one: then with other addresses, title = what to call it in the
--             progress, around = function(make), which calls make() for the tester's counts and returns them.
--             outcome(record) says the result in a few words. A trial without test frames is made
--             by make(ask), which returns its record; setting then tells it from others of its test
-- @return the record of the last attempt; it is invalid only if all of them were
function Session:trial(ask)
   local record
   for _ = 0, self.retries do
      record = self:once(ask)
      if record.validity ~= "invalid" or offered.is_nothing(record) then
         break
      end
   end
   return record
end

local function is_of(record, ask)
   return record.test == ask.test and record.frame_size == ask.frame_size and record.validity ~= "invalid"
      and record.direction == ask.direction and record.intended_fps == ask.fps
      and record.duration_s == ask.seconds and record.modifier == ask.modifier
      and tables.same(record.burst, ask.burst)
end

--- Read trials already made once more, for example for one direction after the other.
-- @param from  number of the first trial that may be reused
-- @return a function like trial(), which returns each matching earlier trial once, and makes a new trial when
--         none is left
function Session:again(from)
   local seen = {}
   return function(ask)
      ask.modifier = self.modifier
      for i = from, #self.trials do
         if not seen[i] and is_of(self.trials[i], ask) then
            seen[i] = true
            return self.trials[i]
         end
      end
      local record = self:trial(ask)
      seen[#self.trials] = true
      return record
   end
end

return Session
