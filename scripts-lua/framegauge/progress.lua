-- SPDX-License-Identifier: BSD-3-Clause

--- What a person sees while a run is under way.
--
-- On a terminal: one line, redrawn a few times a second, cut to the width. Elsewhere: one plain line for each
-- trial that ended, so that a log tells the story. The time left is the plan's own estimate, scaled by how
-- fast the run has been: in free-running time a minute of the wire may pass in a second.
local format = require "framegauge.report.format"

local count, decimal = format.count, format.decimal

local REDRAW_MS = 200
local CLEAR_LINE = "\r\27[K"

local Progress = {}
Progress.__index = Progress

--- Make one.
-- @param o.write     function(text)
-- @param o.now       function() -> seconds of a clock that only goes forward
-- @param o.width     columns of the terminal; nil: not a terminal
-- @param o.snapshot  function() -> what framegauge.bench's snapshot gives
-- @param o.parts     what lies ahead: list of { test =, frame_size =, trials =, seconds = }, in order
-- @param o.waits     seconds each trial takes besides its sending
function Progress.new(o)
   local planned = 0
   for _, part in ipairs(o.parts) do
      planned = planned + part.seconds
   end
   return setmetatable({
      write = o.write, now = o.now, width = o.width, snapshot = o.snapshot, parts = o.parts, waits = o.waits,
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

-- The trial belongs to the part under way or to a later one, and whatever those before took, they are over.
-- What nobody foresaw belongs to the part under way.
function Progress:enter_part(ask)
   if is_about(self.parts[self.part], ask) then
      return
   end
   for i = self.part + 1, #self.parts do
      if is_about(self.parts[i], ask) then
         while self.part < i do
            self.done = self.part_end
            self.part = self.part + 1
            self.part_end = self.part_end + self.parts[self.part].seconds
         end
         self.trial = 0
         return
      end
   end
end

local function load_text(ask)
   if not ask.fps then
      return nil
   end
   local text = count(ask.fps) .. " fps"
   return ask.line_fps and decimal(ask.fps / ask.line_fps * 100, 2) .. " % = " .. text or text
end

local function name_of(ask)
   if ask.title then
      return ask.title
   end
   local modifier = ask.modifier and ", " .. ask.modifier or ""
   local size = ask.frame_size and ("  %d bytes"):format(ask.frame_size) or ""
   return ask.test:match "[^.]+$" .. modifier .. size
end

--- Seconds the rest will take, or nil before the first trial has ended.
function Progress:left()
   if not self.last_end then
      return nil
   end
   local speed = self.measured / (self.last_end - self.began)
   return math.max(0, (self.planned - self.done) / speed - (self.now() - self.last_end))
end

--- The line at this moment, whole.
function Progress:line()
   local ask, snapshot = self.ask, self.snapshot() or {}
   local part = self.parts[self.part] or { trials = 0 }
   local left, load = self:left(), load_text(ask)
   local words = {
      name_of(ask), ("trial %d of about %d"):format(self.trial, math.max(self.trial, part.trials)),
   }
   if load then
      words[3], words[4] = load, "missing " .. count(snapshot.lost or 0) -- lost, or still on their way
   end
   words[#words + 1] = format.clock(self.now() - self.began)
      .. (left and ", " .. format.clock(left) .. " left" or "")
   return table.concat(words, "  ")
end

--- Draw the line anew.
function Progress:redraw()
   if self.ask then
      self.write(CLEAR_LINE .. self:line():sub(1, self.width - 1))
   end
end

--- A trial begins (called by the session).
function Progress:started(ask)
   self:enter_part(ask)
   self.ask = ask
   self.trial = self.trial + 1
end

local function outcome_text(ask, record)
   if record.verdict ~= "valid" then
      return record.verdict .. ": " .. table.concat(record.reasons, "; ")
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
   if not self.width then
      local load = load_text(self.ask)
      self.write(("%s  trial %d  %s%g s: %s\n"):format(name_of(self.ask), record.trial,
         load and load .. "  " or "", record.duration_s, outcome_text(self.ask, record)))
   end
end

--- A trial was made before the run was resumed (called by the session). It took no time now.
function Progress:recalled(ask, record)
   self:started(ask)
   self.done = math.min(self.part_end, self.done + record.duration_s + self.waits)
end

--- Keep the line alive while the event loop runs; call stop() at the end.
function Progress:start()
   if self.width then
      self.timer = require("luv").new_timer()
      self.timer:start(REDRAW_MS, REDRAW_MS, function()
         self:redraw()
      end)
   end
end

--- Show a line that stays.
function Progress:say(message)
   self.write((self.width and CLEAR_LINE or "") .. message .. "\n")
end

--- Take the line away.
function Progress:stop()
   if self.timer then
      self.timer:close()
      self.timer = nil
      self.write(CLEAR_LINE)
   end
end

return Progress
