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

   it("is found in a long list without a search for each name", function()
      local list = list_of(1000)
      for i = 1000, 1, -1 do
         assert.equal(i, tables.index_of(list, "p" .. i))
      end
      assert.is_true(looks < 10 * 1000, looks)
   end)

   it("follows a list that changes", function()
      for _, n in ipairs { 3, 200 } do
         local list = list_of(n)
         assert.equal(n, tables.index_of(list, "p" .. n))
         table.remove(list, 1)
         assert.equal(n - 1, tables.index_of(list, "p" .. n))
         assert.is_nil(tables.index_of(list, "p1"))
         list[n] = { name = "new" }
         assert.equal(n, tables.index_of(list, "new"))
         list[n].name = "other"
         assert.is_nil(tables.index_of(list, "new"))
      end
   end)
end)
