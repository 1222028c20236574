-- SPDX-License-Identifier: BSD-3-Clause

local grid = require "framegauge.text.grid"

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

   it("has no line of units when none of its columns has one", function()
      local columns = { { "Port", "", first, left = true } }
      assert.equal("Port\n----\neast\n", grid.text(columns, { { "east" } }, paint))
   end)
end)
