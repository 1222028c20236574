-- SPDX-License-Identifier: BSD-3-Clause

-- Arguments of every kind for what scripts call, at random: they are followed or refused. A call that crashes
-- or waits for ever takes this whole test with it.
local Tester = require "framegauge.tester"
local frame = require "framegauge.traffic.frame"
local plan = require "framegauge.plan"
local stream = require "framegauge.trial.stream"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps}
]]
local CALLS = 150

local random = math.random

local function one_of(...)
   return (select(random(select("#", ...)), ...))
end

local function number()
   return one_of(0, -1, 1, 0 / 0, 1 / 0, 2 ^ 53, random() * 1e6, random(2000), 1e-9)
end

local function junk()
   return one_of(number(), number(), "1kfps", "x", {}, true)
end

-- Mostly what is right.
local function mostly(right)
   return random() < 0.96 and right or junk()
end

-- At times nothing.
local function maybe(value)
   return random() < 0.15 and value or nil
end

local function list(make, most)
   local items = {}
   for i = 1, random(0, most) do
      items[i] = make()
   end
   return items
end

local function program()
   return {
      first = maybe(number()), step = maybe(number()), count = mostly(random(50)), every = maybe(number()),
      random = maybe(true), hold = maybe(number()), high = maybe(true), list = maybe(list(function()
         return ("x"):rep(random(0, 20))
      end, 5)),
   }
end

local function field()
   return one_of("source", "destination", "ttl", "length", "checksum", "source_port", "type", "vni")
end

local function layer()
   return mostly {
      one_of("ethernet", "ipv4", "ipv6", "udp", "tcp", "vlan", "mpls", "gre", "vxlan", "icmp", "arp", "no"),
      [field()] = maybe(mostly(random(255))), [field()] = maybe(("z"):rep(random(0, 17))),
      vary = maybe { [field()] = program() },
      fields = maybe(list(function()
         return { name = field(), value = maybe(number()), bad = maybe(true), program = maybe(program()) }
      end, 3)),
      bytes = maybe(list(function()
         return { at = mostly(random(60)), octets = mostly(random(10)), mask = number(), program = program() }
      end, 3)),
   }
end

local function load()
   return mostly { fps = mostly(random(10000)), seconds = mostly(random() / 50), shape = maybe(junk()) }
end

local function trial()
   return {
      frame_size = mostly(random(64, 1518)), directions = mostly(list(function()
         return mostly(one_of("east->west", "west->east"))
      end, 3)),
      fps = mostly(random(10000)), duration = mostly(random() / 50), loads = maybe(maybe(list(load, 3))),
      burst = maybe { frames = junk(), interval_frames = junk() }, drain = 0.01,
      tags = maybe { first = number(), every = number(), count = number() },
      modifier = maybe(one_of("broadcast", "filters", "x")),
      outage = maybe { at = number(), seconds = junk() },
      gap = maybe(number()), stagger = maybe { east = junk() }, members = maybe(maybe { {} }),
      stations = maybe { count = number(), fps = number() },
   }
end

local function streams()
   return list(function()
      return {
         name = maybe(junk()), from = mostly "east", to = mostly "west",
         rate = mostly(random(5000)), size = mostly(random(64, 1518)),
      }
   end, 4)
end

describe("junk", function()
   local tester

   setup(function()
      tester = assert(Tester.open(assert(plan.load_text(PLAN, "junk")), { max_frame = "1518" }))
      math.randomseed(1)
   end)
   teardown(function()
      tester:close()
   end)

   -- How many of the calls were followed.
   local function followed(call)
      local count = 0
      for _ = 1, CALLS do
         count = count + (pcall(call) and 1 or 0)
      end
      return count
   end

   it("makes no frame that crashes", function()
      local count = followed(function()
         local template = frame.build(mostly(random(64, 1518)), list(layer, 4), { nested = maybe(true),
            payload = maybe(("p"):rep(random(0, 2000))) })
         stream.send(tester, { duration = 0.001, drain = 0.001, streams = { { from = "east", to = "west",
            rate = 5000, frame = function() return template end } } })
      end)
      assert.is_true(count < CALLS)
   end)

   it("makes no trial that crashes", function()
      local count = followed(function()
         tester:trial(trial())
      end)
      assert.is_true(count > 0 and count < CALLS)
   end)

   it("makes no streams that crash", function()
      local count = followed(function()
         local running = stream.start(tester, { streams = streams(), drain = mostly(0.001) })
         pcall(running[one_of("set_rate", "stop", "start", "counts")], running, junk(), junk())
         running:finish()
      end)
      assert.is_true(count > 0 and count < CALLS)
   end)
end)
