-- SPDX-License-Identifier: BSD-3-Clause

-- Marks of frames through a reference device that marks them anew.
local runs = require "y1564_runs"
local schema = require "result_schema"
local scratch = require "scratch"

local run, step_of = runs.run, runs.step_of

describe("the marks of frames", function()
   teardown(scratch.remove)

   local SERVICE = "y1564.services.data={vlan: 5, pcp: 3, dscp: 10, frame_size: 512, cir: 100Mbps, cbs: 64000, eir: 50Mbps, ebs: 64000, acceptance: {flr: 0%%}%s}"
   local PROFILE = "reference_device.profiles.data={cir: 100Mbps, cbs: 64000, eir: 50Mbps, ebs: 64000, %s}"

   local function marked(service, profile, ...)
      local services, _, _, path = run("one-service", "--quick", SERVICE:format(service),
         PROFILE:format(profile), "y1564.configuration.tests=[cir, eir]", "y1564.performance.duration=2s",
         ...)
      return services.data, path
   end

   it("are counted as they arrive, and judged where the plan says so", function()
      -- B.2 offers 150 Mbit/s for a second: 100 of it and the bucket are green to the device
      local sent, green = 36621, math.floor(100e6 / 8 / 512 + 64000 / 512)
      local data, path = marked("", "marking: dscp, mark_yellow: 12")
      local row = step_of(data, "B.2")
      assert.equal("pass", data.outcome)
      assert.near(sent - green, row.remarked, 2)
      assert.same({ { pcp = 3, dei = 0, dscp = 10, frames = sent - row.remarked },
         { pcp = 3, dei = 0, dscp = 12, frames = row.remarked } }, row.green.marks)
      assert.same({ 0, 0 }, { step_of(data, "A.1").remarked, data.performance[1].remarked })
      assert.is_true(schema.validate(path .. "/result.json"))
      assert.matches("green frames arrived with PCP 3, DEI 0, DSCP 10 ",
         scratch.read(path .. "/report.html"))
      data = marked(", preserve: [dscp]", "marking: dscp, mark_yellow: 12")
      assert.same({ "marking" }, step_of(data, "B.2").failed)
      assert.matches("of 36,621 green frames arrived with another DSCP", step_of(data, "B.2").reasons[1])
      assert.equal("pass", marked(", preserve: [pcp, dei]", "marking: dscp, mark_yellow: 12").outcome)
   end)

   it("may be priority and drop eligibility, and of yellow frames their own", function()
      local data = marked(", preserve: [pcp]", "marking: pcp, mark_green: 0")
      assert.equal(step_of(data, "A.1").rx, step_of(data, "A.1").remarked)
      assert.same({ "marking" }, data.performance[1].failed)
      -- an aware device finds as many yellow as were sent yellow
      local aware = ", colour: aware, marking: dei"
      data = marked(aware .. ", preserve: [dei]",
         "colour: aware, marking: dei, mark_green: 0, mark_yellow: 1")
      assert.equal("pass", data.outcome)
      assert.same({ { pcp = 3, dei = 1, dscp = 10, frames = step_of(data, "B.1").yellow.rx } },
         step_of(data, "B.1").yellow.marks)
   end)
end)
