-- SPDX-License-Identifier: BSD-3-Clause

-- The first screen of a page of several services.
local files = require "framegauge.report.files"
local fixture = require "fixture"
local html = require "framegauge.report.html"
local scratch = require "scratch"
local small_runs = require "small_runs"

describe("the page of several services", function()
   teardown(scratch.remove)

   it("names the service of a failure", function()
      local result = files.read(scratch.read(fixture.run(small_runs.of "y1564") .. "/result.json"))
      local service = result.results.y1564.services[1]
      local row = service.configuration[1]
      row.outcome, row.reasons, result.outcome = "fail", { "too slow" }, "fail"
      assert.matches("too slow: Configuration test, " .. service.name .. ", ", html.page(result, {}), 1, true)
   end)
end)
