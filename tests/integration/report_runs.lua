-- SPDX-License-Identifier: BSD-3-Clause

-- Prints the path of a report of each method: the runs that specs share (tests/lua/fixture.lua).
package.path = arg[0]:match "^(.*)integration/[^/]*$" .. "lua/?.lua;" .. package.path
local fixture = require "fixture"
local methods = require "framegauge.methods"
local small_runs = require "small_runs"

for _, method in ipairs(methods.names()) do
   print(fixture.run(small_runs.of(method)) .. "/report.html")
end
