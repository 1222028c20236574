-- SPDX-License-Identifier: BSD-3-Clause

-- Two testers: how their clocks are compared, and what they tell each other.
local Clock = require "framegauge.clock"
local exchange = require "framegauge.tester.remote.exchange"
local json = require "framegauge.text.json"
local address = require "framegauge.plan.address"
local machine = require "framegauge.clock.machine"
local pair = require "framegauge.clock.pair"
local time = require "framegauge.clock.time"
local ClockOffset = require "framegauge.tester.remote.clock_offset"

local function state(o)
   return { synchronised = true, error_ns = 1e5, boot = o.boot or "one", raw = o.raw }
end

describe("clocks of two testers", function()
   it("are one on one system, if the other's time lies between asking and hearing", function()
      local asked = time.raw()
      local other = time.text(time.raw())
      local heard = time.raw()
      assert.is_true(pair.same(state {}, state { raw = other }, asked, heard))
      assert.is_false(pair.same(state {}, state { raw = other, boot = "two" }, asked, heard))
      assert.is_false(pair.same(state {}, state { raw = "12" }, asked, heard))
      assert.is_false(pair.same(state {}, state { raw = time.text(heard + 1) }, asked, heard))
   end)

   it("are told to the nanosecond", function()
      local at = 1790000000123456789LL
      assert.equal("1790000000123456789", time.text(at))
      assert.is_true(time.number(time.text(at)) == at and time.number "-7" == -7LL)
   end)

   -- Two clock offsets that hear each other at once, as over a perfect connection.
   local function two(scale, clock)
      local near, far
      local function towards(hearer, is_near)
         return { send = function(_, object)
            hearer():hear(json.decode(json.encode(object)), is_near)
         end }
      end
      near = ClockOffset.new(scale, towards(function() return far end, false), clock)
      far = ClockOffset.new(scale, towards(function() return near end, true), clock)
      return near, far
   end

   -- Both after some questions; on one machine neither clock is ahead, to what reading two of them takes.
   local function asked(scale, clock)
      local near, far = two(scale, clock or Clock.new {})
      for _ = 1, 5 do
         near:ask()
      end
      assert.near(0, tonumber(near:ahead()), 1e7)
      assert.near(0, tonumber(far:ahead()), 1e7)
      return near
   end

   -- CLOCK_REALTIME of this machine, with a bound that is played
   local function kept_within(ns)
      local played = setmetatable({
         kernel = function() return { synchronised = ns ~= nil, maxerror_ns = ns } end,
         programs = function() return {} end,
      }, { __index = machine })
      local clock = Clock.new { source = "kernel", machine = played }
      clock:choose(function() end)
      return clock
   end

   it("are taken to be read half-way between question and answer, where nothing better is known", function()
      local near, asked_at = two("control", Clock.new {}), time.raw() - 2000000000LL
      near:hear({ asked = time.text(asked_at), raw = time.text(asked_at + 1000000000LL) }, true)
      assert.near(0, tonumber(near:ahead()), 1e7)
   end)

   it("stand by the bounds that both have, or are lost", function()
      local near = asked("common", kept_within(1e8))
      assert.is_true(near:error() >= 2e8 and near:error() < 3e8)
      assert.is_nil(near.lost)
      assert.matches("not synchronised", asked("common", kept_within(nil)).lost, 1, true)
   end)

   it("stand by the round trip, or by nothing where they are one", function()
      assert.is_nil(asked("control"):error())
      local near = asked "machine"
      assert.is_true(near:ahead() == 0 and near:error() == 0)
   end)
end)

describe("what two testers tell each other", function()
   local STACK = {
      { "ethernet", source = "\2\0\0\0\0\1", destination = "\2\0\0\0\255\0" },
      { "vlan", id = 5, priority = 3 },
      { "ipv4", source = "\198\18\1\2", destination = "\198\19\1\2", dscp = 46 },
      { "udp", source = 49184, destination = 7, checksum = 0 },
   }

   it("is frames that come out the same at both", function()
      local sent = { name = "one", from = "near", loads = { { fps = 10, seconds = 1 } }, over_time = 1 }
      sent.frame = { size = 128, stack = STACK }
      local packed = json.decode(json.encode(exchange.pack_streams { sent }))
      for _, here in ipairs { "near", "far" } do
         local stream = exchange.unpack_streams(packed, "port", here)[1]
         assert.same({ "port", "port", here == "far" }, { stream.from, stream.to, stream.idle })
         assert.equal(require("framegauge.traffic.frame").build(128, STACK).header, stream.frame.header)
      end
   end)

   it("is joined by who sent and who received", function()
      local function half(tx, rx)
         local intervals = { tx = { tx, tx }, rx = { rx, rx } }
         for _, key in ipairs { "octets", "duplicates", "reordered", "delay_min_ns", "delay_max_ns",
            "delay_p999_ns", "delay_mean_ns" } do
            intervals[key] = { 5, 5 }
         end
         return { tx = 2 * tx, rx = 2 * rx, intervals = intervals }
      end
      local near = { directions = { half(10, 0), half(0, 7) }, ports = { "a" }, lcores = { 1 } }
      local far = { directions = { half(0, 9), half(8, 0) }, ports = { "b" }, lcores = { 2 } }
      local raw = exchange.join({ { from = "near", over_time = 1 }, { from = "far", over_time = 1 } }, "near",
         near, far)
      assert.same({ 20, 18, 16, 14 }, { raw.directions[1].tx, raw.directions[1].rx, raw.directions[2].tx,
         raw.directions[2].rx })
      assert.same({ { 10, 10 }, { 9, 9 } }, { raw.directions[1].series.tx, raw.directions[1].series.rx })
      assert.same({ 2, 0 }, { raw.directions[2].availability.seconds,
         raw.directions[2].availability.unavailable_s })
      assert.same({ { "a", "b" }, { 1, 2 } }, { raw.ports, raw.lcores })
      local own = half(10, 9) -- both ports are one tester's
      assert.same({ 10, 10 }, exchange.join_direction(own, own, 1).series.tx)
   end)

   it("passes over addresses that only this machine reaches", function()
      for text, here in pairs {
         ["127.0.0.1:5564"] = true, ["[::1]:7"] = true, ["/run/far.sock"] = true, ["0.0.0.0:5564"] = false,
         ["[::]:7"] = false, ["192.0.2.1:80"] = false,
      } do
         assert.equal(here, address.is_local(address.of_service(text)))
      end
      for _, text in ipairs { "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "host:5", "" } do
         assert.is_nil(address.of_service(text))
      end
   end)
end)
