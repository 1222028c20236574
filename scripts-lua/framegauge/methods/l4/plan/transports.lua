-- SPDX-License-Identifier: BSD-3-Clause

--- The campaign transports: TCP, TLS over TCP, QUIC and HTTP over the same paths. Here are its keys (the
-- group l4.transports), the grid of paths, which the reference device takes on one after the other, and the
-- cases of the plan: each test on each path. The figures of their trials are in transport_figures.lua.
--
-- A repetition has its own random draws (fg_device_reset), the same for all tests of a path: the seed, the
-- repetition and n alone decide whether the n-th frame of a direction is lost.
local keys = require "framegauge.plan.keys"
local format = require "framegauge.text.format"
local kinds = require "framegauge.methods.l4.plan.kinds"
local paths = require "framegauge.plan.paths"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local BURSTS = tables.find(paths.rows, "key", "loss_bursts")

M.GROUP = keys.group("transports", "of the campaign transports: the paths between client and server. Each delay is combined with each loss, rate, share of reordering and queue; all of l4.tests run on each path. Every other key of the path comes from reference_device", {
   { "delays", "list", "that a path adds to a round trip, half of it each way",
     unique = true, least = 1, of = { type = "time", max = "20s" },
     default = { "0s", "10ms", "25ms", "50ms", "100ms" } },
   { "losses", "list", "of the frames, each way",
     least = 1, default_help = "0%, 0.1%, 1%, 2%, 5%",
     of = keys.group(nil, "a share, or bursts", {
        { "random", "ratio", "share of the frames that is lost at random, each way",
          default = "0%", max = "100%" },
        keys.group("bursts", BURSTS.help, BURSTS.fields, { optional = true }),
     }, { short = "random", expected = "a share, or {bursts: {begin: 0.1%, end: 25%}}" }) },
   { "rates", "list", "bits of frames with FCS a second; reference_device.rate itself is the line, preambles and gaps included",
     least = 1, default_help = "reference_device.rate",
     of = keys.group(nil, "a rate for both ways, or one for each", {
        { "data", "bits", "the way that the payload goes", required = true, min = "10kbps" },
        { "back", "bits", "the way back", min = "10kbps", default_help = "as data" },
     }, { short = "data", expected = "a rate, or {data: 20Mbps, back: 2Mbps}" }) },
   { "reorders", "list", "share of the frames that others may pass, each way",
     unique = true, least = 1, of = { type = "ratio", max = "50%" }, default = { "0%" } },
   { "reorder_by", "integer", "how many later ones pass such a frame; at most 10 ms",
     default = "5", min = "1", max = "65535" },
   { "queues", "list", "what may wait on a path, each way, in frames or bytes",
     least = 1, of = { type = "buffer", min = "1" }, default = { "1000" } },
   { "streams", "list", "of HTTP2, HTTPS2 and HTTP3: requests at a time on a connection, each a row of its own",
     unique = true, least = 1, of = { type = "integer", min = "1", max = "1000" },
     default_help = "l4.http.streams" },
})

local REORDER_S = 10e-3
local LOSSES = { 0, 0.001, 0.01, 0.02, 0.05 } -- where the plan says none

local function burst_share(b)
   local sum = b.begin + b["end"]
   local bad = sum > 0 and b.begin / sum or 0
   return bad * b.loss + (1 - bad) * b.between
end

--- "20/2 Mbit/s", "1 Gbit/s": there and back.
local function rate_in_words(rate, back)
   local there, unit = units.format_bits(rate):match "^(%S+) (.*)$"
   local again, other = units.format_bits(back):match "^(%S+) (.*)$"
   if back == rate then
      return ("%s %s"):format(there, unit)
   end
   return unit == other and ("%s/%s %s"):format(there, again, unit)
      or ("%s %s/%s %s"):format(there, unit, again, other)
end

M.rate_in_words = rate_in_words

local function percent(share)
   return ("%.4g %%"):format(100 * share)
end

local function loss_in_words(path)
   if path.bursts then
      return ("%s lost in bursts of %.3g"):format(percent(path.loss_ratio), 1 / path.bursts["end"])
   end
   return path.loss_ratio > 0 and percent(path.loss_ratio) .. " lost" or "no loss"
end

-- A path from one element of each list. It is in the settings of its trials and rows.
local function path_of(plan, delay, loss, rate, reorder, queue)
   local line, bursts = plan.reference_device.rate, loss.bursts
   local back = rate.back or rate.data
   return {
      delay_s = delay, rate_bps = rate.data, back_bps = back, limited = rate.data < line,
      loss_ratio = bursts and burst_share(bursts) or loss.random, bursts = bursts,
      reorder_ratio = reorder, queue = queue.value, queue_unit = queue.unit,
   }
end

-- Words for the differences between the paths of a plan, and always for delay and loss.
local function name_of(o, path)
   local words = { units.format_time(path.delay_s), loss_in_words(path) }
   if #o.rates > 1 or path.back_bps ~= path.rate_bps then
      table.insert(words, 1, rate_in_words(path.rate_bps, path.back_bps))
   end
   words[#words + 1] = #o.reorders > 1 and percent(path.reorder_ratio) .. " reordered" or nil
   words[#words + 1] = #o.queues > 1 and ("queue of %s %s"):format(format.count(path.queue), path.queue_unit)
      or nil
   return table.concat(words, ", ")
end

local function lists(plan)
   local o = plan.l4.transports
   return {
      rates = o.rates or { { data = plan.reference_device.rate } }, queues = o.queues, reorders = o.reorders,
      delays = o.delays,
      losses = o.losses or tables.map(LOSSES, function(share) return { random = share } end),
   }
end

--- The paths of a plan, in order, each with its name.
function M.paths(plan)
   local out, o = {}, lists(plan)
   for _, rate in ipairs(o.rates) do
      for _, queue in ipairs(o.queues) do
         for _, reorder in ipairs(o.reorders) do
            for _, delay in ipairs(o.delays) do
               for _, loss in ipairs(o.losses) do
                  local path = path_of(plan, delay, loss, rate, reorder, queue)
                  out[#out + 1] = { path = path, name = name_of(o, path) }
               end
            end
         end
      end
   end
   return out
end

-- Whether l4.transports.streams sets the number of streams of a test.
local function has_streams(test)
   return test:match "2$" or test == "HTTP3"
end

local function with_streams(http, n)
   local out = tables.copy(http)
   out.streams = n
   return out
end

--- The cases of a plan, in order: all tests on a path, then the next.
function M.cases(plan)
   local list = {}
   for number, one in ipairs(M.paths(plan)) do
      for _, test in ipairs(plan.l4.tests) do
         local streams = has_streams(test) and plan.l4.transports.streams or { plan.l4.http.streams }
         for _, n in ipairs(streams) do
            list[#list + 1] = {
               test = test, path = number,
               name = one.name .. (#streams > 1 and (n == 1 and ", 1 stream" or (", %d streams"):format(n))
                  or ""),
               set = {
                  path = one.path,
                  http = has_streams(test) and with_streams(plan.l4.http, n) or nil,
               },
            }
         end
      end
   end
   return list
end

-- Payload goes from the first port to the second, or the other way.
local function goes_back(test)
   return kinds.of(test).receiver ~= 2
end

-- One direction of the device on a path.
local function way(of, path, rate, by)
   local out = tables.copy(of)
   out.latency, out.latency_per_byte = path.delay_s / 2, 0
   out.bandwidth = path.limited and rate or nil
   out.buffer, out.buffer_unit = path.queue, path.queue_unit
   out.loss_random, out.loss_bursts = path.bursts and 0 or path.loss_ratio, path.bursts
   out.reorder = path.reorder_ratio > 0
      and { every = 0, random = path.reorder_ratio, by = by, late = REORDER_S } or nil
   return out
end

--- The reference device of a plan on a path.
function M.device(plan, path)
   local device, back = plan.reference_device, goes_back(plan.l4.tests[1])
   local by = plan.l4.transports.reorder_by
   local out = way(device, path, back and path.back_bps or path.rate_bps, by)
   out.reverse = way(device.reverse or device, path, back and path.rate_bps or path.back_bps, by)
   out.reverse.reverse = nil
   return out
end

--- All devices of the campaign; nil with another campaign.
function M.devices(plan)
   return plan.l4.campaign == "transports" and plan.reference_device
      and tables.map(M.paths(plan), function(one) return M.device(plan, one.path) end) or nil
end

local SET = { "latency", "latency_per_byte", "bandwidth", "buffer", "loss_random", "loss_bursts", "reorder" }

local function nobody_else_sets_the_path(found)
   for _, key in ipairs(SET) do
      for _, place in ipairs { "reference_device.", "reference_device.reverse." } do
         if found:given(place .. key) then
            found:add(place .. key, "the campaign transports sets it on each path",
               "l4.transports in its place")
         end
      end
   end
end

local function rates_fit_the_line(values, found)
   local line = values.reference_device.rate
   for i, rate in ipairs(values.l4.transports.rates or {}) do
      for key, value in pairs(rate) do
         local place = found:item("l4.transports.rates", i)
         if value > line then
            found:add(found:given(place .. "." .. key) and place .. "." .. key or place,
               ("%s is more than the line carries"):format(units.format_bits(value)),
               "at most reference_device.rate, " .. units.format_bits(line))
         end
      end
      if rate.back and rate.data == line and rate.back ~= line then
         found:add(found:item("l4.transports.rates", i), "the line is as fast both ways",
            "data: less than reference_device.rate")
      end
   end
end

-- A loss is random or in bursts.
local function losses_are_one(values, found)
   for i, loss in ipairs(values.l4.transports.losses or {}) do
      if loss.bursts and loss.random > 0 then
         found:add(found:item("l4.transports.losses", i), "is at random and in bursts", "one of them")
      end
   end
end

local function payload_goes_one_way(values, found)
   local o = values.l4
   for i, test in ipairs(o.tests) do
      if goes_back(test) ~= goes_back(o.tests[1]) then
         found:add(found:item("l4.tests", i), ("the payload of %s goes the other way than %s's"):format(
            test, o.tests[1]), "tests of one way: streams, or MAERTS and HTTP")
         return
      end
   end
   if o.http.post > 0 then
      found:add("l4.http.post", "the payload of the campaign transports is the payload of responses", "0")
   end
end

--- The rules of this campaign.
function M.check(values, found)
   local port = values.ports[1]
   if values.l4.campaign ~= "transports" then
      return
   elseif values.reference_switch or not (port and port.device and port.device.kind == "wire") then
      found:add("l4.campaign", "transports sets delay, loss and rate of the path on each of its cases, and here is no reference device", "wire0 and wire1 as devices of the ports, or another campaign")
      return
   elseif values.reference_device.reflect then
      found:add("reference_device.reflect", "a loopback is no path", "false")
   elseif values.l4.peer then
      found:add("l4.peer", "not behind a reference device", "no peer")
   end
   nobody_else_sets_the_path(found)
   rates_fit_the_line(values, found)
   losses_are_one(values, found)
   payload_goes_one_way(values, found)
end

return M
