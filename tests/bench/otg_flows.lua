-- SPDX-License-Identifier: BSD-3-Clause

--- What many flows cost our server of the Open Traffic Generator API, and whether those who ask for their
-- metrics disturb the lcore that sends.
--
--    framegauge script tests/bench/otg_flows.lua [FLOWS [TURNS]]
--
-- The flows run by turns, with nobody who asks and with somebody who asks for all of them again and again, on
-- ports that take all frames and deliver others. Requests and answers are JSON, as HTTP brings them. Each
-- figure stands beside its bound; nothing fails, for on a machine that others use time passes, and a gap
-- between two polls is as long, as its scheduler likes: what of the time the program has had a processor for,
-- and how long the lcores have waited for one, stand beside it.
package.path = package.path .. ";" .. (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../lua/?.lua"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local Served = require "otg_served"
local uv = require "luv"

local FLOWS, TURNS = tonumber(arg[1] or 4096), tonumber(arg[2] or 5)
local SET_AND_START, METRICS = 5, 0.3 -- seconds: the bounds
local FPS, TURN_SECONDS, PAUSE = 80000, 3, 0.1

local PLAN = [[
test: otg
ports:
  east: {device: "vdev:net_null0", line_rate: 1Gbps}
  west: {device: "vdev:net_null1", line_rate: 1Gbps}
otg: {locations: {wire1: {port: west}}}
]]

-- Of a thread of this program: its name, and seconds in which it ran and in which it waited for a processor.
local function thread(tid)
   local task = ("/proc/self/task/%s/"):format(tid)
   local name, stat = io.open(task .. "comm"), io.open(task .. "schedstat")
   local ran, waited = stat:read "*a":match "^(%d+) (%d+)"
   local about = name:read "*a"
   name:close()
   stat:close()
   return about, tonumber(ran) / 1e9, tonumber(waited) / 1e9
end

-- Seconds of a call, and seconds of them in which this thread had a processor.
local function seconds(call, ...)
   local before, _, ran = uv.hrtime(), thread(uv.os_getpid())
   call(...)
   local _, now = thread(uv.os_getpid())
   return (uv.hrtime() - before) / 1e9, now - ran
end

local function median(list)
   table.sort(list)
   return list[math.ceil(#list / 2)]
end

local function configuration()
   local flows = {}
   for i = 1, FLOWS do
      flows[i] = Served.flow("f" .. i, { rate = { pps = math.max(1, math.floor(FPS / FLOWS)) },
         duration = { continuous = {} } })
   end
   return json.encode(Served.configuration(flows))
end

-- Seconds that the lcores have waited for a processor.
local function waited()
   local sum = 0
   for tid in uv.fs_scandir_next, uv.fs_scandir "/proc/self/task" do
      local name, _, wait = thread(tid)
      sum = sum + (name:find "worker" and wait or 0)
   end
   return sum
end

local function metrics(served)
   local status, answer = served:ask("POST /monitor/metrics", '{"choice": "flow", "flow": {}}')
   assert(status == 200 and #answer.flow_metrics == FLOWS)
end

-- One turn, whose times of metrics go to two lists. @return seconds of the longest gap between two polls, and
-- that the lcores have waited
local function turn(served, asks, times, processor)
   served:transmit "start"
   local live, before = served.calls.traffic.live, waited()
   local till = uv.hrtime() + TURN_SECONDS * 1e9
   while uv.hrtime() < till do
      if asks then
         times[#times + 1], processor[#times] = seconds(metrics, served)
      end
      job.sleep(PAUSE)
   end
   local wait = waited() - before
   served:transmit "stop"
   local gap = 0
   for _, lcore in ipairs(live.result.lcores) do
      gap = math.max(gap, lcore.poll_gap_max_ns)
   end
   return gap / 1e9, wait
end

local function shown(what, value, bound)
   print(("%-60s %10.6f s%s"):format(what, value, bound and (", at most %g s"):format(bound) or ""))
end

local function measure()
   local served, text, times, processor = Served.open_plan(PLAN), configuration(), {}, {}
   local set, set_ran = seconds(served.must, served, "POST /config", text)
   local start, start_ran = seconds(served.transmit, served, "start")
   served:transmit "stop"
   print(("%d flows, a request of %.1f MB"):format(FLOWS, #text / 1e6))
   shown("set and started", set + start, SET_AND_START)
   shown("of that with a processor", set_ran + start_ran)
   local gaps, waits = { [true] = {}, [false] = {} }, { [true] = {}, [false] = {} }
   for i = 1, 2 * TURNS do
      local asks = i % 2 == 0
      local gap, wait = turn(served, asks, times, processor)
      table.insert(gaps[asks], gap)
      table.insert(waits[asks], wait)
   end
   shown(("metrics of all, median of %d requests"):format(#times), median(times), METRICS)
   shown("the slowest", times[#times], METRICS)
   shown("of that with a processor, median", median(processor))
   shown("the slowest", processor[#processor])
   for _, asks in ipairs { false, true } do
      local who = asks and "somebody asks" or "nobody asks"
      shown(("longest gap between polls while %s, median of turns"):format(who), median(gaps[asks]))
      shown("of all turns", gaps[asks][#gaps[asks]])
      shown("the lcores have waited for a processor, median", median(waits[asks]))
   end
   served:close()
end

job.run(measure)
