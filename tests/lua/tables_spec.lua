-- SPDX-License-Identifier: BSD-3-Clause

-- What is asked of plain tables in many places.
local tables = require "framegauge.core.tables"

describe("the place of a name in a list", function()
   local looks

   -- Items whose names are counted when they are read.
   local function list_of(n)
      local list = {}
      for i = 1, n do
         list[i] = setmetatable({}, { __index = function()
            looks = looks + 1
            return "p" .. i
         end })
      end
      looks = 0
      return list
   end

   it("is found for all names of a long list by one look at each item", function()
      local places = tables.places(list_of(1000))
      assert.is_true(looks <= 3 * 1000, looks)
      for i = 1000, 1, -1 do
         assert.equal(i, places["p" .. i])
      end
      assert.is_true(looks <= 3 * 1000, looks)
   end)

   it("is the first of those that have it", function()
      local list = {}
      for i = 1, 200 do
         list[i] = { name = "p" .. i }
      end
      assert.equal(200, tables.index_of(list, "p200"))
      list[7].name = "p200"
      assert.equal(7, tables.index_of(list, "p200"))
      assert.equal(7, tables.places(list).p200)
   end)

   it("is found behind items without a name", function()
      local list = {}
      for i = 1, 100 do
         list[i] = {}
      end
      list[101] = { name = "new" }
      assert.equal(101, tables.index_of(list, "new"))
      assert.equal(101, tables.places(list).new)
   end)

   it("follows a list that shrinks, by one look at each item before it", function()
      local list = list_of(200)
      for _ = 1, 199 do
         table.remove(list, 1)
         assert.equal(#list, tables.index_of(list, "p200"))
      end
      assert.is_nil(tables.index_of(list, "p1"))
      assert.is_true(looks <= 200 * 201 / 2, looks)
   end)
end)
