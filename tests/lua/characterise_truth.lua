-- SPDX-License-Identifier: BSD-3-Clause

--- Reference devices drawn at random, each characterised with `test: characterise`, and what must be found.
--
-- What is found may say less than all ("unclear", a bound on one side), but never anything else: each bound
-- must hold the truth, and the words must name the limits that some trial could meet. Devices that no
-- frame can tell apart count as one: what cuts through and needs as long for a byte as the line is one that
-- stores.
local Tester = require "framegauge.tester"
local devices = require "devices"
local ethernet = require "framegauge.core.ethernet"
local method = require "framegauge.methods.characterise.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local PLAN = [[
name: device %d
ports: {east: {device: wire0}, west: {device: wire1}}
test: characterise
reference_device: %s
characterise:
  bidirectional: %s
  max: %s
  trial: %gms
  rest: 200ms
  watch: 400ms
  learning_wait: 1ms
  drain: %gms
  settle: 0
]]

-- A number between two others, whose logarithm is evenly distributed; a whole one.
local function log_between(draw, low, high)
   return math.floor(math.exp(draw(math.log(low), math.log(high))) + 0.5)
end

local function one_way(draw, rate)
   local way = { latency = draw(100, 300000), per_byte = 0, jitter = 0, loss = 0, recovery = 0 }
   local line64, line1518 = ethernet.max_fps(rate, 64), rate * 1518 / 1538
   local kind = draw(0, 1)
   if kind < 0.12 then
      way.cir, way.cbs = log_between(draw, 0.02 * rate, 0.9 * rate), log_between(draw, 4096, 131072)
   else
      way.capacity = kind < 0.75 and log_between(draw, 0.02 * line64, 1.2 * line64) or nil
      way.bandwidth = kind > 0.45 and kind < 0.95 and log_between(draw, 0.05 * line1518, line1518) or nil
   end
   if draw(0, 1) < 0.5 then
      way.buffer = log_between(draw, 4, 2000)
   else
      way.buffer_bytes = log_between(draw, 6000, 500000)
   end
   way.cut_through = draw(0, 1) < 0.3
   way.per_byte = draw(0, 1) < 0.4 and draw(0.1, 12) or 0
   way.loss = draw(0, 1) < 0.25 and 10 ^ draw(-5, -2) or 0
   way.jitter = draw(0, 1) < 0.2 and draw(1000, 50000) or 0
   way.recovery = draw(0, 1) < 0.25 and way.loss == 0 and draw(2e6, 200e6) or 0
   if way.cir and draw(0, 1) < 0.5 then
      way.queue = log_between(draw, 20000, 200000) -- bytes that wait for tokens
      way.shaping = math.floor(8e9 * way.queue / way.cir)
   end
   return way
end

local function written(way)
   local list = {}
   local function add(form, value)
      list[#list + 1] = value and form:format(value) or nil
   end
   add("capacity: %dfps", way.capacity)
   add("bandwidth: %dbps", way.bandwidth)
   add("buffer: %d", way.buffer)
   add("buffer: %dB", way.buffer_bytes)
   add("latency: %.3fns", way.latency)
   add("latency_per_byte: %.6fns", way.per_byte)
   add("switching: %s", way.cut_through and "cut-through" or "store-and-forward")
   add("loss_random: %.8f%%", way.loss * 100)
   list[#list + 1] = way.jitter > 0 and ("jitter: {mean: %.3fns, distribution: %s%s}"):format(way.jitter,
      way.shape or "uniform", way.deviation and (", deviation: %.3fns"):format(way.deviation) or "") or nil
   add("recovery: %.0fns", way.recovery)
   list[#list + 1] = way.cir and ("profiles: {all: {cir: %dbps, cbs: %d, shaping: %dns}}"):format(way.cir,
      way.cbs, way.shaping or 0) or nil
   return table.concat(list, ", ")
end

--- A device by its number.
-- @return { number =, rate = bit/s, ways = list of one or two, text = as a plan has it }
function M.device(number)
   local draw = devices.generator(number * 7919 + 17)
   draw(0, 1)
   local rate = draw(0, 1) < 0.5 and 1e8 or 1e9
   local device = { number = number, rate = rate, ways = { one_way(draw, rate) } }
   local text = ("{rate: %dbps, seed: %d, %s"):format(rate, number, written(device.ways[1]))
   device.both = draw(0, 1) < 0.3
   device.text = text .. "}"
   return device
end

-- Keys at their defaults, but for waits that cost nothing here.
local DEFAULTS = [[
name: device %d
ports: {east: {device: wire0}, west: {device: wire1}}
test: characterise
reference_device: %s
characterise: {learning_wait: 1ms, settle: 0}
]]

local function drawn(number, way)
   local text = ("{rate: 100Mbps, seed: %d, %s}"):format(number, written(way))
   return { number = number, rate = 1e8, ways = { way }, text = text, plan = DEFAULTS:format(number, text) }
end

--- A policer by its number: 30 to 90 % of the line, and a bucket of 5 to 600 ms of it, in a plan of defaults.
function M.policer(number)
   local draw = devices.generator(number * 7919 + 17)
   draw(0, 1)
   return drawn(number, { latency = draw(100, 300000), per_byte = 0, jitter = 0, loss = 0, recovery = 0,
      cir = log_between(draw, 0.3e8, 0.9e8), cbs = log_between(draw, 0.005 * 1e8 / 8, 0.6 * 1e8 / 8) })
end

--- A device with jitter by its number: any distribution, in a plan of defaults.
function M.jittery(number)
   local draw = devices.generator(number * 7919 + 17)
   draw(0, 1)
   local shapes = { "uniform", "exponential", "normal" }
   local mean, shape = log_between(draw, 1000, 100000), shapes[math.floor(draw(1, 4))]
   return drawn(number, { latency = draw(100, 300000), per_byte = draw(0, 1) < 0.4 and draw(0.1, 12) or 0,
      jitter = mean, shape = shape, deviation = shape == "normal" and mean * draw(0.1, 0.5) or nil, loss = 0,
      recovery = 0, capacity = log_between(draw, 2000, 120000), buffer = log_between(draw, 4, 2000),
      cut_through = draw(0, 1) < 0.3 })
end

local function plan_of(device)
   return PLAN:format(device.number, device.text, device.both and "true" or "false", device.max or "100%",
      device.rate == 1e8 and 1000 or 300, 4000)
end

--- Characterise a device.
-- @param text  of the plan; nil: the plan of all devices
-- @param interrupt  called with the record of each trial; an error of it ends the run, and what there is then
-- is returned
-- @return results, as result.json has them; and of all its trials { trials =, seconds = of load }
function M.measure(device, text, interrupt)
   text = text or device.plan or plan_of(device)
   local plan, errors = plans.load_text(text, "device")
   assert(plan, errors and tostring(errors[1]))
   local tester = assert(Tester.open(plan))
   local session = Session.new {
      tester = tester, retries = 0, phases = plan.characterise, sink = interrupt or function() end,
   }
   local results = {}
   local ok, why = xpcall(method.run, debug.traceback, plan, tester, session, results)
   tester:close()
   assert(ok or interrupt, why)
   local cost = { trials = #session.trials, seconds = 0 }
   for _, record in ipairs(session.trials) do
      cost.seconds = cost.seconds + record.duration_s
   end
   return results, cost
end

local SWITCH_PLAN = [[
name: switch
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}}
test: characterise
reference_switch: %s
characterise:
  frame_sizes: [512]
  held_out: [256]
  trial: 20ms
  longest: 20ms
  rest: 20ms
  watch: 20ms
  learning_wait: 1ms
  drain: 100ms
  settle: 0
]]

--- A switch with a table of addresses, by its number. @return { text =, size =, ageing = s, rate =, queue = }
function M.switch(number)
   local draw = devices.generator(number * 7919 + 17)
   draw(0, 1)
   local switch = { number = number, size = log_between(draw, 10, 20000),
      ageing = draw(0, 1) < 0.2 and 0 or log_between(draw, 500, 100000) / 1000, queue = 0 }
   if draw(0, 1) < 0.6 then
      switch.rate = log_between(draw, 200, 300000)
      switch.queue = draw(0, 1) < 0.5 and log_between(draw, 1, 1000) or 0
   end
   local hashes = draw(0, 1) < 0.2
   switch.text = ("{rate: %s, mac_table: {size: %d, ageing: %.3fs%s, learning_queue: %d%s}}"):format(
      draw(0, 1) < 0.5 and "100Mbps" or "1Gbps", switch.size, switch.ageing,
      switch.rate and (", learning_rate: %dfps"):format(switch.rate) or "", switch.queue,
      hashes and (", buckets: %d, ways: 4"):format(math.ceil(switch.size / 4)) or "")
   return switch
end

--- Characterise it.
-- @param keys  lines more of the plan's group characterise, or nil
-- @return as M.measure()
function M.measure_switch(switch, keys)
   return M.measure(switch, SWITCH_PLAN:format(switch.text) .. (keys or ""))
end

--- What must be found of its table: as M.checks(). A table that hashes may hold fewer of these addresses.
function M.checks_of_table(switch, row)
   local list = {}
   local function within(what, truth, estimate, unit)
      local low = estimate and estimate["min_" .. unit]
      local high = estimate and estimate["max_" .. unit] or estimate and math.huge
      list[#list + 1] = { what = what, truth = truth, low = low, high = high,
         told = estimate and high < math.huge, holds = not estimate or truth >= low * (1 - 1e-9)
            and truth <= high * (1 + 1e-9) }
   end
   within("addresses", switch.size, row.addresses, "addresses")
   within("ageing", switch.ageing == 0 and math.huge or switch.ageing * 1e9, row.ageing, "ns")
   within("learning", switch.rate or math.huge, row.learning, "fps")
   if switch.rate then
      within("learning queue", switch.queue, row.learning_queue, "addresses")
   end
   return list
end

-- Seconds from one frame to the next behind a full line, and what decides them.
-- @param loss  share of the line's frames that do not come to the server
local function service(way, rate, size, loss)
   local line = ethernet.l1_bps(1, size) / rate / (1 - loss)
   local frames, bits = 1 / (way.capacity or math.huge), 8 * size / (way.bandwidth or math.huge)
   if way.cir then
      bits = 8 * size / way.cir
   end
   local most = math.max(line, frames, bits)
   return most, most == line and "line" or most == frames and "frames" or "bits"
end

-- What limits the sizes that are tried: a set of words, and the word for them.
local function limits_of(way, rate, loss)
   local set = {}
   for _, size in ipairs { 64, 512, 1518 } do
      set[select(2, service(way, rate, size, loss))] = true
   end
   local bucket = way.cir and set.bits and (way.queue and "shaper" or "policer")
   return set, bucket or set.frames and set.bits and "both" or set.frames and "frames" or set.bits and "bits"
      or "line"
end

--- What must be found in a direction. Random losses may keep a line from meeting a limit that is hardly less:
-- then it need not be found.
-- @return list of { what =, truth =, low =, high =, found = whether it was told }; words have no bounds, but
--         `holds`
function M.checks(device, row)
   local way, list = device.ways[1], {}
   local function within(what, truth, estimate, unit)
      if estimate then
         list[#list + 1] = { what = what, truth = truth, low = estimate["min_" .. unit],
            high = estimate["max_" .. unit] or math.huge }
      end
   end
   local function word(what, truth, found)
      list[#list + 1] = { what = what, truth = truth, found = found, holds = found == truth
         or found == "unclear"
         or found == nil }
   end
   local limits, limit = limits_of(way, device.rate, 0)
   if row.limit ~= limit then
      limits, limit = limits_of(way, device.rate, way.loss)
   end
   word("limit", limit, row.limit)
   if limits.bits then
      word("counted", "frame", row.counted)
   end
   if limit == "policer" or limit == "shaper" then
      within("cir", way.cir, row.cir, "bps")
      within("cbs", way.cbs, row.cbs, "bytes")
      within("queue", way.queue, way.queue and row.buffer_memory, "bytes")
      within("bandwidth", way.cir, row.bandwidth, "bps")
      word("both ways", "independent", row.both_ways ~= "not tried" and row.both_ways or nil)
   else
      within("capacity", limits.frames and way.capacity or math.huge, row.capacity, "fps")
      within("bandwidth", limits.bits and way.bandwidth or math.huge, row.bandwidth, "bps")
      if limits.frames or limits.bits then
         word("buffer_unit", way.buffer and "frames" or "bytes", row.buffer_unit)
         within("buffer", way.buffer or math.floor(way.buffer_bytes / 64), way.buffer and row.buffer,
            "frames")
         within("buffer", way.buffer_bytes, way.buffer_bytes and row.buffer_memory, "bytes")
      end
   end
   local line = 8e9 / device.rate
   local slope = (way.cut_through and 0 or line) + way.per_byte
   local stores = slope >= line
   word("switching", stores and "store-and-forward" or "cut-through", row.switching)
   local header = ethernet.HEADER * line
   within("latency", way.latency + (way.cut_through and header or 0) - (stores and 0 or header),
      row.base_latency, "ns")
   within("latency_per_byte", slope - (stores and line or 0), row.latency_per_byte, "ns")
   within("loss", way.loss, row.loss, "ratio")
   if row.recovery then -- it shows only after a millisecond without overload
      within("recovery", way.recovery > 1e6 and way.recovery or 0, row.recovery, "ns")
   end
   for _, one in ipairs(list) do
      if one.holds == nil then
         one.holds = one.truth >= one.low - 1e-9 * one.low and (one.high == math.huge
            or one.truth <= one.high + 1e-9 * one.high)
      end
   end
   return list
end

return M
