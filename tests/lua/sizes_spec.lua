-- SPDX-License-Identifier: BSD-3-Clause

-- Sizes of a stream: genomes (RFC 6985), mixes, ranges, and what is random about them.
local sizes = require "framegauge.traffic.sizes"

local function cycle(o)
   return assert(sizes.cycle(o))
end

-- How many frames of each size.
local function census(list)
   local count = {}
   for _, size in ipairs(list) do
      count[size] = (count[size] or 0) + 1
   end
   return count
end

describe("a cycle of sizes", function()
   it("follows a genome letter by letter", function()
      assert.same({ 64, 64, 64, 1280, 1518 }, cycle { genome = "aaafg" })
      assert.same({ 64, 128, 256, 512, 1024, 1280, 1518, 2112, 9000, 16000 }, cycle { genome = "abcdefghij" })
      assert.same({ 64, 64, 64, 1280, 1518 }, cycle { genome = "3afg" })
      assert.same({ 9216, 64 }, cycle { genome = "za", largest = 9216 })
      assert.same({ 70, 70, 570, 128 }, cycle {
         genome = "AABb", letters = { { letter = "A", size = 70 }, { letter = "B", size = 570 } },
      })
   end)

   it("has the simple mixes with their means", function()
      for name, mean in pairs { imix = 4246 / 12, imix_594 = 4342 / 12, imix_576 = 4270 / 12 } do
         local list = cycle { list = { name } }
         local d = sizes.describe(list)
         assert.equal(12, #list)
         assert.near(mean, d.mean, 1e-9)
         assert.equal(7, census(list)[64])
         assert.equal(1, census(list)[1518])
      end
      assert.same({ 64, 128, 256, 1024, 1518 }, cycle { list = { "emix" } })
      assert.same({ 64 }, cycle {})
      assert.same({ 64, 1518, 512 }, cycle { list = { 64, 1518, 512 } })
   end)

   it("spreads a mix", function()
      local list = cycle { mix = { { size = 64, weight = 4 }, { size = 1518, weight = 2 } } }
      assert.same({ 64, 1518, 64, 64, 1518, 64 }, list)
      assert.same({ 64, 96, 128 }, cycle { from = 64, to = 128, step = 32 })
      assert.same({ 128, 127, 126 }, cycle { from = 128, to = 126 })
   end)

   it("keeps the shares of a mix in random order, and the order of a seed", function()
      local mix = { { size = 64, weight = 7 }, { size = 570, weight = 4 }, { size = 1518, weight = 1 } }
      local first = cycle { mix = mix, order = "random", seed = 5 }
      local count = census(first)
      assert.equal(0, #first % 12)
      assert.is_true(#first >= 4096)
      assert.same({ [64] = #first * 7 / 12, [570] = #first * 4 / 12, [1518] = #first / 12 }, count)
      assert.same(first, cycle { mix = mix, order = "random", seed = 5 })
      assert.not_same(first, cycle { mix = mix, order = "random", seed = 6 })
      -- no order: after a small frame comes any other by its share
      local after = 0
      for i = 2, #first do
         after = after + ((first[i - 1] == 64 and first[i] == 64) and 1 or 0)
      end
      assert.near(#first * (7 / 12) ^ 2, after, 4 * math.sqrt(#first / 4))
   end)

   it("draws all sizes of a range equally", function()
      local list = cycle { random = "64-79", seed = 9 }
      local chi = 0
      for size = 64, 79 do
         local n = census(list)[size]
         chi = chi + (n - #list / 16) ^ 2 / (#list / 16)
      end
      assert.is_true(chi < 37.7, chi) -- 15 degrees of freedom, one in a thousand is beyond
      assert.not_same(list, cycle { random = "64-79", seed = 10 })
   end)

   it("refuses what is none", function()
      for key, o in pairs {
         genome = { genome = "ax" }, mix = { mix = { { size = 64, weight = 0 } } },
         random = { random = "10-20" }, to = { from = 64 },
         from = { genome = "a", from = 64, to = 65 },
      } do
         local list, problem = sizes.cycle(o)
         assert.is_nil(list)
         assert.equal(key, problem.key)
      end
      assert.is_nil((sizes.cycle { genome = "12" }))
      assert.is_nil((sizes.cycle { genome = "70000a" }))
   end)
end)
