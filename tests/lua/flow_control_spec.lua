-- SPDX-License-Identifier: BSD-3-Clause
local tools = require "campaign_tools"

local EMIX = { 64, 128, 256, 1024, 1518 }

-- Bytes of the first n frames of the mix.
local function bytes(n)
   local sum = 0
   for i = 1, n do
      sum = sum + EMIX[(i - 1) % #EMIX + 1]
   end
   return sum
end

-- Two ports share a line of 100 Mbit/s and are paused in turn. The first one also sends, and has sent long
-- before the end, frames that are too long for the switch.
local PLAN = [[
test: traffic
ports: {p1: {device: wire0}, p2: {device: wire1}, idle: {device: wire2}, sink: {device: wire3}}
reference_switch: {rate: 100Mbps, flow_control: pause, buffer: 1000, xoff: 20KiB, xon: 10KiB}
traffic: {duration: 500ms, learning_wait: 10ms, drain: 10ms, settle: 0s}
streams:
  mix: {from: p1, to: sink, size: emix, rate: 60%}
  gone: {from: p1, to: sink, size: 1520, rate: 2kfps, frames: 300}
  other: {from: p2, to: sink, size: 512, rate: 100%}
]]

describe("frames that wait in a paused port when a trial ends", function()
   it("are frames of their own streams, which have not sent them", function()
      local _, _, records = tools.results_of(PLAN)
      local mix, gone, other = unpack(records[1].directions)
      assert.same({ 300, 300, 0 }, { gone.tx, gone.lost, gone.unsent })
      assert.is_true(mix.unsent > 100)
      assert.equal(bytes(mix.tx), mix.tx_bytes)
      assert.equal(512 * other.tx, other.tx_bytes)
      -- the switch still holds no more than makes it pause a port, and what was on the way then
      for _, one in ipairs { mix, other } do
         assert.is_true(one.tx_bytes - one.rx_bytes < 20480 + 2 * 1518, one.tx_bytes - one.rx_bytes)
      end
   end)

   -- of two ports that share the line each has half of it, and this one has 85 % for 150 ms
   it("leave the load of a stream that has sent all its frames what it was", function()
      local function remarks(plan)
         local _, _, records = tools.results_of(plan)
         return table.concat(records[1].reasons, "\n")
      end
      local fps = tonumber(remarks(PLAN):match "gone: all frames were sent, but at (%d+) frames per second")
      assert.is_true(fps > 2000 * 0.5 / 0.85 and fps < 2000, fps)
      local early = remarks((PLAN:gsub("frames: 300", "frames: 2"))) -- they have left before the first pause
      assert.is_truthy(early:find("mix:", 1, true))
      assert.falsy(early:find("gone:", 1, true), early)
   end)

   it("are in no interval of its series", function()
      local _, _, records = tools.results_of(PLAN)
      for _, one in ipairs(records[1].directions) do
         local sum = 0
         for _, tx in ipairs(one.series.tx) do
            sum = sum + tx
         end
         assert.equal(one.tx, sum)
      end
   end)

   -- every fourth frame is wrong, or departs a second time; some have no signature that could be read
   it("have no errors on purpose that count as made", function()
      local plan = PLAN:gsub("  gone:.-\n", "")
      for kind, departures in pairs { fcs = 4, payload = 4, runt = 4, duplicate = 5 } do
         local errors = ("size: 512, rate: 100%%%%, errors: {%s: {every: 4}}"):format(kind)
         local _, _, records = tools.results_of((plan:gsub("size: emix, rate: 60%%", errors)))
         local mix = records[1].directions[1]
         assert.is_true(mix.unsent > 100, kind)
         assert.equal(0, mix.excess or 0, kind)
         assert.equal(math.floor(mix.tx / departures), mix.errors[1].sent, kind)
         assert.equal(kind == "duplicate" and 0 or mix.errors[1].sent, mix.wrong_tx or 0, kind)
         assert.is_true(mix.lost < 100, kind)
      end
   end)
end)
