-- SPDX-License-Identifier: BSD-3-Clause

--- Streams of a script's own: sent for a time and judged, or started, changed and stopped while they run.
--
--    local record = stream.send(tester, { duration = "1s", streams = {
--       { from = "east", to = "west", rate = "40%", size = "imix" },
--       { name = "voice", from = "west", to = "east", rate = "50kfps", size = 128 },
--    } })
--
-- Keys of a stream:
--
--    from, to  names of the ports (needed)
--    name      in counts and messages (default: east-west)
--    rate      "40%", "100kfps", "1Gbps L2", or frames per second as a number (default: 100%)
--    frames    send exactly this number, then no more (default: until the end)
--    size      bytes with FCS, or a mix by its name: imix, emix (default: 64)
--    frame     function(size) that makes the template (traffic/frame.lua); default: UDP with the addresses of
--              the plan's ports
--
-- Call these inside a job; a script and the prompt are one.
local arguments = require "framegauge.plan.arguments"
local ethernet = require "framegauge.core.ethernet"
local Live = require "framegauge.tester.live"
local ports = require "framegauge.tester.port"
local sizes = require "framegauge.traffic.sizes"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local tester_streams = require "framegauge.tester.streams"
local trial = require "framegauge.trial"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"

local M = {}

local Running = {}
Running.__index = Running

-- Of one stream, of send() and of start().
local STREAM = {
   { "name", "string" }, { "from", "string", required = true }, { "to", "string", required = true },
   { "rate", "rate" }, { "frames", "integer", min = 1 }, { "size", "frame_size" }, { "frame", "function" },
}
local SEND = {
   { "streams", "table", required = true }, { "duration", "time", required = true, min = 1e-6 },
   { "learning_wait", "time" }, { "drain", "time" }, { "settle", "time" },
}
local START = { { "streams", "table", required = true }, { "learning_wait", "time" }, { "drain", "time" } }

local BAD_INPUT = 2
local LEARNING_WAIT, DRAIN = 0.05, 0.25 -- seconds, of streams that run until they are stopped

-- No port may be asked for more than its line carries.
local function check_lines(tester, fps)
   local needed = {}
   for one, rate in pairs(fps) do
      needed[one.from] = (needed[one.from] or 0) + ethernet.l1_bps(rate, one.mean)
   end
   for name, bps in pairs(needed) do
      local line_rate = ports.get(tester, name).line_rate
      if line_rate and bps > line_rate * (1 + 1e-9) then
         user_error.raise("stream", BAD_INPUT, "port %s: %s L1 would be more than its line carries, %s", name,
            units.format_bits_apart(bps, line_rate))
      end
   end
end

-- The streams as a plan would have them.
local function read(what, tester, list)
   local made, fps, seen = {}, {}, {}
   for i, o in ipairs(list) do
      local one = arguments.read(("%s: streams[%d]"):format(what, i), o, STREAM)
      one.name = one.name or one.from .. "-" .. one.to
      one.rate = { rate = one.rate or units.parse_rate "100%" }
      one.size, one.template, one.frame = { list = { one.size or 64 } }, one.frame, nil
      local about = select(2, sizes.of(one))
      one.mean = about.mean
      ports.get(tester, one.to)
      fps[one] = ports.fps(tester, one.from, one.rate.rate.text, about.mean)
      if seen[one.name] then
         user_error.raise("stream", BAD_INPUT, "%s: there are two streams '%s'", what, one.name)
      elseif about.most > tester.max_frame then
         user_error.raise("stream", BAD_INPUT, "%s: %s: the tester was opened for frames of at most %d bytes",
            what, one.name, tester.max_frame)
      end
      made[i], seen[one.name] = one, true
   end
   if not made[1] then
      user_error.raise("stream", BAD_INPUT, "%s: there is no stream", what)
   end
   check_lines(tester, fps)
   return made, fps
end

--- Send streams for a time, all at once, and wait for the results.
-- @param tester           an open tester (framegauge.tester)
-- @param o.streams        list of streams
-- @param o.duration       how long each is sent, in the tester's time
-- @param o.learning_wait, o.settle  pauses before and after (default: none)
-- @param o.drain          how long frames may still arrive (default: 500ms)
-- @return the record of the trial (framegauge.trial): verdict, reasons, tx, rx, lost, latency, and in
--         directions the counts of each stream
-- @usage local record = stream.send(tester, { duration = "1s", streams = {
--    { from = "east", to = "west", rate = "10kfps", size = 512 },
-- } })
-- return record.validity, record.tx, record.lost --> valid 10000 0
function M.send(tester, o)
   local values = arguments.read("stream.send", o, SEND)
   local made = read("stream.send", tester, values.streams)
   local plan = setmetatable({ streams = made }, { __index = tester.plan })
   local list = stream_config.streams(setmetatable({ plan = plan }, { __index = tester }), values.duration)
   local fps = 0
   for i, one in ipairs(list) do
      local template = made[i].template
      if template then
         one.frame = one.sizes and template or template(one.frame_size)
      end
      fps = fps + tester_streams.mean_fps(one.loads, values.duration)
   end
   local raw = tester:trial {
      streams = list, learning_wait = values.learning_wait, drain = values.drain, settle = values.settle,
   }
   return trial.record(raw, {
      test = "stream.send", direction = "all", fps = fps, seconds = values.duration, streams = list,
      apart = true,
   })
end

--- Start streams that run until they are stopped.
-- @param tester           an open tester (framegauge.tester)
-- @param o.streams        list of streams
-- @param o.learning_wait  pause before the first frame (default: 50ms)
-- @param o.drain          how long frames may still arrive after the last was sent (default: 250ms)
-- @return the running streams, with the methods set_rate, stop, start, counts and finish
-- @usage local running = stream.start(tester, { streams = { { from = "east", to = "west", rate = "10%" } } })
-- job.sleep(0.02)
-- local counts = running:finish().streams[1]
-- return counts.tx > 0, counts.tx - counts.rx --> true 0
function M.start(tester, o)
   local values = arguments.read("stream.start", o, START)
   local made, fps = read("stream.start", tester, values.streams)
   local list, macs, index = {}, stack.known(tester), {}
   for i, one in ipairs(made) do
      local from, to = stack.ends(tester.plan.ports, one)
      list[i] = {
         name = one.name, from = from, to = to, loads = { { fps = fps[one] } }, running = true,
         limit = one.frames,
         cycle = sizes.of(one),
         template = one.template or function(size)
            return stack.template(tester.plan.ports, one, macs, size)
         end,
      }
      index[one.name] = i
   end
   local live = Live.start(tester, list, {
      learning = values.learning_wait or LEARNING_WAIT, drain = values.drain or DRAIN,
   })
   return setmetatable({ tester = tester, live = live, made = made, fps = fps, index = index }, Running)
end

local function index_of(self, name)
   local names = tables.field(self.made, "name")
   return self.index[name] or user_error.raise("stream", BAD_INPUT, "there is no stream '%s'%s",
      tostring(name), suggest.hint(tostring(name), names))
end

--- Give a stream another rate, from now on.
-- @param name  of the stream
-- @param rate  as of a stream
-- @usage local running = stream.start(tester, { streams = { { from = "east", to = "west", rate = "10%" } } })
-- running:set_rate("east-west", "20kfps")
-- local _, why = pcall(running.set_rate, running, "east-west", "120%")
-- running:finish()
-- return why --> port east: 1.2 Gbit/s L1 would be more than its line carries, 1 Gbit/s
function Running:set_rate(name, rate)
   local i = index_of(self, name)
   local one, fps = self.made[i], {}
   for other, before in pairs(self.fps) do
      fps[other] = before
   end
   fps[one] = ports.fps(self.tester, one.from, rate, one.mean)
   check_lines(self.tester, fps)
   self.live:set_load(i, { fps = fps[one] })
   self.fps = fps
end

--- Let a stream send no more, until it is started again.
-- @usage local running = stream.start(tester, { streams = { { from = "east", to = "west", rate = "10%" } } })
-- running:stop "east-west"
-- local before = running:counts().streams[1].name running:finish()
-- return before --> east-west
function Running:stop(name)
   self.live:stop_stream(index_of(self, name))
end

--- Let a stream that was stopped go on.
-- @usage local running = stream.start(tester, { streams = { { from = "east", to = "west", rate = "10%" } } })
-- running:stop "east-west" running:start "east-west" running:finish()
function Running:start(name)
   self.live:start_stream(index_of(self, name))
end

--- Counts of all streams now. framegauge.trial.stats makes rates of two of them.
-- @return { seconds = since the beginning, in the tester's time, streams = list of { name =, tx =,
--         tx_octets =, rx =, rx_octets =, missing = lost, or still to come late } }. The receiver's are a
--         little older.
-- @usage local running = stream.start(tester, { streams = { { from = "east", to = "west", rate = "10%" } } })
-- local before = running:counts()
-- job.sleep(0.05)
-- local rates = stats.rates(before, running:counts()) running:finish()
-- return #rates --> 1
function Running:counts()
   local sample, seconds = self.live:sample()
   local list = {}
   for i, one in ipairs(self.made) do
      local now = sample[i - 1]
      list[i] = {
         name = one.name, tx = tonumber(now.tx_frames), tx_octets = tonumber(now.tx_octets),
         rx = tonumber(now.rx_frames), rx_octets = tonumber(now.rx_octets), missing = tonumber(now.missing),
      }
   end
   return { seconds = seconds, streams = list }
end

--- Stop all, wait for what is on its way, and end.
-- @return { seconds =, streams =, ports =, lcores = }, counted as of a trial (framegauge.tester)
-- @usage local running = stream.start(tester, { streams = { { from = "west", to = "east", rate = 5000 } } })
-- return running:finish().streams[1].name --> west-east
function Running:finish()
   return self.live:finish()
end

return M
