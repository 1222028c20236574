-- SPDX-License-Identifier: BSD-3-Clause

--- Interactive traffic: the streams of the plan, which are started, stopped and changed while they run.
--
-- While any stream runs, a job owns the ports. After the last one has been stopped, the job waits for frames
-- in flight and ends; its counts stay until the next start. A plan without streams gets one per port, to its
-- neighbour.
local cycles = require "framegauge.traffic.sizes"
local ethernet = require "framegauge.core.ethernet"
local faults = require "framegauge.traffic.faults"
local History = require "framegauge.control.history"
local job = require "framegauge.core.job"
local Live = require "framegauge.tester.live"
local loads = require "framegauge.traffic.loads"
local stack = require "framegauge.traffic.stack"
local stream_config = require "framegauge.traffic.stream_config"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local user_error = require "framegauge.core.user_error"
local verdict = require "framegauge.text.verdict"

local SAMPLE_SECONDS, SLOW_SAMPLE_SECONDS, MANY = 0.1, 0.5, 500
local PHASES = { learning = 0.05, drain = 0.25 }
local DAY, MOST_STEPS = 86400, 100000
local COMMON_SIZES = { 64, 512, 1518 } -- frames that never need the ports to be opened again

local Traffic = {}
Traffic.__index = Traffic

--- Of a tester (control/init.lua).
function Traffic.new(control)
   local self = setmetatable({ control = control, list = {}, by_name = {} }, Traffic)
   self:read_plan()
   return self
end

local function default_streams(plan)
   local list = {}
   for i = 1, #plan.ports do
      local to = i % 2 == 1 and i + 1 or i - 1
      list[i] = {
         name = plan.ports[i].name .. "-" .. plan.ports[to].name, from = plan.ports[i].name,
         to = plan.ports[to].name, size = { list = { 64 } }, rate = { rate = units.parse_rate "10%" },
      }
   end
   return list
end

--- Take the streams of the plan; later changes of rates are discarded.
function Traffic:read_plan()
   local plan = self.control.plan
   self.list, self.by_name, self.history = {}, {}, nil
   for i, stream in ipairs(plan.streams[1] and plan.streams or default_streams(plan)) do
      local from, to = stack.ends(plan.ports, stream)
      local one = {
         name = stream.name, from = from, to = to, size = select(2, cycles.of(stream)).mean, plan = stream,
         load = stream.rate, rate = loads.foremost(stream.rate),
         running = false, index = i,
      }
      self.list[i], self.by_name[one.name] = one, one
   end
end

function Traffic:names()
   return tables.joined(tables.field(self.list, "name"), self.control:port_names())
end

--- The streams of a target: a stream by its name, those that a port sends, or all.
-- @param target  name of a stream or port; "all" or nil: all
function Traffic:of(target)
   if target == nil or target == "all" then
      return self.list
   elseif self.by_name[target] then
      return { self.by_name[target] }
   end
   local port, list = tables.index_of(self.control.plan.ports, target), {}
   for _, stream in ipairs(self.list) do
      list[#list + 1] = stream.from == port and stream or nil
   end
   if not port then
      user_error.raise("streams", 2, "there is no stream or port '%s'%s", tostring(target),
         suggest.hint(tostring(target), self:names()))
   elseif #list == 0 then
      user_error.raise("streams", 2, "port %s sends no stream", target)
   end
   return list
end

-- Line rate of a port: the open port's, or the plan's.
function Traffic:line_rate(i)
   local tester, plan = self.control.tester, self.control.plan
   local port = tester and tester.ports[i]
   return port and port.line_rate or plan.ports[i].line_rate
      or plan.reference_device and plan.reference_device.rate
end

-- Context for the arithmetic of a load.
function Traffic:context(stream)
   return stream_config.context(self.control.plan.ports, stream.plan, self:line_rate(stream.from))
end

-- Peak rate of a load, frames per second.
function Traffic:peak(stream, load)
   local _, peak = stream_config.fps(self.control.plan.ports, stream.plan, self:line_rate(stream.from), load)
   return peak or user_error.raise("rate", 2, "%s: %s of an unknown line rate; give frames or bits per second, or the port's line_rate in the plan", stream.name,
      units.format_rate(loads.foremost(load)))
end

-- The loads of a stream as the tester takes them. An endless profile is repeated for a day, or up to a
-- limited number of steps.
function Traffic:loads(stream, seconds)
   local profile = stream.load.profile or {}
   if profile[1] and not seconds then
      seconds = math.min(DAY, MOST_STEPS / #profile * loads.length(stream.load))
   end
   local list = loads.of(stream.load, self:context(stream), seconds)
   for _, load in ipairs(list) do
      load.timed = true
   end
   return list
end

-- A port cannot send more than its line carries.
function Traffic:check_lines(changed)
   local needed = {}
   for _, stream in ipairs(self.list) do
      local load = changed[stream] or (stream.running and stream.load)
      if load then
         local bps = ethernet.l1_bps(self:peak(stream, load), stream.size)
         needed[stream.from] = (needed[stream.from] or 0) + bps
      end
   end
   for port, bps in pairs(needed) do
      local line_rate = self:line_rate(port)
      if line_rate and bps > line_rate * (1 + 1e-9) then
         user_error.raise("rate", 2, "port %s: %s L1 would exceed its line rate, %s",
            self.control.plan.ports[port].name, units.format_bits_apart(bps, line_rate))
      end
   end
end

--- Set a constant load. The streams of a port share its load evenly.
-- @param target  as of()
-- @param text    the load: "40%", "100kfps", "1Gbps L1"
function Traffic:set_rate(target, text)
   local rate, wrong, expected = units.parse_rate(text)
   if not rate then
      user_error.raise("rate", 2, "%s; expected %s", wrong, expected)
   end
   local streams, of_port, changed = self:of(target), {}, {}
   for _, stream in ipairs(streams) do
      of_port[stream.from] = (of_port[stream.from] or 0) + 1
   end
   for _, stream in ipairs(streams) do
      local share = self.by_name[target] and 1 or of_port[stream.from]
      changed[stream] = {
         rate = { unit = rate.unit, value = rate.value / share, layer = rate.layer, text = rate.text },
      }
   end
   self:check_lines(changed)
   for stream, load in pairs(changed) do
      stream.load, stream.rate = load, load.rate
      if self.live then
         self.live:set_load(stream.index, self:loads(stream)[1])
      end
   end
end

-- The open ports, for frames of all the sizes that may be sent.
function Traffic:tester()
   local plan, sizes, seen = self.control.plan, {}, {}
   local function add(size)
      if not seen[size] then
         seen[size], sizes[#sizes + 1] = true, size
      end
   end
   for _, list in ipairs { plan.needs.frame_sizes, COMMON_SIZES } do
      for _, size in ipairs(list) do
         add(size)
      end
   end
   for _, stream in ipairs(self.list) do
      for _, size in ipairs(select(2, cycles.of(stream.plan)).kinds) do
         add(size)
      end
      if stream.plan.errors and stream.plan.errors.oversize then
         add(stream.plan.errors.oversize.size)
      end
   end
   return self.control:tester_for(plan, sizes)
end

function Traffic:begin(tester, seconds)
   local streams, macs = {}, stack.known(tester)
   for i, stream in ipairs(self.list) do
      local function template(size)
         return stack.template(tester.plan.ports, stream.plan, macs, size)
      end
      streams[i] = {
         name = stream.name, from = stream.from, to = stream.to, loads = self:loads(stream, seconds),
         running = stream.running, limit = stream.plan.frames,
         cycle = cycles.of(stream.plan), template = template,
      }
      if stream.plan.errors then
         local _, size = cycles.of(stream.plan)
         streams[i].faults, streams[i].oversize = faults.config(stream.plan, template(size.least), {
            fps = self:peak(stream, stream.load), make = template,
         })
      end
   end
   self.live = Live.start(tester, streams, PHASES)
   self.history = History.new(self, self.live)
end

function Traffic:any_running()
   return tables.any(self.list, function(stream) return stream.running end)
end

-- A stream that has sent all its frames does not run any more.
function Traffic:note_done(sample)
   for i, stream in ipairs(self.list) do
      if stream.running and stream.plan.frames and sample[i - 1].tx_frames >= stream.plan.frames then
         stream.running = false
      end
   end
end

-- Runs inside the job, until no stream runs or the time is over.
function Traffic:run(seconds)
   local ok, err = pcall(function()
      self:begin(self:tester(), seconds)
      while self:any_running() and not (seconds and self.live:elapsed() >= seconds) do
         job.rest(self, #self.list > MANY and SLOW_SAMPLE_SECONDS or SAMPLE_SECONDS) -- or a change
         local sample, time = self.live:sample()
         self.history:add(sample, time)
         self:note_done(sample)
      end
   end)
   for _, stream in ipairs(self.list) do
      stream.running = false
   end
   local live = self.live
   self.live = nil
   if live then
      self.final = live:finish()
      self.history:finish(self.final)
   end
   if not live or not ok and not job.is_interrupt(err) then
      error(err, 0)
   end
   return self.final, self:summary()
end

function Traffic:summary()
   local tx, rx = 0, 0
   for _, stream in ipairs(self.final.streams) do
      tx, rx = tx + stream.tx, rx + stream.rx + stream.wrong_tx
   end
   local parts = {
      ("sent %s, lost %s"):format(units.format_count(tx), units.format_count(math.max(0, tx - rx))),
   }
   for _, port in ipairs(self.final.ports) do
      parts[#parts + 1] = verdict.link_reason(port)
   end
   return table.concat(parts, "; ")
end

--- Start streams.
-- @param target   as of()
-- @param seconds  time after which all streams end; nil: until stopped
-- @return the job
function Traffic:start(target, seconds)
   local streams, changed = self:of(target), {}
   for _, stream in ipairs(streams) do
      changed[stream] = stream.load
   end
   self:check_lines(changed)
   local begins = not (self.task and not self.task.ended)
   if not begins and seconds then
      user_error.raise("start", 2, "traffic is already running; 'stop' it first")
   end
   if begins then
      self.control.tasks:check_free(self.control:port_names())
   end
   for _, stream in ipairs(streams) do
      if not stream.running then
         stream.running = true
         if self.live then
            self.live:start_stream(stream.index)
         end
      end
   end
   if begins then
      self.task = self.control.tasks:start("traffic", self.control:port_names(), function(task)
         task.look = function()
            return self.history and self.history:progress()
         end
         return self:run(seconds)
      end)
   end
   return self.task
end

--- Stop streams. With the last of them the job ends, when no frame is in flight any more. Call it inside a
-- job.
function Traffic:stop(target)
   for _, stream in ipairs(self:of(target)) do
      if stream.running then
         stream.running = false
         if self.live then
            self.live:stop_stream(stream.index)
         end
      end
   end
   if self.task and not self.task.ended and not self:any_running() then
      if self.wake then
         self.wake()
      end
      self.task:wait()
   end
end

return Traffic
