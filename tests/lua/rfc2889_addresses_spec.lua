-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, 5.7 and 5.8: how many addresses the reference switch remembers, and how fast it learns them.
local caching = require "framegauge.methods.rfc2889.caching"
local octets = require "framegauge.core.octets"
local runs = require "rfc2889_runs"
local tables = require "framegauge.core.tables"

local run, run_disturbed, wrong = runs.run, runs.run_disturbed, runs.wrong

describe("the table of addresses by RFC 2889", function()
   local KEYS = "tests: [%s], address_table: {max: %d, initial: %d, ageing: 20s, test_rate: 10kfps, learning_rate: %s, order: [%s]}"
   local function measure(table_keys, ...)
      return run(3, ("mac_table: {ageing: 20s, %s}"):format(table_keys), KEYS:format(...))
   end

   local function tried(row)
      return tables.map(row.iterations, function(one)
         return one.addresses .. (one.passed and " P" or " F")
      end)
   end

   it("has addresses of a fixed sequence", function()
      assert.same({ "02:00:00:10:00:00", "02:00:00:10:00:01" },
         tables.map(caching.addresses("sequential", 2, 1), octets.mac_text))
      assert.same({ "02:ec:89:02:5c:c1", "02:a1:65:8e:ec:67", "02:ee:fb:32:55:5e" },
         tables.map(caching.addresses("random", 3, 1), octets.mac_text))
   end)

   it("is found to the address, with its own beside", function()
      local row = measure("size: 8192", "address_caching", 16384, 4096, "2kfps", "sequential")
         .address_caching[1]
      assert.same({ "4096 P", "10240 F", "7168 P", "8704 F", "7936 P", "8320 F", "8128 P", "8224 F", "8176 P",
         "8200 F", "8188 P", "8194 F", "8191 P", "8192 F", "16384 F" }, tried(row))
      assert.same({ 8191, 8192, "flood", 8191, "valid" }, { row.addresses, row.with_own, row.limited_by,
         row.learned_at_max, row.validity })
   end)

   it("is tried at the maximum itself, too", function()
      local row = measure("size: 65", "address_caching", 64, 32, "2kfps", "random").address_caching[1]
      assert.same({ 64, "maximum", 64, "64 P" }, { row.addresses, row.limited_by, row.learned_at_max,
         tried(row)[#row.iterations] })
      row = measure("size: 64", "address_caching", 64, 32, "2kfps", "random").address_caching[1]
      assert.same({ 63, "flood", "64 F" }, { row.addresses, row.limited_by, tried(row)[#row.iterations] })
   end)

   -- The bucket of an address: the hash of the reference switch, written a second time.
   local function bucket_of(mac, buckets)
      local number = 0ULL
      for i = 1, 6 do
         number = number * 256 + mac:byte(i)
      end
      return tonumber(bit.rshift(number * 0x9e3779b97f4a7c15ULL, 32) % buckets)
   end

   -- How many of the first addresses find a place before one does not, and how many of n do.
   local function kept(list, n, buckets, ways)
      local used, places, first = {}, 0, nil
      for i = 1, n do
         local b = bucket_of(list[i], buckets)
         used[b] = (used[b] or 0) + 1
         places = places + (used[b] <= ways and 1 or 0)
         first = first or used[b] > ways and i - 1 or nil
      end
      return first, places
   end

   -- By themselves; but beside them the table has the test port's own address, the first of all.
   it("shows by the order how it hashes", function()
      for _, case in ipairs {
         { 2048, 4, "sequential", 1, 7057, 7593 }, { 2048, 4, "random", 1, 579, 6570 },
         { 2048, 4, "random", 2, 1542 }, { 2048, 4, "random", 3, 598 },
         { 8192, 1, "sequential", 1, 7037 }, { 8192, 1, "random", 1, 98 },
         { 1024, 8, "sequential", 1, 7480 }, { 1024, 8, "random", 1, 2539 },
      } do
         local buckets, ways, order, seed, alone, of_all = unpack(case)
         local list = caching.addresses(order, 8192, seed)
         local first, places = kept(list, 8192, buckets, ways)
         assert.same({ alone, of_all or places }, { first, places })
         table.insert(list, 1, octets.mac "02:f6:00:00:00:01")
         local row = run(3, ("mac_table: {ageing: 20s, size: 8192, buckets: %d, ways: %d}"):format(buckets,
            ways), (KEYS:format("address_caching", 8192, 4096, "2kfps", order):gsub("}$", ", seed: " .. seed
            .. "}"))).address_caching[1]
         assert.same({ kept(list, 8193, buckets, ways) }, { row.addresses + 1, row.learned_at_max + 1 })
      end
   end)

   it("is found again when it does not learn every address", function()
      -- the test port's own is the first; the tenth is the ninth of the others
      local row = measure("size: 8192, skip_every: 10", "address_caching", 64, 32, "2kfps", "sequential")
         .address_caching[1]
      assert.same({ 8, 64 - 6 }, { row.addresses, row.learned_at_max })
   end)

   it("learns at the rate that it was told to", function()
      local row = run(3, "mac_table: {ageing: 20s, learning_rate: 2000fps}", "tests: [learning_rate], address_table: {addresses: 3000, ageing: 20s, test_rate: 10kfps, order: [random]}")
         .learning_rate[1]
      assert.is_true(row.learning_fps <= 2000 and row.learning_fps >= 2000 * 0.99)
      assert.is_true(row.upper_fps > 2000)
      assert.same({ 3000, "flood", "valid" }, { row.addresses, row.limited_by, row.validity })
      -- 2000 / (1 - q / (N - 1)) with a queue of q
      row = run(3, "mac_table: {ageing: 20s, learning_rate: 2000fps, learning_queue: 1000}",
         "tests: [learning_rate], address_table: {addresses: 3000, ageing: 20s, test_rate: 10kfps, order: [sequential]}").learning_rate[1]
      local truth = 2000 / (1 - 1000 / 2999)
      assert.is_true(row.learning_fps <= truth + 2 and row.learning_fps >= truth * 0.99, row.learning_fps)
   end)

   it("is not judged by learning frames that were lost", function()
      local row = run(3, "capacity: 1kfps, buffer: 10, mac_table: {ageing: 20s}", "tests: [address_caching], address_table: {max: 256, ageing: 20s, test_rate: 500fps, learning_rate: 5kfps, order: [sequential]}").address_caching[1]
      assert.same({ "invalid", "learning" }, { row.validity, row.limited_by })
   end)

   it("is not judged by the broadcast that announces the test port", function()
      local _, session = measure("size: 64", "address_caching", 64, 32, "2kfps", "random")
      for _, record in ipairs(session.trials) do
         assert.same({ 0, "learning test" }, { record.lost,
            table.concat(tables.field(record.directions, "direction"), " ") })
      end
   end)

   local function capacity_of_48(disturb)
      return run_disturbed(disturb, 3, "mac_table: {size: 48, ageing: 20s}",
         KEYS:format("address_caching", 64, 32, "2kfps", "sequential")).address_caching[1]
   end

   -- Each third trial the tester sends five frames less to learn from, so five addresses are flooded.
   local function unsent()
      local n = 0
      return function(record)
         local learning, test = record.directions[1], record.directions[2]
         n = n + 1
         if n % 3 == 1 then
            learning.tx, learning.rx = learning.tx - 5, learning.rx - 5
            test.measured.misdirected = { p3 = (test.measured.misdirected or { p3 = 0 }).p3 + 5 }
            record.validity, record.reasons = "tester-limited", { "5 frames were not sent" }
         end
      end
   end

   it("is the switch's only as far as the tester sent all", function()
      local row = capacity_of_48(unsent())
      assert.same({ 47, "flood", "valid" }, { row.addresses, row.limited_by, row.validity })
      row = capacity_of_48(function(record)
         record.directions[1].tx = record.directions[1].tx - 1
         record.directions[1].rx = record.directions[1].rx - 1
      end)
      assert.same({ "tester-limited", "tester", nil }, { row.validity, row.limited_by, row.learned_at_max })
      assert.same({ "0 and 1 of 1 frames were sent to learn from and to test" }, row.reasons)
   end)

   -- Half of the frames to learn from come together. The switch can learn them so; nobody knows at first.
   it("is the switch's where it has learned as many at once before", function()
      local function late(ms)
         return function(record)
            local learning = record.directions[1]
            learning.off_schedule, learning.lag_max_ns = learning.tx / 2, ms(record) * 1e6
         end
      end
      local row = capacity_of_48(late(function() return 9 end))
      assert.same({ 47, "flood", "valid" }, { row.addresses, row.limited_by, row.validity })
      row = capacity_of_48(late(function(record) return record.trial end))
      assert.same({ 47, "tester", "tester-limited" }, { row.addresses, row.limited_by, row.validity })
      assert.truthy(row.reasons[1]:find("1 frame flooded, but 24 to learn from left off schedule", 1, true))
   end)

   it("is not measured when it would forget meanwhile", function()
      assert.truthy(wrong(3, "", KEYS:format("address_caching", 1233, 100, "50fps", "random")):find(
         "1233 addresses take 25.1 s to learn and to test, and are forgotten after 20.0 s", 1, true))
      assert.truthy(wrong(2, "", "tests: [address_caching]"):find("at least 3 ports", 1, true))
      assert.truthy(wrong(3, "", "tests: [learning_rate]"):find("address_table.addresses: missing", 1, true))
      assert.truthy(wrong(3, "", KEYS:format("address_caching", 100, 100, "1kfps", "random")):find(
         "initial: not below max", 1, true))
   end)
end)
