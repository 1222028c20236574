-- SPDX-License-Identifier: BSD-3-Clause

--- How long frames will wait behind each other in the tester's own port, by arithmetic: the due times of the
-- evenly paced streams of a port, and a line that sends one frame at a time (Lindley's recursion of a queue
-- with one server). Streams at random times, in bursts and on ramps are left out: they can only lengthen the
-- waits of the others, so the result is a lower bound for each port of a known line rate.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local loads = require "framegauge.traffic.loads"

local M = {}

local STREAMS, FRAMES = 64, 20000 -- of one port that are looked at: more could only lengthen the wait
local ROUNDING_NS = 2 -- of due times and of the line

-- The first load of a stream where it is evenly paced; else nil.
local function even(stream)
   local load = stream.loads[1]
   return not load.shape and load.fps and load.fps > 0 and load or nil
end

-- The frames of a stream, one after the other. @return { due = s, step(), bytes = of the frame that is due }
local function walk(stream, load)
   local sizes, mean, n = stream.sizes or { stream.frame_size }, stream.frame_size, 0
   local self = { due = stream.phase / loads.fastest(stream.loads), bytes = sizes[1], name = stream.name,
      ends = load.seconds, left = stream.limit or math.huge }
   function self.step()
      self.left = self.left - 1
      local share = load.overhead and (self.bytes + load.overhead) / (mean + load.overhead) or 1
      n = n + 1
      self.due, self.bytes = self.due + share / load.fps, sizes[n % #sizes + 1]
   end
   return self
end

local function first(walks)
   local found = walks[1]
   for _, one in ipairs(walks) do
      found = one.due < found.due and one or found
   end
   return found
end

--- The longest wait of a frame in the first frames of a port.
-- @param streams    as framegauge.traffic.stream_config gives them, all of one port
-- @param line_rate  bits per second
-- @return nanoseconds, name of the stream whose frame waits; nil where none has to wait
function M.least(streams, line_rate)
   local walks, free, longest, name = {}, 0, 0, nil
   for _, stream in ipairs(streams) do
      local load = #walks < STREAMS and even(stream)
      walks[#walks + 1] = load and walk(stream, load) or nil
   end
   for _ = 1, walks[1] and FRAMES or 0 do
      local frame = first(walks)
      if frame.due >= frame.ends or frame.left < 1 then
         break
      elseif free - frame.due > longest then
         longest, name = free - frame.due, frame.name
      end
      free = math.max(free, frame.due) + (frame.bytes + ethernet.OVERHEAD) * 8 / line_rate
      frame.step()
   end
   longest = longest * 1e9 - ROUNDING_NS
   return longest > 0 and longest or nil, name
end

--- What `run --dry-run` says about each port whose frames will wait for each other.
-- @param ports    of a tester
-- @param streams  as framegauge.traffic.stream_config.times() gives them
-- @return list of lines
function M.notes(ports, streams)
   local by_port, lines = {}, {}
   for _, stream in ipairs(streams) do
      by_port[stream.from] = by_port[stream.from] or {}
      table.insert(by_port[stream.from], stream)
   end
   for i, port in ipairs(ports) do
      local ns, name = nil, nil
      if port.line_rate and by_port[i] then
         ns, name = M.least(by_port[i], port.line_rate)
      end
      lines[#lines + 1] = ns and ("%s: frames come due while others are sent; one of %s will wait at least %s."):format(port.name, name, format.nanoseconds(ns)) or nil
   end
   return lines
end

return M
