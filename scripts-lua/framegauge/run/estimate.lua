-- SPDX-License-Identifier: BSD-3-Clause

--- `run --dry-run`: what a run would do, from its plan alone. Opens nothing and sends nothing.
local ethernet = require "framegauge.core.ethernet"
local format = require "framegauge.text.format"
local methods = require "framegauge.methods"
local outlook = require "framegauge.methods.common.outlook"
local registry = require "framegauge.plan.registry"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local text = require "framegauge.report.text"
local units = require "framegauge.text.units"

local M = {}

local SUCCESS, BAD_PLAN = 0, 2
local LONGEST_FRAME = 16128 -- bytes; a port may take less
local ASSUMED_RATE = 10e9 -- bits per second of a line that only tells when it is up

local ANY_MAC = "02:00:00:00:00:01"

local RATELESS = { memif = true, pcap = true } -- devices without a line

-- What the plan says of the tester, in the shape of a tester.
local function tester_of(plan)
   local ports, assumed = {}, false
   for i, port in ipairs(plan.ports) do
      local rate = port.line_rate or plan.reference_device and plan.reference_device.rate
      if not rate and not RATELESS[port.kind] then
         rate, assumed = ASSUMED_RATE, true
      end
      ports[i] = { name = port.name, device = port.device, mode = "not opened", line_rate = rate,
         mac = ANY_MAC }
   end
   local tester = { ports = ports, plan = plan, wires = plan.reference_device and {} or nil,
      max_frame = LONGEST_FRAME }
   function tester.port_index(_, name)
      return tables.index_of(ports, name)
   end
   function tester.gateway_mac()
      return nil
   end
   function tester.max_fps(_, frame_size)
      return ethernet.slowest_fps(ports, frame_size)
   end
   return tester, assumed
end

-- What is ahead of a plan that is run again and again, a line.
-- @param parts   of one run: { trials =, seconds = }
-- @param wanted  as framegauge.run.repeated takes it
local function repeated(parts, wanted)
   local fit = wanted.seconds and math.floor(wanted.seconds / stats.sum(parts, "seconds")) or math.huge
   local runs = math.max(1, math.min(wanted.runs or math.huge, fit))
   local trials, seconds = outlook.trials(parts, runs)
   return ("%s: %s in %s.\n"):format(format.plural(runs, "run"), trials, format.clock(seconds))
end

--- How many trials a run of the plan has and how long they take, a line.
-- @return the line; or nil and why the plan cannot be run: nothing of a service, and where that may be
-- because of a rate that is only assumed
function M.line(plan)
   if registry.of(plan.test).service then
      return nil
   end
   local method = methods.of(plan)
   local tester, assumed = tester_of(plan)
   local problem = method.check(plan, tester)
   if problem then
      return nil, not assumed and problem or nil
   end
   return method.estimate and method.estimate(plan, tester) or outlook.estimate(method.parts(plan, tester))
end

--- Print what a run of the plan would do.
-- @param wanted  where it is to be run again and again: as framegauge.run.repeated takes it; or nil
-- @return exit status
function M.main(plan, wanted)
   local tester, assumed = tester_of(plan)
   local method = methods.of(plan)
   local problem = method.check(plan, tester)
   if problem then
      io.stderr:write("framegauge: ", problem, "\n")
      return BAD_PLAN
   end
   local notes = {}
   if assumed then
      notes[1] = ("The rate of the lines is not known before they are opened; %s is assumed, or give ports.<name>.line_rate."):format(units.format_bits(ASSUMED_RATE))
   end
   local parts = method.parts(plan, tester)
   io.stdout:write(text.heading(plan, tester.ports, parts, os.time()), method.outlook(plan, tester, notes),
      "\n", method.estimate and method.estimate(plan, tester) or outlook.estimate(parts),
      wanted and repeated(parts, wanted) or "")
   return SUCCESS
end

return M
