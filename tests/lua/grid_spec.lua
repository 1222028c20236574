-- SPDX-License-Identifier: BSD-3-Clause

local grid = require "framegauge.text.grid"
local show = require "framegauge.text.show"

local function paint(text)
   return text
end

local function first(row)
   return row[1]
end

describe("a table on a terminal", function()
   it("has units below the names of its columns", function()
      assert.equal(" Rate  Verdict\nfps/s\n-----  -------\n  900  valid\n", grid.text({
         { "Rate", "fps/s", first }, { "Verdict", "", function(row) return row[2] end, left = true },
      }, { { "900", "valid" } }, paint))
   end)

   it("counts characters, not bytes", function()
      assert.equal("   Rate\n-------\n≥ 987 M\n  1.2 M\n", grid.text({ { "Rate", "", first } },
         { { "≥ 987 M" }, { "1.2 M" } }, paint))
   end)

   it("has no line of units when none of its columns has one", function()
      local columns = { { "Port", "", first, left = true } }
      assert.equal("Port\n----\neast\n", grid.text(columns, { { "east" } }, paint))
   end)
end)

describe("a figure", function()
   it("has six digits, and no exponent where it has more before the point", function()
      for value, text in pairs { [20543.71] = "20,543.7", [999999.4] = "999,999", [1e6] = "1,000,000",
         [-1488095.2] = "-1,488,095", [0.25] = "0.25" } do
         assert.equal(text, (show.write({ "teardown_per_s", "number" }, value)))
      end
   end)

   it("has separators from 1,000 on, where it is no name", function()
      local function written(row)
         return show.write(row, 999) .. " " .. show.write(row, 1000) .. " " .. show.write(row, 20000)
      end
      assert.equal("999 1,000 20,000", written { "queries", "count", as = "number" })
      assert.equal("999 1000 20000", written { "frame_size", "ordinal" })
      assert.equal("999 1000 20000", written { "trial", "ordinal" })
   end)
end)
