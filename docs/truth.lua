-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/truth.md: build/app/framegauge script docs/truth.lua > docs/truth.md
--
-- It measures the devices of tests/lua/truth.lua with all tests, so the page shows what the tests hold the
-- program to.
local job = require "framegauge.job"

package.path = arg[0]:match "^(.-)[^/]*$" .. "../tests/lua/?.lua;" .. package.path
local page = require "truth_page"
local truth = require "truth"

local INTRODUCTION = [[
# How near the figures come to the truth

The reference device has properties that are known exactly, because they are configured. Each table below is one
such device, measured with all tests of RFC 2544 and both directions loaded at once, each with properties of its own.
A measured value must lie between the bounds beside it. These follow from the method, not from experience:

- **throughput**: at most one resolution of the search (0.1 % of the line) too low, and too high by no more than the
  buffer swallows in the deciding trial, (buffer + 1) / trial: here 0.5 s, by RFC 2544 60 s. `both` is the row of the
  throughput test, in which the weaker direction decides; the others are found by continuing its search.
- **latency**: last bit in to first bit out; two stamps, each rounded to 1 ns. At 95 % of what the weaker direction
  carries, for at a throughput found by short trials, which may lie above the capacity, frames would wait.
- **frame loss**: of n frames at a load o the capacity c lets n c / o through, and what the buffer holds at the end
  follows: at most two frames less are lost, at most one more.
- **back-to-back**: frame k waits behind k - floor(k c / L) - 1 others and is lost when these fill the buffer Q, so the
  longest burst lies between Q / (1 - c/L) and (Q + 1) / (1 - c/L); the search is one frame off at most. The
  corrected buffer time is the buffer at the rate of the line L; the throughput it is corrected by has its own bounds.
- **system recovery**: it begins with the last frame that finds the buffer full, at most 1 / (o - c) + 1 / o before the
  overload o ends, and the last frame lost is one of the last two before it is over.
- **reset**: one frame more or less; the time stamps are rounded to 1 ns. At the same load as latency.
- **bursty traffic**: a burst of b frames has left the device after b / c, and then the next one may come. Sooner, by no
  more than what the buffer takes up over the deciding trial T: b / c / (1 + (Q + 1) / (c T)), here T = 0.5 s; later, by
  the resolution (0.1 %) and one frame time of the line, in which intervals are counted. A burst that the buffer does
  not hold is lost at any interval: the load without loss is 0.

The page is made by `build/app/framegauge script docs/truth.lua > docs/truth.md`, and the tests
(tests/lua/rfc2544_truth_spec.lua) hold every line to its bounds. In the wire's own time the figures are the same on
every machine.
]]

return job.run(function()
   local wrong = {}
   io.write(INTRODUCTION)
   for _, device in ipairs(truth.DEVICES) do
      io.write(page.section(device, wrong, truth.measure(device)))
   end
   return #wrong == 0 and 0 or 1
end)
