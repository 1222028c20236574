-- SPDX-License-Identifier: BSD-3-Clause

--- What the page shows of a tester, as plain data.
--
-- Counts of interactive traffic come from the console's live view (control/history.lua); of a test, the
-- sums over its trials (tester/totals.lua). Rates of a test are differences between two looks; where the
-- wire's time runs free there is no such rate, because its second is not a second of real time.
local build = require "framegauge.build"
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local uv = require "luv"

local M = {}

local MANY = 500 -- streams that are shown
local LEAST_SECONDS = 0.9 -- between the two looks of a rate

local State = {}
State.__index = State

--- Of a tester (control/init.lua).
function M.new(control)
   return setmetatable({ control = control, looks = {} }, State)
end

-- Does a test own the ports? Then the traffic of before is not what is looked at.
local function test_runs(control)
   for _, task in ipairs(control.tasks:running()) do
      if task ~= control.traffic.task then
         return true
      end
   end
   return control.traffic.history == nil
end

local function l1(frames, bytes)
   return 8 * (bytes + ethernet.OVERHEAD * frames)
end

-- Counts by port and by stream, of all trials.
local function sums_of(tester)
   local ports, streams = {}, tester.totals:read()
   for i in ipairs(tester.ports) do
      ports[i] = { tx = 0, rx = 0, tx_bytes = 0, rx_bytes = 0, lost = 0 }
   end
   for _, stream in ipairs(streams) do
      for _, way in ipairs { { "tx", stream.from }, { "rx", stream.to } } do
         local port, key = ports[way[2]], way[1]
         local bytes = key .. "_bytes"
         port[key], port[bytes] = port[key] + stream[key], port[bytes] + stream[bytes]
      end
      stream.lost = stream.lost + (stream.missing or 0)
      ports[stream.to].lost = ports[stream.to].lost + stream.lost
   end
   return ports, streams
end

-- The last look that is old enough to make a rate with.
function State:earlier(now)
   while self.looks[2] and now - self.looks[2].at >= LEAST_SECONDS do
      table.remove(self.looks, 1)
   end
   return self.looks[1]
end

local function rates(now, before, seconds)
   local out = {}
   before = before or now
   for _, way in ipairs { "tx", "rx" } do
      local frames, bytes = now[way] - before[way], now[way .. "_bytes"] - before[way .. "_bytes"]
      out[way .. "_fps"] = seconds > 0 and frames / seconds or 0
      out[way .. "_bps"] = seconds > 0 and l1(frames, bytes) / seconds or 0
   end
   return out
end

local KEYS = { "tx", "rx", "lost", "loss_ratio", "tx_fps", "rx_fps", "tx_bps", "rx_bps" }

local function shown(counts, more)
   for _, key in ipairs(KEYS) do
      more[key] = counts[key]
   end
   local latency = counts.latency
   if latency then
      for _, key in ipairs { "min_ns", "mean_ns", "p99_ns", "max_ns" } do
         more[key] = latency[key]
      end
   end
   return more
end

local function port_facts(control, i)
   local plan, tester = control.plan.ports[i], control.tester
   local open = tester and tester.ports[i] or {}
   return {
      name = plan.name, device = plan.device, mac = open.mac, mode = open.mode,
      line_rate = control.traffic:line_rate(i),
   }
end

function State:of_traffic()
   local control, history = self.control, self.control.traffic.history
   local ports = tables.map(control.plan.ports, function(_, i)
      return shown(history:port(i), port_facts(control, i))
   end)
   local streams = {}
   for i = 1, math.min(MANY, #control.traffic.list) do
      local stream = control.traffic.list[i]
      streams[i] = shown(history:stream(i), {
         name = stream.name, running = stream.running, from = control.plan.ports[stream.from].name,
         to = control.plan.ports[stream.to].name, rate = units.format_rate(stream.rate),
      })
   end
   return ports, streams, #control.traffic.list
end

function State:of_test(now)
   local control, tester = self.control, self.control.tester
   local ports, list = {}, {}
   if tester then
      ports, list = sums_of(tester)
   end
   local before = tester and tester.clock ~= "wire-free" and self:earlier(now) or nil
   local seconds = before and now - before.at or 0
   self.looks[#self.looks + 1] = { at = now, ports = ports, streams = list }
   local shown_ports = tables.map(control.plan.ports, function(_, i)
      local sum = ports[i] or { tx = 0, rx = 0, lost = 0 }
      local one = shown(sum, port_facts(control, i))
      for key, value in pairs(before and rates(sum, before.ports[i], seconds) or {}) do
         one[key] = value
      end
      return one
   end)
   local streams = {}
   for i = 1, math.min(MANY, #list) do
      local sum = list[i]
      for key, value in pairs(before and rates(sum, before.streams[i], seconds) or {}) do
         rawset(sum, key, value)
      end
      streams[i] = shown(sum, {
         name = sum.name, running = sum.running or false, from = control.plan.ports[sum.from].name,
         to = control.plan.ports[sum.to].name, mean_ns = sum.rx > 0 and sum.delay_sum_ns / sum.rx or nil,
      })
   end
   return shown_ports, streams, #list
end

local function job_of(task, traffic)
   return {
      id = task.id, name = task.name, state = task:state(), line = task:line(), progress = task:progress(),
      run = task.folder and task.folder:match "([^/]+)/*$", trials = #task.trials,
      is_traffic = task == traffic.task,
   }
end

--- Everything at this moment.
function State:read()
   local control, now = self.control, uv.hrtime() / 1e9
   local is_test = test_runs(control)
   local ports, streams, all
   if is_test then
      ports, streams, all = self:of_test(now)
   else
      ports, streams, all = self:of_traffic()
   end
   local seconds, microseconds = uv.gettimeofday()
   return {
      version = build.version, plan = control.plan.name, test = control.plan.test,
      time_ms = math.floor(seconds * 1000 + microseconds / 1000),
      clock = control.tester and control.tester.clock,
      counts = is_test and "test" or "traffic", ports = ports, streams = streams, all_streams = all,
      jobs = tables.map(control.tasks.list, function(task)
         return job_of(task, control.traffic)
      end),
   }
end

return M
