-- SPDX-License-Identifier: BSD-3-Clause

--- Writes docs/explanation/truth.md: build/app/framegauge script docs/generate/truth.lua > docs/explanation/truth.md
--
-- It measures the devices of tests/lua/truth.lua with all tests, so the page shows what the tests hold the
-- program to.
local job = require "framegauge.core.job"

package.path = arg[0]:match "^(.-)[^/]*$" .. "../../tests/lua/?.lua;" .. package.path
local counted = require "characterise_counts"
local convergence = require "convergence_truth"
local convergence_page = require "convergence_page"
local failover = require "failover_truth"
local page = require "truth_page"
local lan = require "rfc2889_truth"
local lan_page = require "rfc2889_page"
local rfc8239_page = require "rfc8239_page"
local multicast = require "rfc3918_truth"
local multicast_page = require "rfc3918_page"
local rfc9411_page = require "rfc9411_page"
local rfc9693_page = require "rfc9693_page"
local truth = require "truth"

local RANDOM_DEVICES = 300

local INTRODUCTION = [[
# How near the figures come to the truth

The properties of the reference device are known exactly, because they are configured. Each table below is one such
device, measured with all tests of RFC 2544, with both directions loaded at once and different properties each way.
A measured value must lie between the bounds beside it. The bounds follow from the method, not from experience:

- **throughput**: at most one resolution of the search (0.1 % of the line) too low. Too high by no more than the buffer
  absorbs in the deciding trial, (buffer + 1) / trial: 0.5 s here, 60 s by RFC 2544. `both` is the row of the
  throughput test, in which the weaker direction decides; the others come from continuing its search.
- **latency**: last bit in to first bit out, and of a device that cuts through first bit to first bit; two time
  stamps, each rounded to 1 ns. Measured at 95 % of what the weaker direction carries, because short trials may find a
  throughput above the capacity, and then frames would wait.
- **frame loss**: of n frames at a load o, the capacity c passes n c / o, and the frames in the buffer at the end
  follow: at most two frames fewer are lost, at most one more.
- **back-to-back**: frame k waits behind k - floor(k c / L) - 1 others and is lost if these fill the buffer Q. So the
  longest burst lies between Q / (1 - c/L) and (Q + 1) / (1 - c/L), and the search is off by one frame at most. The
  corrected buffer time is the buffer at the rate of the line L, corrected by a throughput with bounds of its own.
- **system recovery**: begins with the last frame that finds the buffer full, at most 1 / (o - c) + 1 / o before the
  overload o ends. The last frame lost is one of the last two before the recovery is over.
- **reset**: one frame more or less; the time stamps are rounded to 1 ns. At the same load as latency.
- **bursty traffic**: a burst of b frames has left the device after b / c; then the next one may come. Sooner, by no
  more than the buffer absorbs over the deciding trial T: b / c / (1 + (Q + 1) / (c T)), with T = 0.5 s here. Later, by
  the resolution (0.1 %) and one frame time of the line, in which intervals are counted. A burst that the buffer cannot
  hold is lost at any interval: the load without loss is 0.

Two kinds of bounds stand beside figures of the program, and they do not promise the same:

- **Certain bounds** (`coverage` 1; `kind: interval`) follow from whole frames, loads that passed and failed, and what a device can hold. They hold the
  truth of each device, if the assumptions of the method do: 100 % of all cases is what they promise, and one case outside is a fault.
  All bounds on this page are such: also of rates, buffers, bursts, groups and addresses in
  [uncertainties](uncertainty.md#how-often-they-hold), and all of a [characterisation](characterise.md#how-often-the-bounds-hold) but the share of losses.
- **Intervals of 95 %** (`coverage` 0.95) rest on chance: means of samples, and shares of losses. One in twenty may miss the truth. Intervals of
  means come near 95 %. Intervals of shares of losses are by Clopper and Pearson, which hold at least 95 %
  whatever the share is, and nearly always where few frames or none are lost; a narrower one would miss more often than it says for some shares.

]]

local OUTLOOK = [[
A way that loses nothing is held by each interval that begins at 0; so what the promise of 95 % is worth shows only in the last line.

`build/app/framegauge script docs/generate/truth.lua > docs/explanation/truth.md` writes this page, and
tests/lua/rfc2544_truth_spec.lua checks every line against its bounds. In wire time the figures are the same on every
machine.
]]

-- Random devices characterised: what is promised of the bounds, and what is kept.
local function promises(wrong)
   local counts = counted.new(function(sentence)
      io.stderr:write(sentence, "\n")
   end)
   for number = 1, RANDOM_DEVICES do
      counted.device(counts, number)
   end
   wrong[#wrong + 1] = not counted.is_sound(counts) and "a characterisation" or nil
   return ("Of %d random devices %d ways were characterised:\n\n%s\n"):format(RANDOM_DEVICES,
      counts.of.limit.n, counted.promises(counts))
end

return job.run(function()
   local wrong = {}
   io.write(INTRODUCTION, promises(wrong), OUTLOOK)
   for _, device in ipairs(truth.DEVICES) do
      io.write(page.section(device, wrong, truth.measure(device)))
   end
   io.write(convergence_page.INTRODUCTION)
   for _, device in ipairs(convergence.DEVICES) do
      io.write(convergence_page.section(device, convergence.measure(device), wrong))
   end
   io.write(convergence_page.FAILOVER)
   for _, device in ipairs(failover.DEVICES) do
      local results, seen = failover.measure(device)
      io.write(convergence_page.failover(device, results, seen, wrong))
   end
   io.write(lan_page.INTRODUCTION)
   for _, device in ipairs(lan.DEVICES) do
      io.write(lan_page.section(device, lan.measure(device), wrong))
   end
   io.write(rfc8239_page.section(wrong))
   io.write(multicast_page.INTRODUCTION)
   for _, device in ipairs(multicast.DEVICES) do
      io.write(multicast_page.section(device, multicast.measure(device), wrong))
   end
   io.write(rfc9411_page.section(wrong))
   io.write(rfc9693_page.section(wrong))
   return #wrong == 0 and 0 or 1
end)
