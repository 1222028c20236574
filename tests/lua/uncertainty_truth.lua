-- SPDX-License-Identifier: BSD-3-Clause

--- Reference devices drawn at random, measured by a method, and whether the uncertainty of each figure holds
-- what the device was configured to do. uncertainty_campaign.lua makes many of them, uncertainty_spec.lua a
-- few.
local Tester = require "framegauge.tester"
local devices = require "devices"
local draws = require "uncertainty_draws"
local ethernet = require "framegauge.core.ethernet"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"
local uncertainty = require "framegauge.report.uncertainty"

local M = {}

local figure, log_between, size_of = draws.figure, draws.log_between, draws.size_of

local RATE = 1e8 -- of the line, bit/s

local RFC2544 = [[
name: uncertainty
ports: {east: {device: wire0}, west: {device: wire1}}
test: rfc2544
reference_device: {rate: 100Mbps, seed: %d, %s}
rfc2544:
  tests: [%s]
  bidirectional: false
  frame_sizes: [%d]
  learning_wait: 1ms
  drain: %s
  settle: 0
  %s
]]

local Y1564 = [[
name: uncertainty
ports: {east: {device: wire0}, west: {device: wire1}}
test: y1564
reference_device: {rate: 100Mbps, seed: %d, %s}
y1564:
  learning_wait: 1ms
  drain: 50ms
  settle: 0
  tests: [performance]
  services:
    data: {frame_size: %d, cir: %dbps, cbs: 16000, acceptance: {flr: 99%%, ftd: 1s, fdv: 1s, avail: 0%%}}
  performance: {duration: 12s}
]]

local TRAFFIC = [[
name: uncertainty
ports: {east: {device: wire0}, west: {device: wire1}}
test: traffic
reference_device: {rate: 100Mbps, seed: %d, %s}
streams: {data: {size: %d, rate: %dfps}}
traffic: {duration: 3s, learning_wait: 1ms, drain: 50ms, settle: 0}
]]

-- A device that loses and delays at random, at a load at which no frame waits for another.
local function impaired(draw, line_fps)
   local fps = math.floor(line_fps * draw(0.02, 0.2))
   local loss, latency = draw(0, 1) < 0.8 and log_between(draw, 1e-4, 0.1) or 0, draw(1000, 100000)
   local jitter = math.min(draw(100, 50000), 0.45e9 / fps)
   return {
      fps = fps, loss = loss, delay = latency + jitter, latency = latency, jitter = jitter,
      text = ("latency: %.3fns, jitter: {mean: %.3fns}, loss_random: %.9f%%"):format(latency, jitter,
         loss * 100),
   }
end

local function with_capacity(draw, line_fps, least, most)
   local one = {
      capacity = math.floor(line_fps * draw(least or 0.1, most or 0.9)),
      buffer = math.floor(log_between(draw, 4, 500)),
   }
   one.text = ("capacity: %dfps, buffer: %d, latency: %.0fns"):format(one.capacity, one.buffer,
      draw(1000, 100000))
   return one
end

-- The longest burst that a server of this capacity with this buffer carries whole: frame n finds n - 1 -
-- floor((n - 1) c / L) - 1 others waiting.
local function longest_burst(device, line_fps)
   local n = device.buffer
   while n - math.floor(n * device.capacity / line_fps) - 1 < device.buffer do
      n = n + 1
   end
   return n
end

--- Methods and their figures: function(draw, seed) that gives the text of a plan and function(results), which
-- gives what to hold against what.
M.METHODS = {}

function M.METHODS.throughput(draw, seed)
   local size = size_of(draw)
   local device = with_capacity(draw, ethernet.max_fps(RATE, size))
   local text = RFC2544:format(seed, device.text, "throughput", size, "100ms",
      ("throughput: {trial: %dms, search_trial: 50ms, resolution: %.2f%%}"):format(draw(100, 1000),
         draw(0.1, 2)))
   return text, function(results)
      return { figure("throughput", results.throughput[1], "throughput_fps", device.capacity) }
   end
end

function M.METHODS.latency(draw, seed)
   local size = size_of(draw)
   local device = impaired(draw, ethernet.max_fps(RATE, size))
   local text = RFC2544:format(seed, ("latency: %.3fns, jitter: {mean: %.3fns}"):format(device.latency,
      device.jitter), "latency", size, "10ms",
      ("latency: {rate: %dfps, trial: 20ms, tag_after: 10ms, repetitions: 20}"):format(device.fps))
   return text, function(results)
      return { figure("latency (mean of tags)", results.latency[1], "latency_mean_ns", device.delay) }
   end
end

function M.METHODS.frame_loss(draw, seed)
   local size = size_of(draw)
   local line_fps = ethernet.max_fps(RATE, size)
   local overloaded = draw(0, 1) < 0.5
   local device = overloaded and with_capacity(draw, line_fps) or impaired(draw, line_fps)
   local text = RFC2544:format(seed, overloaded and device.text or ("loss_random: %.9f%%"):format(
      device.loss * 100), "frame_loss", size, "200ms",
      ("frame_loss: {trial: %dms, step: 10%%}"):format(draw(100, 1000)))
   return text, function(results)
      local list = {}
      for i, row in ipairs(results.frame_loss) do
         local truth = overloaded and math.max(0, 1 - device.capacity / row.intended_fps) or device.loss
         list[i] = figure(overloaded and "loss ratio (overload)" or "loss ratio (at random)", row,
            "loss_ratio", truth)
      end
      return list
   end
end

function M.METHODS.back_to_back(draw, seed)
   local size = size_of(draw)
   local line_fps = ethernet.max_fps(RATE, size)
   local device = with_capacity(draw, line_fps)
   local text = RFC2544:format(seed, device.text, "back_to_back", size, "50ms",
      ("back_to_back: {limit: 1s, repetitions: 2, step: %d, rate: %dfps}"):format(log_between(draw, 1, 20),
         device.capacity))
   return text, function(results)
      return { figure("longest burst", results.back_to_back[1], "burst_mean_frames",
         longest_burst(device, line_fps)) }
   end
end

-- The device counts its recovery from the last frame that found the buffer full, shortly before the overload
-- ended: the truth is a range.
function M.METHODS.system_recovery(draw, seed)
   -- the buffer must be full more than once in a millisecond, or the device takes the overload for over
   local size = 64
   local device = with_capacity(draw, ethernet.max_fps(RATE, size), 0.25, 0.8)
   local recovery = draw(5e6, 80e6)
   local text = RFC2544:format(seed, ("%s, recovery: %.0fns"):format(device.text, recovery),
      "system_recovery", size, "50ms", ("system_recovery: {rate: %dfps, overload: 500ms, watch: 400ms, repetitions: 1}"):format(device.capacity))
   return text, function(results)
      local row = results.system_recovery[1]
      local before = row.overload_fps
         and 1e9 / (row.overload_fps - device.capacity) + 1e9 / row.overload_fps or 0
      return { figure("recovery", row, "recovery_mean_ns", recovery - before, recovery) }
   end
end

--- Bursts that the buffer holds may come as soon as the one before has left.
function M.METHODS.bursty_traffic(draw, seed)
   local size = size_of(draw)
   local device = with_capacity(draw, ethernet.max_fps(RATE, size))
   local burst = math.max(2, math.floor(device.buffer * draw(0.2, 1)))
   local text = RFC2544:format(seed, device.text, "bursty_traffic", size, "50ms",
      ("bursty_traffic: {burst_frames: [%d], trial: %dms, search_trial: 50ms, resolution: %.2f%%}"):format(
         burst, draw(200, 1000), draw(0.1, 2)))
   return text, function(results)
      return { figure("interval of bursts", results.bursty_traffic[1], "interval_ns",
         burst / device.capacity * 1e9) }
   end
end

--- A device that is out of service for a time.
function M.METHODS.reset(draw, seed)
   local size = size_of(draw)
   local device, outage = impaired(draw, ethernet.max_fps(RATE, size)), draw(0.01, 0.5)
   local text = RFC2544:format(seed, ("latency: %.0fns"):format(device.latency), "reset", size, "50ms",
      ("reset: {rate: %dfps, after: %.6fms, outage: %.0fns, watch: 600ms, repetitions: 1}"):format(device.fps,
         draw(20, 60), outage * 1e9))
   return text, function(results)
      return { figure("reset", results.reset[1], "reset_ns", outage * 1e9) }
   end
end

function M.METHODS.y1564(draw, seed)
   local size = size_of(draw)
   local device = impaired(draw, ethernet.max_fps(RATE, size) / 4)
   local text = Y1564:format(seed, device.text, size, device.fps * size * 8)
   return text, function(results)
      local row = results.y1564.services[1].performance[1]
      return {
         figure("loss ratio of a service", row, "loss_ratio", device.loss),
         figure("delay of a service", row, "ftd.mean_ns", device.delay + 2 * size * 8 / RATE * 1e9),
      }
   end
end

function M.METHODS.traffic(draw, seed)
   local size = size_of(draw)
   local device = impaired(draw, ethernet.max_fps(RATE, size))
   local text = TRAFFIC:format(seed, device.text, size, device.fps)
   return text, function(results)
      local row = results.traffic[1]
      return {
         figure("load of a stream", row, "offered_fps", device.fps),
         figure("loss ratio of a stream", row, "loss_ratio", device.loss),
         figure("delay of a stream", row, "latency.mean_ns", device.delay + size * 8 / RATE * 1e9),
      }
   end
end

--- Losses in groups: no claim about them may be too narrow.
function M.METHODS.grouped_loss(draw, seed)
   local size = size_of(draw)
   local fps = math.floor(ethernet.max_fps(RATE, size) * 0.2)
   local bad, length = log_between(draw, 1e-4, 1e-2), log_between(draw, 2, 200)
   local text = TRAFFIC:format(seed, ("loss_bursts: {begin: %.8f%%, end: %.8f%%}"):format(bad * 100,
      100 / length), size, fps)
   return text, function(results)
      return { figure("loss ratio, losses in groups", results.traffic[1], "loss_ratio",
         bad / (bad + 1 / length)) }
   end
end

for _, others in ipairs { "uncertainty_switches", "uncertainty_sessions" } do
   for name, method in pairs(require(others)) do
      M.METHODS[name] = method
   end
end

--- Measure one device.
-- @param name  of a method
-- @param seed  of the device
-- @return list of { what =, value =, truth =, to = the truth's other end, u = uncertainty or nil }
function M.measure(name, seed)
   local draw = devices.generator(seed * 7919 + 17)
   draw(0, 1)
   local text, figures = M.METHODS[name](draw, seed)
   local plan, errors = plans.load_text(text, name)
   assert(plan, errors and tostring(errors[1]) .. "\n" .. text)
   local tester = assert(Tester.open(plan))
   local session = Session.new {
      tester = tester, retries = 0, phases = plan[plan.test], sink = function() end, say = function() end,
   }
   local results, method = {}, require("framegauge.methods." .. plan.test .. ".method")
   local ok, why = xpcall(method.run, debug.traceback, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   uncertainty.add(plan, results, session.trials, { state = "not-needed", frame_sizes = {} })
   return figures(results)
end

-- Rounding of doubles
local EPSILON = 1e-12

--- Whether the bounds hold the truth.
function M.holds(one)
   local slack = EPSILON * math.abs(one.truth)
   return (one.u.low or -math.huge) <= one.to + slack and (one.u.high or math.huge) >= one.truth - slack
end

return M
