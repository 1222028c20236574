-- SPDX-License-Identifier: BSD-3-Clause
local placement = require "framegauge.tester.placement"

-- n workers, node 0's first, half of them each
local function workers(n)
   local list = {}
   for i = 1, n do
      list[i] = { id = i, cpu = i, node = i <= n / 2 and 0 or 1 }
   end
   return list
end

-- "id/id id/id" of each port: who sends and who receives on each of its queues
local function placed(ports, n, wire, one)
   local places, used, notes = placement.place(ports, wire, one, workers(n))
   local text = {}
   for i, port in ipairs(places) do
      local list = {}
      for queue, lcore in ipairs(port) do
         list[queue] = used[lcore.tx + 1] .. "/" .. used[lcore.rx + 1]
      end
      text[i] = table.concat(list, " ")
   end
   return text, notes
end

local near, far = { numa = 0 }, { numa = 1 }

describe("placement", function()
   it("gives each port two workers of its node, or one, or all the same", function()
      assert.same({ "1/2", "5/6" }, placed({ near, far }, 8))
      assert.same({ "1/1", "2/2" }, placed({ near, far }, 2))
      assert.same({ "1/1", "1/1" }, placed({ near, far }, 1))
      assert.same({ "1/1", "1/1" }, placed({ near, near }, 8, true))
      assert.same({ "1/1", "5/5" }, placed({ near, far }, 8, false, true))
   end)

   it("gives each queue of a port its own", function()
      assert.same({ "1/2 3/4", "5/6 7/8" },
         placed({ { numa = 0, queues = 2 }, { numa = 1, queues = 2 } }, 8))
      assert.same({ "1/1 2/2", "3/3 4/4" },
         placed({ { numa = 0, queues = 2 }, { numa = 1, queues = 2 } }, 4))
      assert.same({ "1/2 3/4", "5/6" }, placed({ { numa = 0, queues = 2 }, far }, 8))
   end)

   it("lets queues share the workers of their node by turns where there are too few", function()
      assert.same({ "1/2 1/2 1/2", "3/4 3/4 3/4" },
         placed({ { numa = 0, queues = 3 }, { numa = 1, queues = 3 } }, 4))
      assert.same({ "1/2 3/4 1/2", "3/4 1/2 3/4" },
         placed({ { numa = -1, queues = 3 }, { numa = -1, queues = 3 } }, 4))
   end)

   it("says so when a port has to do with a worker of another node", function()
      local _, notes = placed({ near, near, near }, 6)
      assert.same({ {}, {} }, { notes[1], {} })
      assert.matches("CPU 4 is on NUMA node 1, the port on node 0", notes[2][1])
   end)
end)
