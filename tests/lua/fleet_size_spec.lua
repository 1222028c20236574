-- SPDX-License-Identifier: BSD-3-Clause

-- How many messages a trial takes, and of how many bytes: real agents and a real controller over played
-- testers (fleet_world.lua), whose streams count what a real tester has counted of delays that vary widely.
local FleetTester = require "framegauge.fleet.tester"
local frame = require "framegauge.traffic.frame"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local stream_config = require "framegauge.traffic.stream_config"
local Tester = require "framegauge.tester"
local World = require "fleet_world"

teardown(scratch.remove)

local DEVICE = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {latency: 20us, jitter: %s}
]]

-- What a tester counts of a stream whose frames are each delayed by another time.
local function measured(jitter)
   return job.run(function()
      local tester = assert(Tester.open(assert(plans.load_text(DEVICE:format(jitter), "device"))))
      local made = frame.rfc2544(128, { version = 4, src_mac = octets.mac(tester.ports[1].mac),
         dst_mac = octets.mac(tester.ports[2].mac), src = octets.ipv4 "198.18.1.2",
         dst = octets.ipv4 "198.19.1.2", vary = {} })
      local function stream(name, from, to)
         return { name = name, from = from, to = to, frame = made,
            loads = { { fps = 50000, seconds = 0.5 } } }
      end
      local raw = tester:trial { drain = 0.1,
         streams = { stream("there", "east", "west"), stream("back", "west", "east") } }
      tester:close()
      raw.directions[1].series, raw.directions[1].availability = nil, nil
      return raw.directions[1]
   end)
end

local STEPS = { prepare = 2, arm = 2, collect = 2, forget = 1 } -- messages: but forget they are answered

-- Count what goes over a link from now on: the steps of a trial as messages, and all bytes.
local function count(link)
   local counts = { messages = 0, bytes = 0 }
   for _, one in ipairs { link, link.other } do
      local write = one.write
      function one.write(self, text)
         counts.bytes = counts.bytes + #text
         counts.messages = counts.messages + (STEPS[text:match '"fg%.v1%.cmd%.%w+%.(%w+)"'] or 0)
         return write(self, text)
      end
   end
   return counts
end

-- A trial in which rack1 sends a number of streams to rack2, and as many come back.
local function trial(streams, jitter)
   local list = {}
   for i = 1, streams do
      list[#list + 1] = ("  s%d: {from: a, to: b, rate: 1kfps}\n  r%d: {from: b, to: a, rate: 1kfps}")
         :format(i, i)
   end
   local text = World.plan { more = "streams:\n" .. table.concat(list, "\n") }
   local plan = assert(plans.load_text(text, "plan"))
   local direction = measured(jitter)
   return job.run(function()
      local world, counts = World.new { agents = World.AGENTS }, {}
      world.measured = direction
      local control = world.controller "alice"
      control.again = 5 -- nothing is lost here, so nothing has to be asked again
      local tester = assert(FleetTester.open(plan, { max_frame = 1518, lead = 0.3, control = control }))
      tester:keep_apart()
      for _, name in ipairs { "rack1", "rack2" } do
         counts[name] = count(world.links[name])
      end
      local raw = tester:trial { streams = stream_config.streams(tester, 0.02), directions = {},
         drain = 0.01, settle = 1 } -- so that all are done when they are asked first
      assert.is_nil(raw.invalid)
      tester:forget()
      job.sleep(1.5) -- what was sent is told for so long
      local copy = {}
      for name, one in pairs(counts) do
         copy[name] = { messages = one.messages, bytes = one.bytes }
      end
      tester:close()
      return copy, #direction.delays
   end)
end

describe("a trial of agents", function()
   -- the aims of docs/explanation/fleet-scale.md; each agent sends n streams and receives n
   it("takes at most 10 messages, and 2 kB and 8 kB a stream, of each agent", function()
      for _, n in ipairs { 1, 8 } do
         local counts, histogram = trial(n, "300us")
         assert.is_true(histogram > 1000, histogram) -- the delay is wide
         for name, one in pairs(counts) do
            assert.is_true(one.messages >= 7 and one.messages <= 10, one.messages)
            assert.is_true(one.bytes <= 2000 + 8000 * 2 * n,
               ("%s: %d bytes with %d streams"):format(name, one.bytes, 2 * n))
            assert.is_true(one.bytes > 2 * n * histogram, one.bytes) -- and the histograms are there
         end
      end
   end)
end)
