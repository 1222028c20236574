-- SPDX-License-Identifier: BSD-3-Clause

-- The fail-over of the reference switch, as test: convergence measures it.
local page = require "convergence_page"
local plans = require "framegauge.plan"
local scratch = require "scratch"
local truth = require "failover_truth"

local FOUR = "test: convergence\nports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}}\n"

local function wrong(switch, keys)
   local _, errors = plans.load_text(FOUR .. ("reference_switch: {%s}\nconvergence: {%s}\n"):format(switch,
      keys), "x.yaml")
   return errors and tostring(errors[1]) or ""
end

describe("the fail-over of the reference switch in a plan", function()
   it("is told what does not fit", function()
      assert.equal("", wrong("failover: {}", "next_best: c"))
      for _, one in ipairs {
         { "failover: {}", "", "next_best: not where the reference switch fails over to; expected c" },
         { "failover: {next_best: x}", "next_best: c", "failover.next_best: there is no port" },
         { "failover: {next_best: b}", "next_best: c", "next_best: b is the preferred one" },
         { "failover: {preferred: c, next_best: b}", "next_best: c", "convergence.preferred: of the reference switch the link of another port fails; expected c" },
         { "failover: {}", "next_best: c, outage: 1s", "convergence.outage: not with a fail-over" },
         { "cell: 208", "", "reference_switch.cell: the buffer counts frames" },
      } do
         assert.truthy(wrong(one[1], one[2]):find(one[3], 1, true), one[3] .. ": " .. wrong(one[1], one[2]))
      end
   end)

   it("takes for the way back the times of the way there", function()
      local plan = assert(plans.load_text(FOUR .. "reference_switch: {failover: {detect: 7ms, revert_compute: 1ms}}\nconvergence: {next_best: c}\n", "x.yaml"))
      local f = plan.reference_switch.failover
      assert.same({ "b", "c", 0.007, 0.007, 0.001 },
         { f.preferred, f.next_best, f.detect, f.revert_detect, f.revert_compute })
   end)
end)

describe("a reference switch that fails over", function()
   for _, device in ipairs(truth.DEVICES) do
      it("is measured within the bounds: " .. device.name, function()
         local results, seen = truth.measure(device)
         local problems = {}
         page.failover(device, results, seen, problems)
         assert.same({}, problems)
         for _, row in ipairs(results.convergence) do
            assert.same({ "valid", 0 }, { row.validity, row.not_converged }, row.reasons[1])
         end
         assert.equal(2, #results.convergence)
      end)
   end

   it("is found out if it never moves a route", function()
      local device = setmetatable({ written = "undetected: true" }, { __index = truth.DEVICES[3] })
      local row = truth.measure(device).convergence[1]
      assert.same({ "failure", 64 }, { row.event, row.not_converged })
      assert.truthy(row.reasons[1]:find("64 routes not at the port where they should move", 1, true))
   end)

   it("gives the same result twice", function()
      local one, other = truth.measure(truth.DEVICES[4]), truth.measure(truth.DEVICES[4])
      assert.same(one.convergence, other.convergence)
   end)

   it("has a plan to begin with", function()
      local _, status = scratch.shell(("'%s' run configs/failover-reference.yaml --dry-run 2>&1"):format(
         require "luv".exepath()))
      assert.equal(0, status)
   end)
end)
