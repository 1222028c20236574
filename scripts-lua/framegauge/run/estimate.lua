-- SPDX-License-Identifier: BSD-3-Clause

--- `run --dry-run`: what a run would do, from its plan alone. Opens nothing and sends nothing.
local ethernet = require "framegauge.core.ethernet"
local methods = require "framegauge.methods"
local text = require "framegauge.report.text"
local units = require "framegauge.text.units"

local M = {}

local SUCCESS, BAD_PLAN = 0, 2
local ASSUMED_RATE = 10e9 -- bits per second of a line that only tells when it is up

local RATELESS = { memif = true, pcap = true } -- devices without a line

-- What the plan says of the tester, in the shape of a bench.
local function tester_of(plan)
   local ports, assumed = {}, false
   for i, port in ipairs(plan.ports) do
      local rate = port.line_rate or plan.reference_device and plan.reference_device.rate
      if not rate and not RATELESS[port.kind] then
         rate, assumed = ASSUMED_RATE, true
      end
      ports[i] = { name = port.name, device = port.device, mode = "not opened", line_rate = rate }
   end
   local tester = { ports = ports }
   function tester.max_fps(_, frame_size)
      return ethernet.slowest_fps(ports, frame_size)
   end
   return tester, assumed
end

--- Print what a run of the plan would do.
-- @return exit status
function M.main(plan)
   local tester, assumed = tester_of(plan)
   local method = methods.of(plan)
   local problem = method.check(plan, tester)
   if problem then
      io.stderr:write("framegauge: ", problem, "\n")
      return BAD_PLAN
   end
   local notes = {}
   if assumed then
      notes[1] = ("The rate of the lines is not known before they are opened; %s is assumed, or give "
         .. "ports.<name>.line_rate."):format(units.format_bits(ASSUMED_RATE))
   end
   io.stdout:write(text.heading(plan, tester.ports, method.parts(plan, tester), os.time()),
      method.outlook(plan, tester, notes))
   return SUCCESS
end

return M
