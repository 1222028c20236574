-- SPDX-License-Identifier: BSD-3-Clause

--- Devices drawn at random for each method, and what their figures must be: the arithmetic of the truth pages
-- (truth.lua, rfc2889_truth.lua and so on) with other numbers.
local ethernet = require "framegauge.core.ethernet"
local late_frames = require "late_frames"
local tables = require "framegauge.core.tables"
local tools = require "campaign_tools"
local truth_table = require "truth_table"

local M = {}

local SIZES = { 64, 128, 256, 512, 1024, 1518 }

local pick, frames, results_of, adder = tools.pick, tools.frames, tools.results_of, tools.adder

local METHODS = {}

-- Two directions, each with an engine, a buffer and a delay of its own.
function METHODS.rfc2544(draw)
   local truth = require "truth"
   local rate, size, ways, written = 1e9, pick(draw, SIZES), {}, {}
   for i = 1, 2 do
      local latency, byte = draw(1, 3000), draw(0, 20)
      local capacity = frames(draw, rate, size, 30, 85)
      -- the longest burst lasts less than 100 ms, and the overload of a tenth more fills the buffer in 200 ms
      ways[i] = { capacity = capacity, buffer = draw(1, math.min(200, math.floor(capacity / 100))),
         -- the device loses none for the first millisecond after an overload, so 1 ms would not show
         recovery = draw(0, 1) * draw(2, 90) / 1e3, latency = latency * 1e-6 + byte * size * 1e-9 }
      written[i] = ("capacity: %dfps, buffer: %d, latency: %dus, latency_per_byte: %dns, recovery: %dms"):format(
         ways[i].capacity, ways[i].buffer, latency, byte, ways[i].recovery * 1e3)
   end
   local device = { name = "device", frame_size = size, rate = rate, outage = draw(100, 9000) / 1e4, ways[1],
      ways[2], written = ("{rate: %.0fbps, %s, reverse: {%s}}"):format(rate, written[1], written[2]) }
   local results, plan = truth.measure(device)
   local list = { truth.check_both(device, results, plan) }
   for _, test in ipairs(truth.TESTS) do
      for i = 1, 2 do
         -- where frames are lost more than a millisecond apart the device recovers in between
         if test ~= "frame_loss" or ways[i].recovery == 0 then
            list = tables.joined(list, truth.check(test, device, results, plan, i))
         end
      end
   end
   return list, device.written .. (" %d bytes, out of service for %g s"):format(size, device.outage)
end

-- Output or input queues, with an engine or without, a clock that differs, a table that learns slowly.
function METHODS.rfc2889(draw)
   local truth = require "rfc2889_truth"
   local device = {
      ports = pick(draw, { 4, 6 }), rate = pick(draw, { 1e8, 1e9 }), size = pick(draw, SIZES),
      latency = draw(1, 100) * 1000, buffer = draw(8, 48), table = draw(20, 200), learning = draw(100, 4000),
   }
   device.learning_queue = draw(0, math.floor(device.table / 4))
   local tests = { "fully_meshed", "one_to_many", "many_to_one", "unidirectional", "forward_pressure",
      "address_caching", "learning_rate", "errored_frames", "broadcast" }
   local written, kind = {}, draw(1, 3)
   if kind == 1 then
      -- it carries the load of errored frames, too: a tenth of the line, frames of 60 bytes
      device.capacity = math.max(frames(draw, device.rate, device.size, 110, 100 * device.ports),
         math.ceil(ethernet.max_fps(device.rate, 60) / 10))
      written[1] = ("capacity: %dfps"):format(device.capacity)
   else
      tests[#tests + 1] = "one_many_both"
      -- which frame finds the last place of an input queue depends on times that differ by less than a bit
      tests[#tests + 1] = kind == 3 and device.ports == 4 and "congestion_control" or nil
   end
   if kind == 2 then
      device.queues, written[1] = "input", "queues: input, arbitration: oldest"
   else
      device.ppm = draw(0, 200) - (device.capacity and 100 or 0) -- frames wait for a line that is slower
      written[#written + 1] = ("ppm: %d"):format(device.ppm)
   end
   device.forwards = pick(draw, { "undersize", "crc" })
   written[#written + 1] = device.forwards == "crc" and "forwards_bad_fcs: true" or "forwards_runts: true"
   device.tests, device.written = tests, table.concat(written, ", ")
   local list = truth.checks(device, (truth.measure(device)))
   return list, ("%d ports, %d bytes: %s"):format(device.ports, device.size, truth.switch(device))
end

-- A switch that pauses its senders: the load that it lets them offer, what it forwards, and no loss.
function METHODS.pauses(draw)
   local runs = require "rfc2889_runs"
   local mbps, size, ports = pick(draw, { 100, 1000 }), pick(draw, SIZES), pick(draw, { 4, 8 })
   local line, seconds, xoff = mbps * 1e6 / 8 / (size + 20), mbps == 100 and 0.5 or 0.2,
      1518 * draw(3, 40)
   local latency = draw(1, 80) -- us
   local switch = ("rate: %dMbps, latency: %dus, buffer: 5000, flow_control: pause, xoff: %d, xon: %d, pause_quanta: %d"):format(mbps, latency, xoff, xoff / 2, draw(2000, 65535))
   local keys = ("tests: [many_to_one, congestion_control], frame_sizes: [%d], trial: %gs, search_trial: %gs, step: 50%%, congestion_control: {longest: %gs}"):format(size, seconds, seconds, seconds)
   local results, session = runs.run(ports, switch, keys)
   -- of each port until it has paused, and on the way out
   local held = (ports - 1) * (xoff / size + 3) + latency * 1e-6 * line
   local row, list = results.many_to_one[1], {}
   local n, add = line * seconds, adder(list)
   local room, record = (held + 2) / seconds, session.trials[row.trials]
   -- what the switch still holds at the end was offered, too
   add("offered, frames/s", line + room / 2, row.mol_fps, room / 2 + 0.002 * line)
   add("FRMOL, frames/s", line, row.frmol_fps, 0.01 * line)
   list[#list].high = line * (1 + 1e-5)
   add("lost at MOL, but what the switch holds", held / 2, record.lost, held / 2)
   add("throughput, frames/s", (line + room / 2) / (ports - 1), row.throughput_fps, (room / 2 + 2e-3 * line)
      / (ports - 1) + row.resolution_fps)
   list[#list + 1] = { what = "the reason", truth = "because the device paused port",
      measured = row.paused_ns and row.reasons[1] and row.reasons[1]:match "because the device paused port" }
   local one = results.congestion_control[1]
   list[#list + 1] = { what = "conclusion", truth = "back-pressure", measured = one.conclusion }
   add("lost for the uncongested port", 0, one.uncongested_loss_ratio, 0)
   add("lost for the congested port", 0, one.congested_loss_ratio, 0)
   add("congested, frames/s", line, one.congested_fps, line * (2 * xoff / size + 60) / n)
   list[#list].high = line * (1 + 1e-5)
   return list, runs.plan_of(ports, switch, keys)
end

-- An engine that copies, delays of joins and leaves, room for some groups.
function METHODS.rfc3918(draw)
   local truth = require "rfc3918_truth"
   local device = {
      name = "switch", receivers = draw(1, 4), rate = 1e9, size = pick(draw, { 128, 256, 512 }),
      latency = draw(1, 50) * 1000, unicast = draw(10, 90) / 100, join = draw(10, 400) * 1e3,
      new = draw(0, 1000) * 1e3, leave = draw(10, 400) * 1e3, groups = draw(12, 500), six = draw(1, 2) == 2,
   }
   local engine = ""
   if draw(1, 2) == 1 then
      device.capacity = frames(draw, device.rate, device.size, 90 * device.receivers, 150 * device.receivers)
      engine = ("capacity: %dfps, "):format(device.capacity)
   end
   device.tests = { "aggregated", "mixed_class", "latency", "join_delay", "leave_delay", "group_capacity" }
   -- 14 bytes are in when it begins to send: it is seen to cut through where that is before the last bit
   device.cut_through = not device.capacity and draw(1, 2) == 1
   engine = engine .. (device.cut_through and "switching: cut-through, " or "")
   device.written = ("%slatency: %dns, snooping: {groups: %d, unregistered: drop, join_delay: %dns, new_group_delay: %dns, leave_delay: %dns}"):format(engine, device.latency, device.groups,
      device.join, device.new, device.leave)
   device.keys = ("{groups: 10, latency_load: 80%%, unicast_share: %d%%, version: %s, capacity_max: 600, membership: {load: 50%%, observe_join: 5ms, observe_leave: 5ms, repetitions: 2}}"):format(
      device.unicast * 100, pick(draw, device.six and { "mldv1", "mldv2" } or { "igmpv2", "igmpv3" }))
   return truth.checks(device, (truth.measure(device))), truth.plan(device)
end

-- An egress queue of some frames, and a clock that differs.
function METHODS.rfc8239(draw)
   local truth = require "rfc8239_truth"
   local q, size, ppm = draw(20, 600), pick(draw, SIZES), draw(0, 100) - 50
   local burst, senders = draw(4, 60), draw(3, 5)
   local device = {
      name = "switch", ports = senders + 1, switch = ("buffer: %d, ppm: %d"):format(q, ppm),
      keys = ("iterations: 1, tests: [buffer, microburst, incast], frame_sizes: [%d], trial: %dms, buffer: {procedures: [port]}, microburst: {rotations: one, verify: 1}, incast: {burst_frames: %d, burst_interval: 10ms}"):format(size, size > 600 and 4000 or 800,
         burst),
   }
   local results = truth.measure(device)
   local list = truth.buffer_checks("port", results.buffer[1], { q = q, surplus = 0.01, fast = ppm * 1e-6 })
   list = tables.joined(list, truth.bursts(results, function(row)
      return math.floor(q / (row.ingresses / row.egresses - 1))
   end, function(row) -- egresses get the frames of a port by turns
      return row.egresses
   end))
   for _, row in ipairs(results.incast) do
      local lost = math.max(0, (row.senders - 1) * burst - q)
      list[#list + 1] = { what = ("lost of a burst of %d senders"):format(row.senders), truth = lost,
         measured = row.lost_per_burst, low = lost - 1, high = lost + 1 }
   end
   return list, truth.plan_of("switch", device.ports, device.switch, device.keys)
end

-- An outage of all routes at an odd time.
function METHODS.convergence(draw)
   local truth = require "convergence_truth"
   local rate, size, routes = pick(draw, { 1e8, 1e9 }), pick(draw, { 64, 128, 512 }), draw(1, 60)
   local line = ethernet.max_fps(rate, size)
   local device = {
      name = "router", written = ("{rate: %.0fbps, latency: %dus}"):format(rate, draw(1, 2000)), rate = rate,
      size = size, routes = routes, of = ("{count: %d}"):format(routes),
      fps = draw(math.max(7000, 110 * routes), math.floor(math.min(line, 2e5))),
      at = draw(1000000, 2000000) / 1e7,
      outage = draw(110000, 3000000) / 1e7, sampling = draw(5, 20) / 1e3,
   }
   local results, list = truth.measure(device), {}
   for i, row in ipairs(results.convergence) do
      list = tables.joined(list, truth.checks(device, row,
         { unpack(results.convergence_routes, (i - 1) * routes + 1, i * routes) }))
   end
   return list, truth.plan_of(device)
end

-- Services of frames of all sizes, side by side, and a device of one delay that loses one frame in a number.
function METHODS.y1564(draw)
   local n, mbps, every = draw(1, 4), pick(draw, { 10, 100 }), draw(0, 1) * draw(500, 5000)
   local latency, services, list = draw(1, 20000), {}, {}
   for i = 1, n do
      services[i] = ("    s%d: {vlan: %d, frame_size: %d, cir: %dkbps, cbs: 16KiB, acceptance: {flr: 1%%, ftd: 1s, fdv: 0s, avail: 99%%}}"):format(i, i, draw(68, 1522), draw(100,
         math.floor(700 * mbps / n)))
   end
   local text = ([[
test: y1564
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: %dMbps, latency: %dus, switching: cut-through%s}
y1564:
  learning_wait: 10ms
  drain: 100ms
  settle: 0s
  configuration: {tests: [step-load], trial: 500ms}
  performance: {duration: 2s}
  services:
%s
]]):format(mbps, latency, every > 0 and ", loss_every: " .. every or "", table.concat(services, "\n"))
   local results, plan = results_of(text)
   local lost = { sum = 0, tx = 0 }
   local add = adder(list)
   for i, service in ipairs(results.y1564.services) do
      local one = plan.y1564.services[i]
      for _, row in ipairs(tables.joined(service.configuration, service.performance)) do
         local of = ("%s %s %s, "):format(service.name, row.step or "performance", row.direction)
         -- 14 bytes are in before the first bit leaves; the last bit is a frame later
         add(of .. "FTD, ns", latency * 1e3 + (14 + one.frame_size) * 8e3 / mbps, row.ftd.mean_ns, 2)
         add(of .. "FDV, ns", 0, row.fdv_ns, 2)
         add(of .. "lost", row.tx * (every > 0 and 1 / every or 0), row.lost, row.step and 1 or row.tx)
         list[#list + 1] = { what = of .. "outcome", truth = "pass", measured = row.outcome }
         if not row.step and row.direction == "east->west" then
            lost.sum, lost.tx = lost.sum + row.lost, lost.tx + row.tx
         end
      end
   end
   add("lost of all services", every > 0 and lost.tx / every or 0, lost.sum, 1)
   return list, text
end

-- A capture of random frames at random times, and a device that loses, copies or holds back one in a number.
function METHODS.replay(draw)
   local replays = require "replays"
   local n, loops, speed, at, recorded = draw(50, 400), draw(1, 3), pick(draw, { 0.5, 1, 2, 8 }), 0, {}
   local bytes, on_line = 0, 0
   for i = 1, n do
      local size = draw(64, 1518)
      recorded[i] = { at, replays.frames(64, { at })[1][2]:sub(1, 14) .. ("%04d"):format(i)
         .. ("."):rep(size - 22) }
      -- all but the last, in the time until it left
      bytes, on_line = bytes + size, on_line + (i < n and size + 20 or 0)
      at = at + (i < n and draw(13000, 300000) * math.max(1, speed) or 0)
   end
   local every = draw(7, 60)
   local fault = pick(draw, { "loss_every: %d", "duplicate: {every: %d}", "reorder: {every: %d, by: 1}" })
   local text = ([[
test: replay
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, latency: %dus, %s}
replay: {file: %s, speed: %gx, loops: %d}
]]):format(draw(1, 500), fault:format(every), replays.write(recorded), speed, loops)
   local row, list = results_of(text).replay[1], {}
   local add, found = adder(list), { l = "lost", d = "duplicates", r = "reordered" }
   add("frames", n * loops, row.frames, 0)
   add("bytes", bytes * loops, row.bytes, 0)
   add("recorded, ns", at, row.recorded_s * 1e9, 1)
   add("behind, ns", 0, row.behind.max_ns, 2)
   if loops == 1 then
      add("duration, ns", at / speed, row.duration_s * 1e9, 2)
      add("frames/s", (n - 1) * speed / at * 1e9, row.sent_fps, 1e-3 * row.sent_fps)
      add("Mbit/s", on_line * 8e3 * speed / at, row.sent_l1_mbps, 1e-3 * row.sent_l1_mbps)
   end
   for letter, key in pairs(found) do
      local hit = fault:sub(1, 1) == letter
      -- what finds a neighbour may be one of those that are counted
      add(key, hit and n * loops / every or 0, row.verified[key], hit and 1 or 0)
   end
   return list, text
end

-- Streams of several ports to one, whose queue holds some frames, and one the other way, which meets nobody.
function METHODS.traffic(draw)
   local size, mbps, q = pick(draw, SIZES), pick(draw, { 10, 100 }), draw(8, 200)
   local sources, latency = draw(1, 3), draw(1, 500)
   local line, seconds, load, streams = ethernet.max_fps(mbps * 1e6, size), draw(3, 10) / 10, 0, {}
   for i = 1, sources do
      local percent = draw(5, 95)
      load = load + percent / 100
      streams[i] = ("  s%d: {from: p%d, to: sink, size: %d, rate: %d%%}"):format(i, i, size, percent)
   end
   streams[#streams + 1] = ("  back: {from: sink, to: p1, size: %d, rate: %d%%}"):format(size, draw(5, 95))
   local text = ([[
test: traffic
ports: {p1: {device: wire0}, p2: {device: wire1}, p3: {device: wire2}, sink: {device: wire3}}
reference_switch: {rate: %dMbps, latency: %dus, buffer: %d}
traffic: {duration: %gs, learning_wait: 10ms, drain: 1s, settle: 0s}
streams:
%s
]]):format(mbps, latency, q, seconds, table.concat(streams, "\n"))
   local rows, list, sum = results_of(text).traffic, {}, { tx = 0, lost = 0 }
   local add, serial = adder(list), size * 8e3 / mbps
   for i = 1, sources do
      local row = rows[i]
      sum.tx, sum.lost = sum.tx + row.tx, sum.lost + row.lost
      add(row.stream .. ", received", row.tx - row.lost, row.rx, 0)
      add(row.stream .. ", least delay, ns", latency * 1e3 + serial, row.latency.min_ns,
         (sources - 1) * serial * 1.4 + 1)
      list[#list + 1] = { what = row.stream .. ", longest delay, ns", truth = latency * 1e3 + serial,
         measured = row.latency.max_ns, low = latency * 1e3 + serial - 1,
         high = latency * 1e3 + serial + (q + sources) * (size + 20) * 8e3 / mbps }
   end
   add("sent", load * line * seconds, sum.tx, sources)
   add("lost", math.max(0, (load - 1) * line * seconds - q), sum.lost, load > 1 and 2 * sources + 2 or 0)
   local back = rows[sources + 1]
   add("back, lost", 0, back.lost, 0)
   add("back, least delay, ns", latency * 1e3 + serial, back.latency.min_ns, 1)
   add("back, longest delay, ns", latency * 1e3 + serial, back.latency.max_ns, 1)
   return list, text
end

for _, file in ipairs { "campaigns_probes", "campaigns_state" } do
   for method, draws in pairs(require(file)) do
      METHODS[method] = draws
   end
end
M.METHODS = METHODS

local function text_of(check)
   return ("%s %s: %s, truth %s, %s to %s %s"):format(check.test or "", check.what, tostring(check.measured),
      tostring(check.truth), tostring(check.low), tostring(check.high), check.validity or "")
end

--- Play a method against one device after the other.
-- @param n  devices
-- @return list of what was wrong, and how many figures were held against the truth
function M.play(method, n)
   local draw, wrong, figures = late_frames.draws(), {}, 0
   for _ = 1, n do
      local ok, list, device = pcall(METHODS[method], draw)
      for _, check in ipairs(ok and list or {}) do
         figures = figures + 1
         if check.truth and not truth_table.holds(check) or not check.truth and check.validity == "valid" then
            wrong[#wrong + 1] = text_of(check) .. "\n   " .. device
         end
      end
      wrong[#wrong + 1] = not ok and tostring(list) or nil
   end
   return wrong, figures
end

return M
