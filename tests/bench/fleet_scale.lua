-- SPDX-License-Identifier: BSD-3-Clause

--- The controller of fleet_scale.py: what questions to all agents, and trials, cost it.
--
--    framegauge script fleet_scale.lua FOLDER AGENTS STREAMS [BUS]
--
-- Each agent sends STREAMS streams to the next. Prints a line of JSON for each thing that was done.
local Controller = require "framegauge.fleet.controller"
local FleetTester = require "framegauge.fleet.tester"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local loader = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local folder, agents, each, bus = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]
local TRIALS = 3
-- Seconds, longer than for agents on hosts of their own, because all of these share the processors of this
-- machine: to the start, for an answer, and until a command is sent again.
local LEAD, PATIENCE, AGAIN = 0.5 + agents / 100, 10 + agents / 20, 1 + agents / 100

local PLAN = [[
test: traffic
fleet: {bus: /none, ttl: 600s}
ports:
  p1: {device: 'agent:rack1/east', ipv4: 198.18.0.1/15, line_rate: 100Mbps}
  p2: {device: 'agent:rack2/east', ipv4: 198.18.0.2/15, line_rate: 100Mbps}
streams: {s: {from: p1, to: p2, rate: 1kfps}}
traffic: {duration: 1s}
]]

-- A plan with more ports than a file may have.
local function large_plan()
   local plan = assert(loader.load_text(PLAN, "plan"))
   local port, stream = plan.ports[1], plan.streams[1]
   plan.ports, plan.streams = {}, {}
   for i = 1, agents do
      plan.ports[i] = tables.copy(port)
      plan.ports[i].name, plan.ports[i].device = "p" .. i, ("agent:rack%d/east"):format(i)
      plan.ports[i].ipv4 = ("198.18.%d.%d"):format(i / 250, i % 250 + 1)
      for k = 1, each do
         local one = tables.copy(stream)
         one.name, one.from, one.to = ("s%d_%d"):format(i, k), "p" .. i, "p" .. i % agents + 1
         table.insert(plan.streams, one)
      end
   end
   return plan
end

local function used()
   local usage = uv.getrusage()
   return usage.utime.sec + usage.stime.sec + (usage.utime.usec + usage.stime.usec) / 1e6
end

local control

local function measure(what, fn)
   local counts = control and control.bus.counts or { sent = 0, received = 0 }
   local sent, received, cpu, began = counts.sent, counts.received, used(), uv.hrtime()
   local more = fn() or {}
   counts = control.bus.counts
   more.what, more.wall_s, more.cpu_s = what, (uv.hrtime() - began) / 1e9, used() - cpu
   more.sent, more.received = counts.sent - sent, counts.received - received
   more.rss_mb = uv.resident_set_memory() / 1e6
   io.write(json.encode(more), "\n")
   io.flush()
end

-- From the first question of the last attempt to the last answer, and how many attempts there were.
local function watch(bench)
   local seen = { attempts = 0 }
   local ask, together = control.ask, bench.attempt
   function bench.attempt(...)
      seen.attempts, seen.began = seen.attempts + 1, uv.hrtime()
      return together(...)
   end
   function control.ask(self, name, step, ...)
      local answer = ask(self, name, step, ...)
      seen[step .. "_s"] = (uv.hrtime() - seen.began) / 1e9
      return answer
   end
   return seen
end

job.run(function()
   job.ignore_broken_pipes()
   local list, names = {}, {}
   for i = 1, agents do
      names[i] = "rack" .. i
      list[i] = { name = names[i], address = bus or folder .. "/" .. names[i] }
   end
   measure("connect", function()
      control = Controller.connect(list, { patience = PATIENCE, again = AGAIN })
   end)
   for _ = 1, TRIALS do
      measure("one question to all", function()
         Controller.together(names, function(name) return control:must(name, "ports", {}) end)
      end)
   end
   local bench
   measure("lease and open", function()
      bench = assert(FleetTester.open(large_plan(), { control = control, max_frame = 1518, lead = LEAD,
         collecting = PATIENCE }))
   end)
   for _ = 1, TRIALS do
      local seen = watch(bench)
      measure("trial", function()
         local streams = require("framegauge.traffic.stream_config").streams(bench, 1)
         local raw = bench:trial { streams = streams, directions = {} }
         seen.began, seen.invalid = nil, raw.invalid and raw.invalid[1] or nil
         for _, direction in ipairs(raw.directions) do
            assert(raw.invalid or direction.tx == 1000 and direction.rx == 900, direction.name)
         end
         return seen
      end)
      control.ask, bench.attempt = nil, nil
   end
   measure("release", function() control:release_all() end)
   bench:close()
end)
os.exit(0)
