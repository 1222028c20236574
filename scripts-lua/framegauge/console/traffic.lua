-- SPDX-License-Identifier: BSD-3-Clause

--- Traffic by hand: the streams of the plan, started, stopped and changed from the prompt.
--
-- While any stream runs there is a job that has the ports. When the last one has been stopped the job waits
-- for the frames on their way and ends, and its counts stay until the next start. A plan without streams has
-- one for each direction between the first two ports.
local History = require "framegauge.console.history"
local Live = require "framegauge.bench.live"
local cycles = require "framegauge.traffic.sizes"
local faults = require "framegauge.traffic.faults"
local job = require "framegauge.job"
local line = require "framegauge.line"
local loads = require "framegauge.traffic.loads"
local methods = require "framegauge.method"
local nearest = require "framegauge.nearest"
local refusal = require "framegauge.refusal"
local stack = require "framegauge.traffic.stack"
local units = require "framegauge.units"
local uv = require "luv"
local wanted = require "framegauge.traffic.wanted"

local SAMPLE_MS, SLOW_SAMPLE_MS, MANY = 100, 500, 500
local PHASES = { learning = 0.05, drain = 0.25 }
local DAY, MOST_STEPS = 86400, 100000
local COMMON_SIZES = { 64, 512, 1518 } -- frames that are taken without opening the ports anew

local Traffic = {}
Traffic.__index = Traffic

--- Of a tester (framegauge.console.tester).
function Traffic.new(tester)
   local self = setmetatable({ tester = tester, list = {}, by_name = {} }, Traffic)
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

--- The streams as the plan has them; rates given since are forgotten.
function Traffic:read_plan()
   local plan = self.tester.plan
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

local function port_index(plan, name)
   for i, port in ipairs(plan.ports) do
      if port.name == name then
         return i
      end
   end
end

function Traffic:names()
   local names = {}
   for i, stream in ipairs(self.list) do
      names[i] = stream.name
   end
   for _, port in ipairs(self.tester.plan.ports) do
      names[#names + 1] = port.name
   end
   return names
end

--- Streams that are meant: a stream by its name, those that a port sends, or all.
-- @param target  name of a stream or port; "all" or nil: all
function Traffic:of(target)
   if target == nil or target == "all" then
      return self.list
   elseif self.by_name[target] then
      return { self.by_name[target] }
   end
   local port, list = port_index(self.tester.plan, target), {}
   for _, stream in ipairs(self.list) do
      list[#list + 1] = stream.from == port and stream or nil
   end
   if not port then
      refusal.raise("streams", 2, "there is no stream or port '%s'%s", tostring(target),
         nearest.hint(tostring(target), self:names()))
   elseif #list == 0 then
      refusal.raise("streams", 2, "no stream starts from port %s", target)
   end
   return list
end

-- Rate of the line of a port as the open port says it, or the plan.
function Traffic:line_rate(i)
   local bench, plan = self.tester.bench, self.tester.plan
   local port = bench and bench.ports[i]
   return port and port.line_rate or plan.ports[i].line_rate
      or plan.reference_device and plan.reference_device.rate
end

-- What the arithmetic of a load needs; shares of a line that nobody knows are refused.
function Traffic:context(stream)
   return wanted.context(self.tester.plan.ports, stream.plan, self:line_rate(stream.from))
end

-- Frames per second that a load has at most.
function Traffic:peak(stream, load)
   local _, peak = wanted.fps(self.tester.plan.ports, stream.plan, self:line_rate(stream.from), load)
   return peak or refusal.raise("rate", 2, "%s: the rate of its line is not known, so %s of it says nothing; "
      .. "give frames or bits per second, or the port's line_rate in the plan", stream.name,
      units.format_rate(loads.foremost(load)))
end

-- The loads of a stream as the bench takes them. A profile that has no end is repeated for a day, or as often
-- as its steps are bearable.
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
         local bps = line.l1_bps(self:peak(stream, load), stream.size)
         needed[stream.from] = (needed[stream.from] or 0) + bps
      end
   end
   for port, bps in pairs(needed) do
      local line_rate = self:line_rate(port)
      if line_rate and bps > line_rate * (1 + 1e-9) then
         refusal.raise("rate", 2, "port %s: %s L1 would be more than its line carries, %s",
            self.tester.plan.ports[port].name, units.format_bits(bps), units.format_bits(line_rate))
      end
   end
end

--- Change the load of streams, to a constant one. A port's is shared evenly by its streams.
-- @param target  as of()
-- @param text    the load: "40%", "100kfps", "1Gbps L1"
function Traffic:set_rate(target, text)
   local rate, wrong, expected = units.parse_rate(text)
   if not rate then
      refusal.raise("rate", 2, "%s; expected %s", wrong, expected)
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

-- The plan with frames of all the sizes that may be sent.
function Traffic:plan()
   local plan, sizes, seen = self.tester.plan, {}, {}
   local function add(size)
      if not seen[size] then
         seen[size], sizes[#sizes + 1] = true, size
      end
   end
   for _, list in ipairs { methods.of(plan).frame_sizes(plan), COMMON_SIZES } do
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
   return setmetatable({ test = "rfc2544", rfc2544 = { frame_sizes = sizes } }, { __index = plan })
end

function Traffic:begin(bench, seconds)
   local streams, macs = {}, stack.known(bench)
   for i, stream in ipairs(self.list) do
      local function template(size)
         return stack.template(bench.plan.ports, stream.plan, macs, size)
      end
      streams[i] = {
         name = stream.name, from = stream.from, to = stream.to, loads = self:loads(stream, seconds),
         running = stream.running,
         cycle = cycles.of(stream.plan), template = template,
      }
      if stream.plan.errors then
         local _, size = cycles.of(stream.plan)
         streams[i].faults, streams[i].oversize = faults.config(stream.plan, template(size.least), {
            fps = self:peak(stream, stream.load), make = template,
         })
      end
   end
   self.live = Live.start(bench, streams, PHASES)
   self.history = History.new(self, self.live)
end

function Traffic:any_running()
   for _, stream in ipairs(self.list) do
      if stream.running then
         return true
      end
   end
   return false
end

-- Runs inside the job, until no stream runs, or the time is over.
function Traffic:run(seconds)
   local ok, err = pcall(function()
      self:begin(self.tester:bench_for(self:plan()), seconds)
      while self:any_running() and not (seconds and self.live:elapsed() >= seconds) do
         self:rest()
         self.history:add(self.live:sample())
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
   if not live or not ok and not (type(err) == "table" and err.interrupted) then
      error(err, 0)
   end
   return self.final, self:summary()
end

-- Until the next look at the counts, or until something has been changed.
function Traffic:rest()
   local pause = #self.list > MANY and SLOW_SAMPLE_MS or SAMPLE_MS
   job.wait(function(wake)
      local timer = uv.new_timer()
      self.wake = wake
      timer:start(pause, 0, function()
         wake()
      end)
      return function()
         self.wake = nil
         timer:close()
      end
   end)
end

function Traffic:summary()
   local tx, rx = 0, 0
   for _, stream in ipairs(self.final.streams) do
      tx, rx = tx + stream.tx, rx + stream.rx + stream.wrong_tx
   end
   return ("sent %s, lost %s"):format(units.format_count(tx), units.format_count(math.max(0, tx - rx)))
end

--- Start streams.
-- @param target   as of()
-- @param seconds  of the bench's time after which all ends; nil: until stopped
-- @return the job
function Traffic:start(target, seconds)
   local streams, changed = self:of(target), {}
   for _, stream in ipairs(streams) do
      changed[stream] = stream.load
   end
   self:check_lines(changed)
   local begins = not (self.task and not self.task.ended)
   if not begins and seconds then
      refusal.raise("start", 2, "traffic runs already, without a set end; 'stop' it first")
   end
   if begins then
      self.tester.tasks:check_free(self.tester:port_names())
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
      self.task = self.tester.tasks:start("traffic", self.tester:port_names(), function(task)
         task.progress = { ask = true, line = function()
            return self.history and self.history:line() or "begins"
         end }
         return self:run(seconds)
      end)
   end
   return self.task
end

--- Stop streams. With the last of them the job ends, once nothing is on its way any more. Call it inside a
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
