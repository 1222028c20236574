-- SPDX-License-Identifier: BSD-3-Clause

--- What the console costs, for tools/bench console: the time from the command to the prompt, the time to draw
-- the live view with many streams, and what drawing it takes from the lcore that carries them.
--
--    framegauge script console.lua [RUNS]
--
-- The lcore's figure is frames per second of its own processor time, which other programs on the machine take
-- no part of; the same traffic is looked at and left alone by turns. Left alone means that the main thread
-- sleeps: nobody copies or sums up any counter.
local api = require "framegauge.core.api"
local child = require "child"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local Control = require "framegauge.control"
local uv = require "luv"
local view = require "framegauge.console.view"
local worker_clock = require("tester").worker_clock

local RUNS = tonumber(arg[1]) or 5
local STREAMS = 10000
local SECONDS = 1 -- of each turn
local LONGEST_START = 20 -- seconds
local PAGE = { columns = 80, rows = 24, colour = true, utf8 = true }

local function median(list)
   table.sort(list)
   local middle = (#list + 1) / 2
   return (list[math.floor(middle)] + list[math.ceil(middle)]) / 2
end

local function seconds()
   return uv.hrtime() / 1e9
end

-- script(1) gives it a terminal.
local function time_to_prompt()
   local began = seconds()
   local console = child.spawn("script", { "-qfec", uv.exepath() .. " console", "/dev/null" })
   while not console.said:find("framegauge> ", 1, true) do
      if console.exited or seconds() - began > LONGEST_START then
         error("no prompt came:\n" .. console:last_words(), 0)
      end
      job.sleep(0.001)
   end
   local took = seconds() - began
   console:close()
   return took
end

local function many_streams()
   local lines = {
      "test: traffic", "ports: {east: {device: wire0}, west: {device: wire1}}",
      "reference_device: {rate: 10Gbps, time: free}", "streams:",
   }
   for i = 1, STREAMS do
      local from, to = i % 2 == 0 and "east" or "west", i % 2 == 0 and "west" or "east"
      lines[#lines + 1] = ("  s%d: {from: %s, to: %s, rate: 500fps}"):format(i, from, to)
   end
   return assert(plans.load_text(table.concat(lines, "\n"), "console"))
end

-- Frames per second of the lcore's time, while something is done on the main thread.
local function frames_per_second(engine, clock, act)
   local live = ffi.new "struct fg_live"
   api.C.fg_engine_live(engine, live)
   local frames, time = tonumber(live.rx), clock()
   act()
   api.C.fg_engine_live(engine, live)
   return (tonumber(live.rx) - frames) / (clock() - time)
end

local function draw(control)
   local traffic = control.traffic
   traffic.history:add(traffic.live:sample())
   view.page(control, PAGE)
end

-- The view, for the time of a turn.
local function look(control, pause)
   return function()
      local over = seconds() + SECONDS
      repeat
         draw(control)
         if pause > 0 then
            uv.sleep(pause)
         end
      until seconds() >= over
   end
end

local function leave_alone()
   uv.sleep(SECONDS * 1000)
end

local function measure_view()
   local control = Control.new(many_streams())
   local task = control.traffic:start()
   while not (control.traffic.history and control.traffic.history.time > 0) and not task.ended do
      job.sleep(0.01)
   end
   local clock, engine = worker_clock(), control.tester.engine
   local draws, twice, always = {}, {}, {}
   for i = 1, 4 * RUNS do
      local began = seconds()
      draw(control)
      draws[i] = (seconds() - began) * 1e3
   end
   for i = 1, RUNS do
      local before = frames_per_second(engine, clock, leave_alone)
      twice[i] = frames_per_second(engine, clock, look(control, 500)) / before
      before = frames_per_second(engine, clock, leave_alone)
      always[i] = frames_per_second(engine, clock, look(control, 0)) / before
   end
   control:close()
   return { draw = median(draws), longest = draws[#draws], twice = median(twice), always = median(always) }
end

local starts = {}
for i = 1, RUNS do
   starts[i] = time_to_prompt()
end
local function say(...)
   io.stdout:write(string.format(...), "\n")
   io.stdout:flush()
end

say("from the command to the prompt   %.2f s (at best %.2f s)", median(starts), starts[1])
local result = measure_view()
say("a page of %d streams          %.1f ms (at most %.1f ms)", STREAMS, result.draw, result.longest)
say("frames of the lcore, looked at   %.3f of those left alone, twice a second", result.twice)
say("                                 %.3f without a pause", result.always)
