-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of one run: numbered, judged, repeated when invalid, and written down before anyone uses them.
local trial = require "framegauge.trial"

local Session = {}
Session.__index = Session

--- Start a session.
-- @param o.bench    the bench (framegauge.bench)
-- @param o.retries  how often an invalid trial is made again
-- @param o.phases   learning_wait, drain and settle in seconds (RFC 2544 section 23)
-- @param o.sink     called with each finished record; it keeps it where a crash cannot take it
-- @param o.watch    object with started(ask) and finished(record), for a person who is waiting; may be nil
function Session.new(o)
   return setmetatable({
      bench = o.bench,
      retries = o.retries,
      phases = o.phases,
      sink = o.sink,
      watch = o.watch,
      trials = {}, -- every record so far, invalid ones too
   }, Session)
end

function Session:once(ask)
   ask.number = #self.trials + 1
   if self.watch then
      self.watch:started(ask)
   end
   local raw = self.bench:trial {
      frame_size = ask.frame_size,
      fps = ask.fps,
      duration = ask.seconds,
      directions = ask.directions,
      learning_wait = self.phases.learning_wait,
      drain = self.phases.drain,
      settle = self.phases.settle,
   }
   local record = trial.record(raw, ask)
   self.trials[ask.number] = record
   self.sink(record)
   if self.watch then
      self.watch:finished(record)
   end
   return record
end

--- Make one trial. Yields until it is over.
-- @param ask  test, phase, frame_size, direction (its name in the report), directions (list of "a->b"), fps
--             of one direction, seconds, line_fps where known
-- @return the record of the last attempt; it is invalid only if all of them were
function Session:trial(ask)
   local record
   for _ = 0, self.retries do
      record = self:once(ask)
      if record.verdict ~= "invalid" then
         break
      end
   end
   return record
end

return Session
