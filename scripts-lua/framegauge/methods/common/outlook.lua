-- SPDX-License-Identifier: BSD-3-Clause

--- The trials to come in a run: its parts, for the time that is left, and the text of `run --dry-run`.
local ansi = require "framegauge.text.ansi"
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local stats = require "framegauge.trial.stats"
local units = require "framegauge.text.units"

local M = {}

--- How sure the trials ahead are; where the tester fell short, a trial is made again.
M.EXACTLY, M.AT_MOST, M.ABOUT = "exactly", "at most", "about"

--- The parts of a run: trials that follow one another and have test and frame size in common.
-- @param trials  list of { test =, frame_size =, trials = how many (1), total = seconds with all waits }
-- @return list of { test =, frame_size =, trials =, seconds = }
function M.parts(trials)
   local parts, part = {}, nil
   for _, one in ipairs(trials) do
      if not part or part.test ~= one.test or part.frame_size ~= one.frame_size then
         part = { test = one.test, frame_size = one.frame_size, trials = 0, seconds = 0 }
         parts[#parts + 1] = part
      end
      part.trials, part.seconds = part.trials + (one.trials or 1), part.seconds + one.total
   end
   return parts
end

--- How many trials lie ahead, in words; with their time, seconds.
-- @param parts  of a method: bound = how sure that is ("about" where it says nothing)
-- @param runs   how often they are made (default: once)
-- @usage outlook.trials(parts) --> at most 43 trials
function M.trials(parts, runs)
   runs = runs or 1
   local bound = parts.bound == M.EXACTLY and "" or (parts.bound or M.ABOUT) .. " "
   return bound .. format.plural(runs * stats.sum(parts, "trials"), "trial"),
      runs * stats.sum(parts, "seconds")
end

--- How many trials lie ahead and how long they take, a line.
-- @param parts  of a method; more = the condition under which it takes longer
function M.estimate(parts)
   local trials, seconds = M.trials(parts)
   return ("Estimate: %s in %s%s.\n"):format(trials, format.clock(seconds),
      parts.more and "; more " .. parts.more or "")
end

--- Some of one length, in words.
-- @usage outlook.each(2, "trial", 0.5) --> 2 trials of 500 ms each
function M.each(count, noun, seconds)
   return ("%s of %s%s"):format(format.plural(count, noun), units.format_time(seconds),
      count == 1 and "" or " each")
end

--- The same parts, with how sure they are. @param more  when it takes longer, in words; or nil
function M.bounded(parts, bound, more)
   parts.bound, parts.more = bound, more
   return parts
end

--- The waits of each trial.
-- @param o  settings of the method
function M.waits(o)
   return ("Each trial waits besides: %s for learning, %s for the drain, %s to settle"):format(
      units.format_time(o.learning_wait), units.format_time(o.drain), units.format_time(o.settle))
end

-- Processor time of a frame through a reference switch, with all that the tester does: 38 to 115 ns with 2 to
-- 64 ports (docs/explanation/rfc2889.md).
local FRAME_S = 100e-9

--- The processor time of a run through a reference switch where time runs free, a line; nil otherwise, or
-- where the number of frames is unknown.
function M.free_run(plan, parts)
   local switch, frames = plan.reference_switch, 0
   for _, part in ipairs(switch and switch.time == "free" and parts or {}) do
      frames = frames + (part.frames or math.huge)
   end
   return frames > 0 and frames < math.huge
      and ("Time runs free: %s frames are about %s of a processor.\n"):format(
         format.count(math.floor(frames)), units.format_time(math.max(1, math.floor(frames * FRAME_S + 0.5))))
      or nil
end

--- Why a test that loads lines cannot be run; nil where all their rates are known.
-- @param test  name of the method
function M.unknown_line(tester, test)
   for _, port in ipairs(tester.ports) do
      if not port.line_rate then
         return ("%s: the line rate of %s is not known; give ports.%s.line_rate"):format(test, port.name,
            port.name)
      end
   end
   return nil
end

--- Why a test that takes all lines as equal cannot be run; nil where they are equal.
-- @param test  its name
-- @param why   what needs equal lines
function M.unlike_lines(tester, test, why)
   local first = tester.ports[1]
   for _, port in ipairs(tester.ports) do
      if port.line_rate and first.line_rate and port.line_rate ~= first.line_rate then
         return ("%s: the lines of %s (%s) and %s (%s) differ: %s"):format(test, first.name,
            units.format_bits(first.line_rate), port.name, units.format_bits(port.line_rate), why)
      end
   end
   return nil
end

--- A table of what is to be sent.
-- @param columns  framegauge.text.grid
function M.table(columns, rows)
   return grid.text(columns, rows, ansi.new(false))
end

--- Lines, each with its end. @param ...  lists of lines
function M.text(...)
   local out = {}
   for _, lines in ipairs { ... } do
      for _, line in ipairs(lines) do
         out[#out + 1] = line .. "\n"
      end
   end
   return table.concat(out)
end

return M
