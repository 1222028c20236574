-- SPDX-License-Identifier: BSD-3-Clause

--- The tests of RFC 2544 against devices whose truth is known, on the real engine in the wire's own time.
-- Each bound and where it comes from is in tests/lua/truth.lua.
local page = require "truth_page"
local scratch = require "scratch"
local truth = require "truth"

local function assert_holds(check)
   local text = ("%s %s %s: %s is not within %s and %s (truth %s)"):format(check.test, check.direction,
      check.what, tostring(check.measured), tostring(check.low), tostring(check.high), tostring(check.truth))
   if check.truth then
      assert.equal("valid", check.validity)
      assert.is_true(check.measured >= check.low and check.measured <= check.high, text)
   else
      assert.equal("not-applicable", check.validity)
   end
end

for _, device in ipairs(truth.DEVICES) do
   describe("of a " .. device.name, function()
      local results, plan, time

      setup(function()
         results, plan, time = truth.measure(device)
      end)

      it("all tests take the time they were estimated to take", function()
         assert.near(time.taken, time.estimated, 0.05 * time.taken)
      end)

      it("throughput finds what the weaker direction carries when both are loaded", function()
         assert_holds(truth.check_both(device, results, plan))
      end)

      it("stands in docs/explanation/truth.md as it was measured", function()
         local text = page.section(device, {}, results, plan, time)
         assert.matches(text, scratch.read(scratch.PROJECT .. "docs/explanation/truth.md"), 1, true)
      end)

      for _, test in ipairs(truth.TESTS) do
         for way = 1, 2 do
            it(("%s finds the truth, way %d"):format(test, way), function()
               for _, check in ipairs(truth.check(test, device, results, plan, way)) do
                  assert_holds(check)
               end
            end)
         end
      end
   end)
end
