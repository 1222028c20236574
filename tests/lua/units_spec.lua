-- SPDX-License-Identifier: BSD-3-Clause
local units = require "framegauge.text.units"

describe("units", function()
   it("read quantities into base units", function()
      assert.equal(60, units.parse_time "60s")
      assert.equal(2e-5, units.parse_time "20us")
      assert.equal(120, units.parse_time "2 min")
      assert.equal(1e10, units.parse_bits "10Gbps")
      assert.equal(900000, units.parse_frame_rate "900kfps")
      assert.equal(0.001, units.parse_ratio "0.1%")
      assert.equal(1518, units.parse_size "1518")
      assert.equal(65536, units.parse_size "64KiB")
      assert.same({ value = 512, unit = "frames" }, units.parse_buffer "512")
      assert.same({ value = 65536, unit = "bytes" }, units.parse_buffer "64KiB")
   end)

   it("read loads with the unit and layer they were written in", function()
      assert.same({ unit = "ratio", value = 0.4, text = "40%" }, units.parse_rate "40%")
      assert.same({ unit = "fps", value = 1.5e6, text = "1.5Mfps" }, units.parse_rate "1.5Mfps")
      assert.same({ unit = "bps", value = 5e9, layer = 1, text = "5Gbps L1" }, units.parse_rate "5Gbps L1")
   end)

   it("take a bare zero in every unit and no other bare number where it could be mistaken", function()
      assert.equal(0, units.parse_time "0")
      assert.equal(0, units.parse_ratio "0")
      assert.equal("ratio", units.parse_rate("0").unit)
      for _, kind in ipairs { "time", "bits", "frame_rate", "ratio", "rate" } do
         local value, wrong, expected = units["parse_" .. kind]("60")
         assert.is_nil(value)
         assert.equal('"60" has no unit', wrong)
         assert.equal(units.expected[kind], expected)
      end
   end)

   it("refuse another unit, nonsense, negative numbers and text behind a NUL", function()
      for _, text in ipairs { "60fps", "fast", "", "-1s", "1s\0", "1s s", "0x10s", "nan", "1e999s" } do
         assert.is_nil((units.parse_time(text)), text)
      end
      assert.is_nil((units.parse_size "1.5"))
      assert.is_nil((units.parse_bits "1Gbps L2"))
   end)

   it("want the layer of a load in bits", function()
      local value, wrong = units.parse_rate "5Gbps"
      assert.is_nil(value)
      assert.equal('"5Gbps" does not say its layer', wrong)
   end)

   it("write four significant digits with the prefix that suits", function()
      assert.equal("1.488 Mfps", units.format_frame_rate(1488095))
      assert.equal("900 kfps", units.format_frame_rate(900000))
      assert.equal("1 Mfps", units.format_frame_rate(999999))
      assert.equal("987.6 Mbit/s L2", units.format_bits(987.6e6, 2))
      assert.equal("400 Gbit/s", units.format_bits(4e11))
      assert.equal("20 us", units.format_time(20e-6))
      assert.equal("1.5 s", units.format_time(1.5))
      assert.equal("3 min 20 s", units.format_time(200))
      assert.equal("2 h 5 min", units.format_time(7500))
      assert.equal("73.44 %", units.format_ratio(0.734375))
      assert.equal("1,488,095", units.format_count(1488095))
      assert.equal("812", units.format_count(812))
      assert.equal("5 Gbit/s L1", units.format_rate(units.parse_rate "5Gbps L1"))
   end)
end)
