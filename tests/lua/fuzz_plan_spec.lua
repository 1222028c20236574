-- SPDX-License-Identifier: BSD-3-Clause

--- What the fuzzer holds any plan to must hold for each of configs/, which it has as seeds.
local scratch = require "scratch"

package.path = scratch.PROJECT .. "tests/fuzz/?.lua;" .. package.path
local fuzz_plan = require "framegauge.fuzz_plan"

describe("what the fuzzer expects of a plan", function()
   for path in scratch.shell(("ls '%sconfigs/'*.yaml"):format(scratch.PROJECT)):gmatch "[^\n]+" do
      it("holds for " .. path, function()
         assert.is_true(fuzz_plan.check(path))
      end)
   end
end)
