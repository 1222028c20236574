-- SPDX-License-Identifier: BSD-3-Clause

--- Reference devices with known properties, measured with all tests of RFC 2544 on the real engine.
--
-- Each figure is held against what the device was configured to do, within a bound that follows from the
-- method: its resolution, the time between two frames, the frames a buffer swallows in a short trial. None is
-- there by experience. framegauge's own specs and docs/generate/truth.lua use it.
local Tester = require "framegauge.tester"
local ethernet = require "framegauge.core.ethernet"
local tests = require "framegauge.methods.rfc2544.tests"
local plans = require "framegauge.plan"
local rehearsal = require "framegauge.methods.rfc2544.estimate"
local Session = require "framegauge.trial.session"

local M = {}

-- The trials are short, for the wire's time is exact in the first second as in the sixtieth. Where that
-- widens a bound, the bound says so.
local PLAN = [[
name: %s
ports:
  east: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
test: rfc2544
reference_device: %s
rfc2544:
  tests: [throughput, latency, frame_loss, back_to_back, system_recovery, reset, bursty_traffic]
  frame_sizes: [%d]
  learning_wait: 10ms
  drain: 50ms
  settle: 0
  throughput: {trial: %s, search_trial: %s}
  latency: {rate: %dfps, trial: 100ms, tag_after: 50ms, repetitions: 2}
  frame_loss: {trial: 100ms}
  back_to_back: {limit: 100ms, repetitions: 2}
  system_recovery: {overload: 200ms, watch: 300ms, repetitions: 1}
  reset: {rate: %dfps, after: 50ms, outage: %s, watch: %s}
  bursty_traffic: {trial: %s, search_trial: %s, limit: 50ms}
]]

--- The devices: what is written into the plan, and the same in numbers for each direction. `capacity` is the
-- frames per second of that direction, `buffer` frames, `latency` seconds for a frame of that size, from its
-- last bit in to its first bit out. A direction without capacity carries the line. `trial` is how many
-- seconds the deciding trials of a search take, and the others a tenth of them; default: 0.5.
M.DEVICES = {
   {
      name = "router", frame_size = 64, rate = 1e9, outage = 0.1, trial = 0.15, written = [[
{rate: 1Gbps, capacity: 900kfps, buffer: 150, latency: 20us, recovery: 20ms, reverse: {capacity: 700kfps,
  buffer: 30, latency: 35us, latency_per_byte: 2ns, recovery: 5ms}}]],
      { capacity = 900e3, buffer = 150, latency = 20e-6, recovery = 20e-3 },
      { capacity = 700e3, buffer = 30, latency = 35e-6 + 64 * 2e-9, recovery = 5e-3 },
   },
   {
      name = "software switch", frame_size = 128, rate = 1e9, outage = 0.0333, trial = 0.15, written = [[
{rate: 1Gbps, bandwidth: 500Mbps, buffer: 20KiB, latency: 150us, latency_per_byte: 10ns, reverse: {
  bandwidth: 307.2Mbps, buffer: 300, recovery: 40ms}}]],
      { capacity = 500e6 / 1024, buffer = 160, latency = 150e-6 + 128 * 10e-9, recovery = 0 },
      { capacity = 300e3, buffer = 300, latency = 150e-6 + 128 * 10e-9, recovery = 40e-3 },
   },
   {
      name = "10G switch", frame_size = 512, rate = 10e9, outage = 0.25, trial = 0.1, written = [[
{rate: 10Gbps, capacity: 2Mfps, buffer: 400, latency: 5us, recovery: 2ms, reverse: {capacity: 1.1Mfps,
  buffer: 67, latency: 900ns, recovery: 60ms}}]],
      { capacity = 2e6, buffer = 400, latency = 5e-6, recovery = 2e-3 },
      { capacity = 1.1e6, buffer = 67, latency = 900e-9, recovery = 60e-3 },
   },
   {
      name = "old router", frame_size = 128, rate = 100e6, outage = 1, written = [[
{rate: 100Mbps, capacity: 60kfps, buffer: 20, latency: 3ms, recovery: 100ms, reverse: {capacity: 75kfps,
  buffer: 7, latency: 1ms, recovery: 30ms}}]],
      { capacity = 60e3, buffer = 20, latency = 3e-3, recovery = 100e-3 },
      { capacity = 75e3, buffer = 7, latency = 1e-3, recovery = 30e-3 },
   },
   {
      -- 14 bytes are in when it begins to send: one direction tells that, and both count from the first bit
      name = "cut-through switch", frame_size = 1024, rate = 1e9, outage = 0.01, written = [[
{rate: 1Gbps, capacity: 100kfps, buffer: 64, latency: 1us, switching: cut-through, recovery: 10ms, reverse: {
  capacity: 80kfps, buffer: 1, latency: 12us}}]],
      { capacity = 100e3, buffer = 64, latency = 1e-6 + 14 * 8e-9, recovery = 10e-3 },
      { capacity = 80e3, buffer = 1, latency = 12e-6 + 14 * 8e-9, recovery = 10e-3 },
   },
   {
      name = "line-rate switch", frame_size = 9000, rate = 1e9, outage = 0.012345, written = [[
{rate: 1Gbps, latency: 7us, reverse: {capacity: 12kfps, buffer: 30, latency: 9us}}]],
      { latency = 7e-6 },
      { capacity = 12e3, buffer = 30, latency = 9e-6, recovery = 0 },
   },
}

local function ms(seconds)
   return ("%gms"):format(seconds * 1e3)
end

-- The tester, keeping account of the time its trials take.
local function timed(tester)
   local time = { seconds = 0 }
   return setmetatable({
      trial = function(_, o)
         local raw = tester:trial(o)
         time.seconds = time.seconds + o.learning_wait + raw.duration_s + o.drain + o.settle
         return raw
      end,
   }, { __index = tester }), time
end

-- A load that neither direction queues, for figures that queues would blur: a search with short trials may
-- end above the capacity, by what the buffer swallows.
local function below_capacity(device)
   local fps = ethernet.max_fps(device.rate, device.frame_size)
   for _, way in ipairs(device) do
      fps = math.min(fps, way.capacity or fps)
   end
   return math.floor(0.95 * fps)
end

--- Measure a device.
-- @return results by test, the plan, and { estimated =, taken = } seconds of the tester's time
function M.measure(device)
   local rate = below_capacity(device)
   local trial = device.trial or 0.5
   local trials = { ms(trial), ms(trial / 10) }
   local text = PLAN:format(device.name, device.written, device.frame_size, trials[1], trials[2], rate, rate,
      ms(device.outage), ms(device.outage + 0.05), trials[1], trials[2])
   local plan, errors = plans.load_text(text, device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester, time = timed(assert(Tester.open(plan)))
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end,
   }
   local results, estimated = {}, 0
   for _, part in ipairs(rehearsal.parts(plan, tester)) do
      estimated = estimated + part.seconds
   end
   local ok, why = pcall(tests.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results, plan, { estimated = estimated, taken = time.seconds }
end

-- The line, the resolution of the search, and what a buffer lets pass of a trial: a load may be this much
-- above the capacity and lose nothing.
local function limits(device, way, plan)
   local line_fps = ethernet.max_fps(device.rate, device.frame_size)
   return {
      line = line_fps,
      resolution = line_fps * plan.rfc2544.throughput.resolution.value,
      swallowed = way.capacity and (way.buffer + 1) / plan.rfc2544.throughput.trial or 0,
   }
end

local NS = 1e9
local STAMP = 2 -- ns: one stamp at either end, each rounded to 1 ns

local function row_of(rows, direction)
   for _, row in ipairs(rows) do
      if row.direction == direction then
         return row
      end
   end
   error("no row of " .. direction)
end

local checks = {}

-- The highest load without loss: at most one resolution too low, and too high by what the buffer swallows.
local function throughput_check(device, way, plan, direction, row)
   local l = limits(device, way, plan)
   local truth = math.min(way.capacity or l.line, l.line)
   return {
      test = "throughput", direction = direction, what = "fps", truth = truth, measured = row.throughput_fps,
      low = truth - l.resolution, high = math.min(l.line, truth + l.swallowed),
      validity = way.capacity and row.validity or "valid", -- a burst is not applicable then, this figure is
   }
end

function checks.throughput(device, results, plan, direction, way)
   return { throughput_check(device, way, plan, direction, row_of(results.back_to_back, direction)) }
end

--- Both directions at once carry what the weaker one does.
function M.check_both(device, results, plan)
   local a, b = device[1], device[2]
   local weaker = (a.capacity or math.huge) < (b.capacity or math.huge) and a or b
   return throughput_check(device, weaker, plan, "both", results.throughput[1])
end

-- From last bit in to first bit out: exact but for the stamps.
function checks.latency(_, results, _, direction, way)
   local row, list = row_of(results.latency, direction), {}
   for i, what in ipairs { "mean of tags", "min", "max" } do
      local measured = i == 1 and row.latency_mean_ns or row.every_frame_latency[what .. "_ns"]
      list[i] = {
         test = "latency", direction = direction, what = what .. ", ns", truth = way.latency * NS,
         measured = measured, low = way.latency * NS - STAMP, high = way.latency * NS + STAMP,
         validity = row.validity,
      }
   end
   return list
end

-- Of n frames at a load o, c/o are forwarded, and those that fill the buffer at the end are, too.
function checks.frame_loss(_, results, _, direction, way)
   local list = {}
   for _, row in ipairs(results.frame_loss) do
      if row.direction == direction then
         local frame, truth = 100 / row.tx, 0
         if way.capacity then
            truth = math.max(0, (1 - way.capacity / row.intended_fps) * 100 - way.buffer * frame)
         end
         list[#list + 1] = {
            test = "frame_loss", direction = direction, what = ("%% at load %g %%"):format(row.load_percent),
            truth = truth, measured = 100 * row.loss_ratio, validity = row.validity,
            low = math.max(0, truth - 2 * frame),
            high = truth > 0 and truth + frame or 0,
         }
      end
   end
   return list
end

-- Frame k (from 0) waits behind k - floor(k c/L) - 1 others and is lost when these fill the buffer Q: the
-- longest burst lies between Q / (1 - c/L) and (Q + 1) / (1 - c/L), and the search is a step below it at
-- most.
function checks.back_to_back(device, results, plan, direction, way)
   local l, row = limits(device, way, plan), row_of(results.back_to_back, direction)
   if not way.capacity then
      return { { test = "back_to_back", direction = direction, what = "verdict", validity = row.validity } }
   end
   local spare, step = 1 - way.capacity / l.line, plan.rfc2544.back_to_back.step
   local low, high = way.buffer / spare - step, (way.buffer + 1) / spare
   local function corrected(burst, throughput)
      return burst * (1 - throughput / l.line) / l.line * NS
   end
   return {
      {
         test = "back_to_back", direction = direction, what = "burst, frames", truth = way.buffer / spare,
         measured = row.burst_mean_frames, low = low, high = high, validity = row.validity,
      },
      {
         -- the buffer at the rate of the line; the throughput it is corrected by has bounds of its own
         test = "back_to_back", direction = direction, what = "corrected buffer time, ns",
         truth = way.buffer / l.line * NS, measured = row.buffer_time_corrected_ns, validity = row.validity,
         low = corrected(low, way.capacity + l.swallowed),
         high = corrected(high, way.capacity - l.resolution),
      },
   }
end

-- It begins with the last frame that finds the buffer full, which is at most the time between two such losses
-- before the overload ends; and the last frame lost is one of the last two before it is over.
function checks.system_recovery(_, results, _, direction, way)
   local row = row_of(results.system_recovery, direction)
   if not way.capacity then
      return { { test = "system_recovery", direction = direction, what = "verdict",
         validity = row.validity } }
   end
   local before = 1 / (row.overload_fps - way.capacity) + 1 / row.overload_fps
   local truth = way.recovery * NS
   return { {
      test = "system_recovery", direction = direction, what = "recovery, ns", truth = truth,
      measured = row.recovery_mean_ns, validity = row.validity, high = truth,
      low = math.max(0, truth - (before + 2 / row.relief_fps) * NS),
   } }
end

-- One frame more or less.
function checks.reset(device, results, _, direction)
   local row, truth, list = row_of(results.reset, direction), device.outage * NS, {}
   for i, key in ipairs { "reset_by_loss_ns", "reset_by_timestamps_ns" } do
      list[i] = {
         test = "reset", direction = direction, what = i == 1 and "by loss, ns" or "by time stamps, ns",
         truth = truth, measured = row[key], validity = row.validity,
         low = truth - NS / row.rate_fps - STAMP, high = truth + NS / row.rate_fps + STAMP,
      }
   end
   return list
end

-- Whether a burst fits the device: frame k (from 0) waits behind k - floor(k c/L) - 1 others.
local function holds(way, line_fps, burst_frames)
   for k = 0, burst_frames - 1 do
      if way.capacity < line_fps and k - 1 - math.floor(k * way.capacity / line_fps) >= way.buffer then
         return false
      end
   end
   return true
end

-- A burst of b frames has left after b/c, and the next may come: no sooner but for what the buffer takes up
-- in the whole of the deciding trial, no later but for the resolution and that an interval is of whole frame
-- times of the line. A burst that the buffer does not hold has no interval.
function checks.bursty_traffic(device, results, plan, direction, way)
   local l, list = limits(device, way, plan), {}
   local o = plan.rfc2544.bursty_traffic
   for _, row in ipairs(results.bursty_traffic) do
      local b = row.burst_frames
      if row.direction == direction and way.capacity and not holds(way, l.line, b) then
         list[#list + 1] = {
            test = "bursty_traffic", direction = direction, what = ("load of bursts of %d, fps"):format(b),
            truth = 0, measured = row.load_mean_fps or 0, low = 0, high = 0, validity = row.validity,
         }
      elseif row.direction == direction then
         local truth = b / math.min(way.capacity or l.line, l.line) * NS
         local hidden = way.capacity and (way.buffer + 1) / (way.capacity * o.trial) or 0
         list[#list + 1] = {
            test = "bursty_traffic", direction = direction, what = ("interval of bursts of %d, ns"):format(b),
            truth = truth, measured = row.interval_ns, validity = row.validity,
            low = math.max(b / l.line * NS, truth / (1 + hidden)),
            high = truth * (1 + o.resolution) + NS / l.line,
         }
      end
   end
   return list
end

--- What one test found of one direction of a device, beside what is true.
-- @param way  1 or 2
-- @return list of { test, direction, what, truth, measured, low, high, verdict }; without truth where the
--         test is not applicable
function M.check(test, device, results, plan, way)
   return checks[test](device, results, plan, way == 1 and "east->west" or "west->east", device[way])
end

M.TESTS = {
   "throughput", "latency", "frame_loss", "back_to_back", "system_recovery", "reset", "bursty_traffic",
}

return M
