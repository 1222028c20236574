-- SPDX-License-Identifier: BSD-3-Clause

--- Every test of RFC 2889 on reference switches: each figure within a bound that follows from the method, as
-- docs/explanation/truth.md has them.
local page = require "rfc2889_page"
local scratch = require "scratch"
local truth = require "rfc2889_truth"
local truth_table = require "truth_table"

local NOT_TO_BE_HAD = "not-applicable"

for _, device in ipairs(truth.DEVICES) do
   describe("a " .. device.name, function()
      local results
      local function measured()
         results = results or truth.measure(device)
         return results
      end

      it("is measured within the bounds of the method", function()
         for _, check in ipairs(truth.checks(device, measured())) do
            assert.is_true(truth_table.holds(check), ("%s: %s is not within %s and %s (truth %s)"):format(
               check.what, check.measured, check.low, check.high, check.truth))
         end
         for _, rows in pairs(measured()) do
            for _, row in ipairs(rows) do
               assert.is_true(row.validity == "valid" or row.validity == NOT_TO_BE_HAD,
                  ("%s: %s"):format(row.test, row.reasons[1]))
            end
         end
      end)

      it("stands in docs/explanation/truth.md as it was measured", function()
         local text = page.section(device, measured(), {})
         assert.matches(text, scratch.read(scratch.PROJECT .. "docs/explanation/truth.md"), 1, true)
      end)
   end)
end
