-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, 5.6: forward pressure, held against reference switches with gaps and clocks of their own.
local runs = require "rfc2889_runs"

local KEYS = "tests: [forward_pressure], frame_sizes: [%s], trial: 200ms"

local function measure(switch, sizes)
   return runs.run(2, switch, KEYS:format(sizes)).forward_pressure
end

describe("forward pressure by RFC 2889", function()
   it("is found where the switch copies the gap", function()
      for i, size in ipairs { 64, 1518 } do
         local row = measure("gap: 11", "64, 1518")[i]
         assert.same({ size, 88, true, "fail", "valid" }, { row.frame_size, row.gap_bits,
            row.forward_pressure, row.outcome, row.validity })
         assert.near(1e9 / 8 / (size + 19), row.forwarding_span_fps, 1)
         assert.near(1e9 / 8 / (size + 19), row.offered_fps, 1)
         assert.near(1e6 / (size + 19), row.excess_ppm, 1)
      end
   end)

   it("is not found where the switch keeps the standard, by a clock of its own", function()
      for _, ppm in ipairs { 0, 100, -100 } do
         local row = measure(("ppm: %d"):format(ppm), "64")[1]
         assert.same({ false, "pass" }, { row.forward_pressure, row.outcome })
         assert.near(ppm, row.excess_ppm, 1)
         assert.near(200, row.tolerance_ppm, 0.1)
      end
   end)

   it("cannot be found with frames in which a byte is less than clocks may differ", function()
      local row = measure("gap: 11, max_frame: 9018", "9018")[1]
      assert.same({ "not-applicable" }, { row.validity, row.outcome })
      assert.truthy(row.reasons[1]:find("one byte in frames of 9018", 1, true))
      assert.equal("fail", measure("gap: 11, max_frame: 9018", "4000")[1].outcome)
   end)
end)
