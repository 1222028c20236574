-- SPDX-License-Identifier: BSD-3-Clause

--- Reference switches whose figures are known, measured with `test: rfc2889`.
--
-- Each figure is held against what follows from the keys of the switch, within a bound that follows from the
-- method (docs/explanation/rfc2889.md).
local runs = require "rfc2889_runs"
local tables = require "framegauge.core.tables"

local M = {}

local TRIAL, RESOLUTION, STAMP = 0.1, 1e-3, 2 -- seconds, share of the line, ns
local PATTERNS = { "fully_meshed", "one_to_many", "many_to_one", "one_many_both", "unidirectional" }
local ALL = tables.joined(PATTERNS, { "congestion_control", "forward_pressure", "address_caching",
   "learning_rate", "errored_frames", "broadcast" })

local KEYS = [[tests: [%s], frame_sizes: [%d], trial: %dms, search_trial: 20ms, step: 25%%, latency_frames: 3,
  address_table: {max: %d, ageing: 20s, test_rate: 10kfps, learning_rate: %dfps, order: [%s]},
  congestion_control: {longest: 100ms}, errored_frames: {kinds: [oversize, undersize, crc], iloads: [10%%],
  undersize: [60], crc: [128]}]]

local function line(device)
   return device.rate / 8 / (device.size + 20)
end

-- What a line out carries: by the clock and the gap of the switch.
local function line_out(device)
   return device.rate * (1 + (device.ppm or 0) * 1e-6) / 8 / (device.size + 8 + (device.gap or 12))
end

-- Of the frames offered in a second the engine carries these, when each takes the time of k copies.
local function served(device, offered, k)
   local w, s = device.drop_cost or 0, device.capacity and k / device.capacity or 0
   return offered * s <= 1 and offered or (1 - offered * w) / (s - w)
end

-- Of the frames offered in a second, how many more may be received in a trial: those that wait at the end.
-- An engine that loses time by losing frames loses none while its queue fills, and has that time, too.
local function held(device, offered, senders, k)
   local waiting = device.buffer * (device.queues == "input" and senders or 1) + 1
   if not device.capacity or offered * k <= device.capacity then
      return waiting
   end
   local kept = k / device.capacity - (device.drop_cost or 0)
   return waiting + (device.buffer + 1) / served(device, offered, k) / kept
end

local function within(what, truth, measured, low, high)
   return { what = what, truth = truth, measured = measured or -1, low = low, high = high }
end

local function exactly(what, truth, measured, bound)
   return within(what, truth, measured, truth - (bound or 0), truth + (bound or 0))
end

-- Of n ports: how many send; the share of a line in that an egress line lets pass; what all together forward
-- of the maximum offered load, as copies, nil where that depends on whose frames the engine loses.
local OF = {
   fully_meshed = function(d, n)
      return n, line_out(d), math.min(served(d, n * line(d), 1), n * line_out(d))
   end,
   one_to_many = function(d)
      return 1, math.huge, served(d, line(d), 1)
   end,
   many_to_one = function(d, n)
      return n - 1, line_out(d) / (n - 1), math.min(served(d, (n - 1) * line(d), 1), line_out(d))
   end,
   one_many_both = function(d, n)
      return n, line_out(d) / (n - 1), not d.capacity and line(d) + line_out(d) or nil
   end,
   unidirectional = function(d, n)
      return n / 2, line_out(d), math.min(served(d, n / 2 * line(d), 1), n / 2 * line_out(d))
   end,
   broadcast = function(d, n)
      return 1, line_out(d), (n - 1) * math.min(served(d, line(d), n - 1), line_out(d))
   end,
}

-- The throughput is at most one resolution too low; it is too high by what waits at the end of the deciding
-- trial, and so are forwarding rates. These may be low by the last frame of each port.
local function mesh(key, device, row)
   local n, copies = device.ports, key == "broadcast" and device.ports - 1 or 1
   local senders, egress, frmol = OF[key](device, n)
   local engine = device.capacity and device.capacity / senders / copies or math.huge
   local truth = math.min(line(device), egress, engine)
   local more = held(device, senders * line(device), senders, copies) / TRIAL
   -- with one port to all others and these to it, that one's frames meet nobody
   local sharing = key == "one_many_both" and n - 1 or senders
   local name = (key:gsub("_", " "))
   local list = {
      within(name .. ", throughput of a port, frames/s", truth, row.throughput_fps,
         truth - 1.01 * RESOLUTION * line(device), math.min(line(device) + 1e-6, truth + more / sharing)),
   }
   if frmol then
      local offered = senders * copies * line(device)
      local least, most = frmol - n / TRIAL, math.min(offered + 1, frmol + copies * more)
      list[2] = within(name .. ", FRMOL, frames/s", frmol, row.frmol_fps, least, most)
      list[3] = within(name .. ", loss at MOL, ppm", (1 - frmol / offered) * 1e6, row.mol_loss_ratio * 1e6,
         (1 - most / offered) * 1e6, (1 - least / offered) * 1e6)
      -- an engine that loses time by losing frames forwards most at its capacity, the search's answer
      local mfr = device.drop_cost and device.capacity or frmol
      list[4] = within(name .. ", MFR, frames/s", mfr, row.mfr_fps,
         mfr - (device.drop_cost and 1.01 * RESOLUTION * offered or n / TRIAL),
         math.min(offered + 1, mfr + copies * more))
   end
   return list
end

local FIGURES = {}
for _, key in ipairs(PATTERNS) do
   FIGURES[key] = function(device, rows)
      return mesh(key, device, rows[1])
   end
end

-- Nothing waits in a full mesh in step where copies cost no time.
function FIGURES.fully_meshed(device, rows)
   local list, truth = mesh("fully_meshed", device, rows[1]), device.latency + device.size * 8e9 / device.rate
   if not device.capacity then
      list[#list + 1] = exactly("fully meshed, latency, least, ns", truth, rows[1].latency.min_ns, STAMP)
      list[#list + 1] = exactly("fully meshed, latency, greatest, ns", truth, rows[1].latency.max_ns, STAMP)
   end
   return list
end

-- A copy leaves the engine after those before it.
function FIGURES.broadcast(device, rows)
   local list, apart = mesh("broadcast", device, rows[1]), device.capacity and 1e9 / device.capacity or 0
   for k, one in ipairs(rows[1].receivers) do
      list[#list + 1] = exactly(("broadcast, latency at receiver %d, ns"):format(k),
         device.latency + device.size * 8e9 / device.rate + (k - 1) * apart, one.latency.max_ns, STAMP)
   end
   list[#list + 1] = exactly("broadcast, skew, ns", (device.ports - 2) * apart, rows[1].skew_ns, STAMP)
   return list
end

local function words(what, truth, measured)
   return { what = what, truth = truth, measured = measured, low = truth, high = truth }
end

-- What each organisation of queues comes to: loss of the uncongested port and of the congested one, each with
-- how much less and more it may be, the conclusion, and the buffer where it is found; of n frames of a
-- source. A queue behind the ingress has to fill first, which takes 3 Q frame times.
local CONGESTION = {
   -- an egress that is faster than the line has sent more meanwhile
   output = function(d, n)
      local q, more = d.shared or d.buffer, math.abs(line_out(d) - line(d)) * TRIAL
      return { 0, 0, 0 }, { (0.5 * n - q - 1) / (1.5 * n), (2 + more) / n, 2 / n }, "none",
         within("buffer, frames", q, nil, q - 2, q + 2 + more)
   end,
   input = function(d, n)
      return { 1 / 3, (3 * d.buffer + 6) / n, 0 }, { 1 / 3, 3 * (d.buffer + 2) / n, 2 / n },
         "head-of-line-blocking"
   end,
   pause = function()
      return { 0, 0, 0 }, { 0, 0, 0 }, "back-pressure"
   end,
}

local function loss(what, truth, measured)
   return within(what, truth[1] * 1e6, measured * 1e6, (truth[1] - truth[2]) * 1e6,
      (truth[1] + truth[3]) * 1e6)
end

function FIGURES.congestion_control(device, rows)
   local list, n = {}, math.floor(line(device) * TRIAL + 0.5)
   for i, row in ipairs(rows) do
      local name = ("congestion control, block %d, "):format(i)
      if device.capacity and device.capacity < line(device) then
         list[#list + 1] = words(name .. "conclusion", "input-limited", row.conclusion)
      else
         local organisation = device.flow_control or device.queues or "output"
         local u, c, conclusion, buffer = CONGESTION[organisation](device, n)
         list[#list + 1] = loss(name .. "uncongested loss, ppm", u, row.uncongested_loss_ratio)
         list[#list + 1] = loss(name .. "congested loss, ppm", c, row.congested_loss_ratio)
         list[#list + 1] = words(name .. "conclusion", conclusion, row.conclusion)
         if buffer then
            buffer.what, buffer.measured = name .. buffer.what, row.buffer_estimate_frames
            list[#list + 1] = buffer
         end
      end
   end
   return list
end

-- From the first arrival to the last: two stamps. An engine that loses time by losing frames has not yet lost
-- the time of frames which came while the last one waited for it.
function FIGURES.forward_pressure(device, rows)
   local row, offered = rows[1], device.rate / 8 / (device.size + 19)
   local truth = math.min(offered, line_out(device), served(device, offered, 1))
   local bound, more, w = truth * 2 * STAMP / (TRIAL * 1e9), 0, device.drop_cost or 0
   if device.capacity and device.capacity < offered then
      more = offered * w * (device.buffer + 1) / truth / (1 / device.capacity - w) / TRIAL
   end
   return {
      within("forward pressure, forwarded, frames/s", truth, row.forwarding_span_fps, truth - bound,
         truth + bound + more),
      words("forward pressure, outcome", truth > line(device) * (1 + 200e-6) and "fail" or "pass",
         row.outcome),
   }
end

function FIGURES.address_caching(device, rows)
   return tables.map(rows, function(row)
      return exactly(("addresses, %s"):format(row.order), device.table - 1, row.addresses)
   end)
end

-- With a queue of q, of N addresses: the last of them must find a place.
function FIGURES.learning_rate(device, rows)
   return tables.map(rows, function(row)
      local n, q, rate = device.table - 1, device.learning_queue or 0, device.learning
      return within(("learning rate, %s, addresses/s"):format(row.order), rate / (1 - q / (n - 1)),
         row.learning_fps, 0.99 * rate / (1 - q / (n - 1)), rate / (1 - (q + 1) / (n - 1)))
   end)
end

function FIGURES.errored_frames(device, rows)
   local list = {}
   for _, row in ipairs(rows) do
      local name = ("%s of %d bytes, "):format(row.kind, row.frame_size)
      local passes = device.forwards == row.kind and row.frame_size <= (device.longest or 16128)
      list[#list + 1] = exactly(name .. "arrived of " .. row.sent, passes and row.sent or 0, row.received)
      list[#list + 1] = exactly(name .. "good frames lost", 0, row.good_lost)
   end
   return list
end

--- The switches: what is written into the plan, and the same in numbers; times in ns.
M.DEVICES = {
   {
      name = "switch with an engine of 3 million frames a second", ports = 4, rate = 1e9, size = 64,
      capacity = 3e6, buffer = 16, latency = 5000, ppm = 50, table = 100, learning = 2000, tests = ALL,
      written = "capacity: 3Mfps, ppm: 50",
   },
   {
      name = "switch that copies the gap and forwards runts", ports = 4, rate = 1e9, size = 512, buffer = 64,
      latency = 12000, gap = 11, table = 65, learning = 500, learning_queue = 20, forwards = "undersize",
      tests = ALL, written = "gap: 11, forwards_runts: true",
   },
   {
      name = "switch with input queues, the oldest frame first", ports = 4, rate = 1e9, size = 256,
      buffer = 32, latency = 20000, queues = "input", table = 33, learning = 1000, forwards = "crc",
      tests = ALL, written = "queues: input, arbitration: oldest, forwards_bad_fcs: true",
   },
   {
      name = "switch with eight ports of 10 Gb/s", ports = 8, rate = 1e10, size = 1518, buffer = 100,
      capacity = 4e6, latency = 3000, table = 257, learning = 5000, learning_queue = 100, tests = ALL,
      written = "capacity: 4Mfps",
   },
   {
      name = "software switch that loses time by losing frames", ports = 4, rate = 1e9, size = 64,
      capacity = 900e3, drop_cost = 100e-9, buffer = 16, latency = 50000, table = 20, learning = 800,
      forwards = "oversize", longest = 1600, tests = ALL,
      written = "capacity: 900kfps, drop_cost: 100ns, max_frame: 1600",
   },
   {
      name = "slow switch with a shared buffer", ports = 6, rate = 1e8, size = 128, buffer = 64, shared = 32,
      latency = 100000, ppm = -80, table = 50, learning = 100, tests = tables.joined(PATTERNS, {
         "forward_pressure", "address_caching", "learning_rate", "errored_frames", "broadcast",
      }), written = "queues: shared, alpha: 1, ppm: -80",
   },
   {
      name = "switch that has its senders pause", ports = 4, rate = 1e9, size = 1024, buffer = 4096,
      latency = 20000, flow_control = "pause", table = 128, learning = 4000, tests = {
         "fully_meshed", "unidirectional", "congestion_control", "address_caching", "learning_rate",
         "errored_frames", "broadcast",
      }, written = "flow_control: pause",
   },
}

--- The keys of the reference switch of a device.
function M.switch(device)
   return ("rate: %.0fbps, buffer: %d, latency: %dns, %s, mac_table: {size: %d, ageing: 20s, learning_rate: %dfps, learning_queue: %d}"):format(device.rate, device.buffer, device.latency,
      device.written, device.table, device.learning, device.learning_queue or 0)
end

--- Measure a device. @return results.rfc2889
function M.measure(device)
   return (runs.run(device.ports, M.switch(device), KEYS:format(table.concat(device.tests, ", "),
      device.size, TRIAL * 1e3, 2 * device.table, device.learning / 2,
      device.table > 100 and "random" or "sequential, random")))
end

--- What was measured beside the truth: list of { what =, truth =, measured =, low =, high = }; numbers or,
-- with no bounds, words.
function M.checks(device, results)
   local list = {}
   for _, test in ipairs(device.tests) do
      list = tables.joined(list, FIGURES[test](device, results[test]))
   end
   return list
end

return M
