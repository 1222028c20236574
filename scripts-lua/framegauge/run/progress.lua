-- SPDX-License-Identifier: BSD-3-Clause

--- How far a run is, as data.
--
-- A session (framegauge.trial.session) reports each trial here. An event is a plain table;
-- framegauge.text.progress makes a line of it, and other programs take it as it is:
--
--    test, phase               of the trial under way: "rfc2544.throughput", "search"
--    frame_size, modifier      where the trial has them
--    title                     to show in place of test, modifier and frame size
--    trial, of                 number of the trial in its part of the run; about how many there will be
--    load_fps, load_percent    intended load; share of the line where its rate is known
--    missing                   frames that have not arrived though later ones have, or where these are more,
--                              that were sent longer than the drain ago
--    own_queue_max_ns          longest wait of a frame in the tester's own port, where one had to wait
--    elapsed_s, left_s         of the run; left_s is missing before the first trial has ended
--    ended                     only when a trial ends: { trial = its number in the run, duration_s =,
--                              verdict =, outcome = a sentence }
--
-- The time left is the plan's own estimate, scaled by how fast the run has been: in free-running time a
-- minute of the wire may pass in a second.
local format = require "framegauge.text.format"

local count, decimal = format.count, format.decimal

local Progress = {}
Progress.__index = Progress

--- Make one.
-- @param o.now       function() -> seconds of a clock that only goes forward
-- @param o.snapshot  function() -> what framegauge.tester's snapshot gives
-- @param o.parts     the trials to come: list of { test =, frame_size =, trials =, seconds = }, in order
-- @param o.waits     seconds each trial takes besides its sending
-- @param o.hold      function(): called before each trial, may wait; nil: nothing does
-- @param o.event     function(event): called when a trial begins and when it ends; may be nil
function Progress.new(o)
   local planned = 0
   for _, part in ipairs(o.parts) do
      planned = planned + part.seconds
   end
   return setmetatable({
      now = o.now, snapshot = o.snapshot, parts = o.parts, waits = o.waits, hold = o.hold, listener = o.event,
      began = o.now(),
      planned = planned, -- seconds of the whole plan
      done = 0, -- of these, behind us
      measured = 0, -- seconds that were really measured until last_end, by the clock o.now
      part = 0, -- index of the part under way
      part_end = 0, -- planned seconds up to its end
   }, Progress)
end

local function is_about(part, ask)
   return part and part.test == ask.test and part.frame_size == ask.frame_size
end

-- The trial belongs to the part under way or to a later one, and whatever those before took, they are over. A
-- trial that no part foresaw belongs to the part under way, the first one to the first part.
function Progress:enter_part(ask)
   if is_about(self.parts[self.part], ask) then
      return
   end
   local found = self.part == 0 and 1 or nil
   for i = self.part + 1, #self.parts do
      if is_about(self.parts[i], ask) then
         found = i
         break
      end
   end
   while found and self.part < found do
      self.done = self.part_end
      self.part = self.part + 1
      self.part_end = self.part_end + self.parts[self.part].seconds
      self.trial = 0
   end
end

-- Seconds the rest will take, or nil before the first trial has ended.
function Progress:left()
   if not self.last_end then
      return nil
   end
   local speed = self.measured / (self.last_end - self.began)
   return math.max(0, (self.planned - self.done) / speed - (self.now() - self.last_end))
end

--- The event of this moment, nil before the first trial.
function Progress:event()
   local ask, part = self.ask, self.parts[self.part]
   if not ask then
      return nil
   end
   local now = self.snapshot() or {}
   return {
      test = ask.test, phase = ask.phase, frame_size = ask.frame_size, modifier = ask.modifier,
      title = ask.title,
      trial = self.trial, of = math.max(self.trial, part and part.trials or 0),
      load_fps = ask.fps, load_percent = ask.fps and ask.line_fps and ask.fps / ask.line_fps * 100,
      missing = now.lost or 0, elapsed_s = self.now() - self.began, left_s = self:left(),
      own_queue_max_ns = (now.own_queue_max_ns or 0) > 0 and now.own_queue_max_ns or nil,
   }
end

function Progress:emit(ended)
   if self.listener then
      local event = self:event()
      event.ended = ended
      self.listener(event)
   end
end

function Progress:enter(ask)
   self:enter_part(ask)
   self.ask = ask
   self.trial = self.trial + 1
end

--- A trial begins (called by the session).
function Progress:started(ask)
   if self.hold then
      self.hold()
   end
   self:enter(ask)
   self:emit()
end

local function outcome_of(ask, record)
   if record.validity ~= "valid" then
      return record.validity .. ": " .. table.concat(record.reasons, "; ")
   elseif ask.outcome then
      return ask.outcome(record)
   elseif record.lost == 0 then
      return "no loss"
   end
   local percent = record.loss_ratio * 100
   return ("lost %s of %s (%s %%)"):format(count(record.lost), count(record.tx),
      percent < 0.01 and ("%.2g"):format(percent) or decimal(percent, 2))
end

--- A trial has ended (called by the session).
function Progress:finished(record)
   local seconds = record.duration_s + self.waits
   self.done = math.min(self.part_end, self.done + seconds)
   self.measured, self.last_end = self.measured + seconds, self.now()
   self:emit {
      trial = record.trial, duration_s = record.duration_s, validity = record.validity,
      outcome = outcome_of(self.ask, record),
   }
end

--- A trial was made before the run was resumed (called by the session). It took no time now.
function Progress:recalled(ask, record)
   self:enter(ask)
   self.done = math.min(self.part_end, self.done + record.duration_s + self.waits)
end

return Progress
