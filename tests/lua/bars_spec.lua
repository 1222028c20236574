-- SPDX-License-Identifier: BSD-3-Clause
local bars = require "framegauge.text.bars"
local fake_result = require "fake_result"
local rfc2544 = require "framegauge.methods.rfc2544.report"

describe("bars", function()
   it("are as long as their share, to an eighth of a character", function()
      assert.equal(("█"):rep(40), bars.bar(1))
      assert.equal(("█"):rep(20) .. (" "):rep(20), bars.bar(0.5))
      assert.equal("▏" .. (" "):rep(39), bars.bar(1 / 320))
      assert.equal((" "):rep(40), bars.bar(-1))
   end)

   it("stand in line", function()
      assert.equal("  64  " .. bars.bar(0.5) .. "  50.00 %\n1518  " .. bars.bar(1) .. " 100.00 %\n",
         bars.chart { { "64", 50 }, { "1518", 100 } })
      assert.equal("", bars.chart {})
   end)

   it("show how full the line was, and the losses where there were any", function()
      local result = fake_result()
      local function bars_of(title)
         for _, one in ipairs(rfc2544.terminal(result)) do
            if one.title:find(title, 1, true) then
               return one.bars
            end
         end
      end
      local share = bars_of "Throughput"
      assert.equal("Share of the line", share.title)
      local bar = bars.bar(0.60449)
      assert.equal(("  64 bytes, both directions  %s  60.45 %%\n1518 bytes, both directions  %s  60.45 %%\n"):format(bar,
         bar), share.text)
      assert.equal("Frames lost", bars_of("Frame loss").title)
      assert.matches("64 bytes, east->west, 100 % load  " .. bars.bar(0.395) .. "  39.50 %\n",
         bars_of("Frame loss").text,
         1, true)
      result.results.frame_loss[1].lost = 0
      assert.is_nil(bars_of "Frame loss")
      assert.is_nil(bars_of "Reset")
   end)
end)
