-- SPDX-License-Identifier: BSD-3-Clause

--- A device's section of docs/explanation/truth.md: what was measured, beside the truth and its bounds.
local truth = require "truth"
local units = require "framegauge.text.units"

local M = {}

local NAMES = {
   throughput = "throughput", latency = "latency", frame_loss = "frame loss", back_to_back = "back-to-back",
   system_recovery = "system recovery", reset = "reset", bursty_traffic = "bursty traffic",
}

-- Whole numbers with separators, small ones with the digits that matter.
local function number(value)
   if math.abs(value) >= 1000 then
      return units.format_count(math.floor(value + 0.5))
   end
   return (("%.3f"):format(value):gsub("%.?0+$", ""))
end

local function line(check, wrong)
   if not check.truth then
      return ("| %s | %s | | | not applicable | | |"):format(NAMES[check.test], check.direction)
   end
   local within = check.measured >= check.low and check.measured <= check.high
   wrong[#wrong + 1] = not within and check or nil
   return ("| %s | %s | %s | %s | %s | %s | %s |"):format(NAMES[check.test], check.direction, check.what,
      number(check.truth), within and number(check.measured) or "**" .. number(check.measured) .. "**",
      number(check.low), number(check.high))
end

--- Its text.
-- @param wrong  list to which each check is added that does not hold
-- @param results, plan, time  what truth.measure(device) gave
function M.section(device, wrong, results, plan, time)
   local out = {
      ("\n## %s, frames of %d bytes\n"):format(device.name:gsub("^%l", string.upper), device.frame_size),
      "```yaml\nreference_device: " .. device.written .. "\n```\n",
      "| test | direction | figure | truth | measured | at least | at most |\n|---|---|---|--:|--:|--:|--:|",
   }
   out[#out + 1] = line(truth.check_both(device, results, plan), wrong)
   for _, test in ipairs(truth.TESTS) do
      for way = 1, 2 do
         for _, check in ipairs(truth.check(test, device, results, plan, way)) do
            out[#out + 1] = line(check, wrong)
         end
      end
   end
   out[#out + 1] = ("\nEstimated to take %.1f s of the tester's time, took %.1f s."):format(time.estimated,
      time.taken)
   return table.concat(out, "\n") .. "\n"
end

return M
