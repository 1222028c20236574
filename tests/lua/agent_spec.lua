-- SPDX-License-Identifier: BSD-3-Clause

-- Two testers: how their clocks are compared, and what they tell each other.
local clock = require "framegauge.agent.clock"
local exchange = require "framegauge.agent.exchange"
local ffi = require "ffi"
local json = require "framegauge.text.json"
local address = require "framegauge.plan.address"
local ClockOffset = require "framegauge.agent.clock_offset"

local function state(o)
   return {
      synchronised = o.synchronised ~= false, error_ns = o.error_ns or 1e5, boot = o.boot or "one",
      raw = o.raw,
   }
end

describe("clocks of two testers", function()
   it("are good enough when both are kept, and to a share of the least delay", function()
      assert.is_nil(clock.problem(state {}, state {}, 2e5, "10 %"))
      assert.matches("the local tester reports that its clock is not", clock.problem(
         state { synchronised = false },
         state {}, 1e9, "10 %"), 1, true)
      assert.matches("the remote agent reports that its clock is not", clock.problem(state {},
         state { synchronised = false }, 1e9, "10 %"), 1, true)
      local wrong = clock.problem(state { error_ns = 3e6 }, state { error_ns = 2e6 }, 2.6e6, "10 %")
      assert.matches("agree to 2600.000 us, 10 % of the smallest FTD", wrong, 1, true)
      assert.matches("differ by 5000.000 us (local 3000.000 us, remote 2000.000 us", wrong, 1, true)
   end)

   it("are not taken for perfect where the kernel refuses to tell", function()
      -- adjtimex under a filter of system calls: an error, and the zeros it was given
      local refused = clock.state(function()
         ffi.errno(1)
         return -1
      end)
      assert.is_false(refused.synchronised)
      assert.is_true(refused.error_ns >= 1e9)
      assert.matches("the remote agent cannot read the state of its clock (adjtimex: Operation not",
         clock.problem(state {}, json.decode(json.encode(refused)), 1e12, "10 %"), 1, true)
      local kept = clock.state(function(timex)
         timex.maxerror = 250
         return 0
      end)
      assert.is_true(kept.synchronised and kept.error_ns == 250e3 and kept.refused == nil)
   end)

   it("are one on one system, if the other's time lies between asking and hearing", function()
      local asked = clock.raw()
      local other = clock.text(clock.raw())
      local heard = clock.raw()
      assert.is_true(clock.same(state {}, state { raw = other }, asked, heard))
      assert.is_false(clock.same(state {}, state { raw = other, boot = "two" }, asked, heard))
      assert.is_false(clock.same(state {}, state { raw = "12" }, asked, heard))
   end)

   it("are told to the nanosecond", function()
      local time = 1790000000123456789LL
      assert.equal("1790000000123456789", clock.text(time))
      assert.is_true(clock.number(clock.text(time)) == time and clock.number "-7" == -7LL)
   end)

   -- Two clock offsets that hear each other at once, as over a perfect connection.
   local function two(scale)
      local near, far
      local function towards(whom, is_near)
         return { send = function(_, object)
            whom():hear(json.decode(json.encode(object)), is_near)
         end }
      end
      near = ClockOffset.new(scale, towards(function() return far end, false))
      far = ClockOffset.new(scale, towards(function() return near end, true))
      return near, far
   end

   -- Both after some questions; on one machine neither clock is ahead, to what reading two of them takes.
   local function asked(scale)
      local near, far = two(scale)
      for _ = 1, 5 do
         near:ask()
      end
      assert.near(0, tonumber(near:ahead()), 1e7)
      assert.near(0, tonumber(far:ahead()), 1e7)
      return near
   end

   it("stand by what both know of the real time", function()
      local near = asked "realtime"
      local kernel = clock.state()
      assert.is_true(near:error() >= 2 * kernel.error_ns * 0.99)
      assert.equal(not kernel.synchronised, near.lost or false)
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
