-- SPDX-License-Identifier: BSD-3-Clause

-- Characterisation of a switch: its table of addresses, against reference switches that are known.
local plans = require "framegauge.plan"
local truth = require "characterise_truth"
local twin = require "framegauge.methods.characterise.twin"

describe("test: characterise of a switch", function()
   -- numbers of switches drawn: large and small tables, slow to learn and with a queue, one that hashes
   for _, number in ipairs { 1, 7, 10, 13, 20, 24, 32 } do
      it(("finds the table of addresses of switch %d within its bounds"):format(number), function()
         local switch = truth.switch(number)
         local results, cost = truth.measure_switch(switch)
         assert.is_true(cost.trials <= 60 and cost.seconds <= 180, cost.seconds)
         assert.same({ "valid", true }, { results.mac_table[1].validity, results.mac_table[1].learns })
         for _, check in ipairs(truth.checks_of_table(switch, results.mac_table[1])) do
            assert.is_true(check.holds, ("%s of %s: %s, found %s to %s"):format(check.what, switch.text,
               check.truth, tostring(check.low), tostring(check.high)))
         end
      end)
   end

   it("tells a table of addresses exactly, and its twin is a switch that has it", function()
      local results = truth.measure_switch { text = "{rate: 100Mbps, mac_table: {size: 1000, ageing: 10s, learning_rate: 3000fps, learning_queue: 20}}" }
      local row = results.mac_table[1]
      assert.same({ 1000, 1000, "keeps" }, { row.addresses.min_addresses, row.addresses.max_addresses,
         row.when_full })
      assert.near(10e9, row.ageing.ns, 2e6)
      assert.near(3000, row.learning.fps, 30)
      assert.is_true(row.learning_queue.min_addresses <= 20 and row.learning_queue.max_addresses <= 21)
      local text = twin.text(results.characterisation, "switch", 1e8, row)
      local plan, errors = plans.load_text("test: rfc2889\nports: {a: {device: wire0}, b: {device: wire1}}",
         "plan", { on = { name = "twin.yaml", text = text } })
      assert(plan, errors and tostring(errors[1]))
      local is = plan.reference_switch
      assert.equal(1000, is.mac_table.size)
      assert.near(20, is.mac_table.learning_queue, 1)
      assert.near(10, is.mac_table.ageing, 0.002)
   end)

   it("tries nothing for which there is no time, says so, and is not wrong", function()
      -- of its ageing and of its addresses; the last time for all but a closer look
      for limit, told in pairs { [61] = { false, true }, [70] = { true, false }, [140] = { true, true } } do
         local switch = truth.switch(20) -- that forgets after 36 s
         local results, cost = truth.measure_switch(switch, ("  limit: %ds\n"):format(limit))
         local row = results.mac_table[1]
         assert.is_true(cost.seconds <= limit, cost.seconds)
         assert.matches("raise characterise.limit", table.concat(row.remarks, "\n"), 1, true)
         assert.same(told, { row.ageing ~= nil, row.addresses ~= nil })
         for _, check in ipairs(truth.checks_of_table(switch, row)) do
            assert.is_true(check.holds, check.what)
         end
      end
   end)

   it("asks for a limit that leaves time to forget", function()
      local text = "test: characterise\nreference_switch: {rate: 1Gbps}\n"
         .. "ports: {a: {device: wire0}, b: {device: wire1}%s}"
      local sets = { sets = { "characterise.addresses.ageing=330s" } }
      local _, errors = plans.load_text(text:format ", c: {device: wire2}", "x.yaml", sets)
      assert.matches("ageing: 5 min 30 s takes that long", tostring(errors[1]), 1, true)
      assert(plans.load_text(text:format "", "x.yaml", sets)) -- no table without a third port
   end)

   it("says of a device that learns no address that it does not", function()
      local results = truth.measure_switch { text = "{rate: 100Mbps, mac_table: {skip_every: 1}}" }
      local row = results.mac_table[1]
      assert.same({ false, nil, nil }, { row.learns, row.addresses, row.ageing })
      assert.matches("it does not learn", row.remarks[1])
      assert.matches("\nreference_device:", twin.text(results.characterisation, "hub", 1e8, row))
   end)
end)
