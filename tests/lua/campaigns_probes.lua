-- SPDX-License-Identifier: BSD-3-Clause

--- Devices drawn at random for probes of OAM, and switches for a mesh; the rest is in campaigns.lua.
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"
local tools = require "campaign_tools"
local truth = require "oam_truth"

local M = {}

local pick, results_of, adder = tools.pick, tools.results_of, tools.adder

local NS = 1e9

-- Frames of a service that are lost on each way, by LMM.
local function service(text, between, interval, count, n)
   local list = {}
   local add = adder(list)
   local row = results_of(text:gsub("tests: %b[]", ("tests: [loss], between: %d"):format(between)):gsub(
      "interval: %d+us", ("interval: %dus"):format(interval * (between + 1)))).oam[1]
   local there, back, probes = truth.lost_service(count, between, n[1], n[2])
   add("loss, probes lost", probes, row.lost, 0)
   if there then
      add("loss, of the service there", there, row.service.forward_lost, 0)
      add("loss, of the service back", back, row.service.backward_lost, 0)
      add("loss, share there", there / row.service.forward_sent, row.service.forward_loss_ratio, 1e-9)
   end
   return list
end

-- Delays of both ways, and losses of each or copies.
function M.oam(draw)
   local mbps, size, count = pick(draw, { 10, 100, 1000 }), draw(90, 1518), draw(20, 600)
   -- us; the line carries the copies of a probe and of its reply, too
   local kind, interval = pick(draw, { "loss", "copies", "jitter" }),
      draw(math.max(100, math.ceil((size + 20) * 8 / mbps * 4)), 8000)
   local ways, written, n = {}, {}, { 0, 0 }
   for i = 1, 2 do
      local latency, byte, jitter = draw(0, 30000), draw(0, 30), kind == "jitter" and draw(1, interval / 2) or 0
      n[i] = kind == "loss" and draw(0, 3) * draw(2, 40) or kind == "copies" and draw(0, 1) * draw(2, 30) or 0
      local least = latency * 1e3 + byte * size + size * 8e3 / mbps
      ways[i] = { least = least, spread = 2e3 * jitter }
      written[i] = ("latency: %dus, latency_per_byte: %dns, jitter: %dus, loss_every: %d%s"):format(latency, byte,
         jitter, kind == "loss" and n[i] or 0, kind == "copies" and n[i] > 0
         and (", duplicate: {every: %d}"):format(n[i]) or i == 2 and ", duplicate: {every: 4000000}" or "")
   end
   local text = ([[
test: oam
ports: {east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}
reference_device: {rate: %dMbps, time: free, %s, reverse: {%s}}
oam: {tests: [stamp, twamp_light, loopback, delay, synthetic_loss], frame_sizes: [%d], count: %d,
  interval: %dus, timestamp: %s, drain: 200ms, learning_wait: 10ms, settle: 0s}
]]):format(mbps, written[1], written[2], size, count, interval, pick(draw, { "ntp", "ptp" }))
   local list, lost = {}, kind == "loss" and { truth.losses(count, n[1], n[2]) } or { 0, 0, 0 }
   local add = adder(list)
   for _, row in ipairs(results_of(text).oam) do
      local of, step = row.test .. ", ", 100 -- of the wire's time, in the reflector
      local function delay(what, one, least, spread)
         add(of .. what .. ", least, ns", least + spread / 2, one.min_ns, spread / 2 + 2)
         add(of .. what .. ", most, ns", least + spread / 2, one.max_ns, spread / 2 + 2)
         -- of even spreads: six deviations of the mean
         add(of .. what .. ", mean, ns", least + spread / 2, one.mean_ns,
            6 * spread / math.sqrt(12 * (count - lost[3])) + 2)
      end
      local a, b = ways[1], ways[2]
      add(of .. "sent", count, row.sent, 0)
      add(of .. "lost", lost[3], row.lost, 0)
      add(of .. "loss", lost[3] / count, row.loss_ratio, 1e-9)
      add(of .. "reordered", 0, row.reordered, 0)
      if lost[3] < count then
         delay("round trip", row.round_trip, a.least + b.least + (row.forward and 0 or step), a.spread + b.spread)
      end
      if row.forward then
         delay("there", row.forward, a.least, a.spread)
         delay("back", row.backward, b.least, b.spread)
      end
      if kind == "copies" then
         local more = n[1] > 0 and math.floor((count + 1) / n[1]) or 0
         more = more + (n[2] > 0 and math.floor((count + more + 1) / n[2]) or 0)
         add(of .. "copies", more, row.duplicates, 0)
      elseif row.forward_lost then
         add(of .. "lost there", lost[1], row.forward_lost, 0)
         add(of .. "lost back", lost[2], row.backward_lost, 0)
         add(of .. "lost somewhere", lost[3] - lost[1] - lost[2], row.undecided_lost, 0)
      end
   end
   return kind == "loss" and tables.joined(list, service(text, draw(1, 9), interval, count, n)) or list, text
end

-- Lines of different speed, a clock that is slower, an engine for all, or all pairs at once.
function M.mesh(draw)
   local kind, n, size = pick(draw, { "load", "throughput", "engine", "light" }), draw(2, 6), draw(64, 1518)
   local ppm, q = kind ~= "light" and draw(0, 1) * -draw(1, 1000) or 0, draw(20, 300)
   local latency, byte = draw(0, 5000), draw(0, 20)
   local rates, ports, lines = {}, {}, {}
   for i = 1, n do
      rates[i] = kind == "engine" and 1e8 or pick(draw, { 1e7, 1e8, 1e9 })
      ports[i] = ("p%d: {device: wire%d}"):format(i, i - 1)
      lines[i] = ("p%d: {rate: %.0fbps}"):format(i, rates[i])
   end
   local load = kind == "light" and draw(2, 10) / 1000 or kind == "engine" and 1 or draw(100, 1000) / 1000
   local seconds = kind == "light" and 4 or draw(100, 300) / 1000 -- a frame in it of the slowest flow
   local capacity = math.floor(ethernet.max_fps(1e8, size) * draw(10, 200) / 100)
   local text = ([[
test: mesh
ports: {%s}
reference_switch: {latency: %dus, latency_per_byte: %dns, buffer: %d, ppm: %d%s, ports: {%s}}
mesh: {class: %s, load: %g%%, trial: %gms, frame_size: %d, throughput: %s, learning_wait: 100ms, drain: 500ms,
  settle: 0s}
]]):format(table.concat(ports, ", "), latency, byte, q, ppm, kind == "engine" and (", capacity: %dfps"):format(
      capacity) or "", table.concat(lines, ", "), kind == "light" and "light" or "exclusive", load * 100,
      seconds * 1e3, size, tostring(kind == "throughput"))
   local list, round, sums = {}, 0, {}
   local add = adder(list)
   for _, row in ipairs(results_of(text).mesh) do
      local from, to = rates[tonumber(row.from:sub(2))], rates[tonumber(row.to:sub(2))]
      local of, line = row.direction .. ", ", ethernet.max_fps(math.min(from, to), size)
      -- what leaves by the line to the tester, whose clock is slower
      local out = to <= from and line * (1 + ppm * 1e-6) or line
      local least = latency * 1e3 + byte * size + size * 8 * NS / from
      list[#list + 1] = { what = of .. "verdict", truth = "valid", measured = row.validity }
      -- a frame of each other port may be before it, each time again: of all pairs at once at the line, else
      -- at the engine
      local waits = kind == "light" and (n - 2) * (size + 20) * 8 * NS / to
         or kind == "engine" and n / capacity * NS or 0
      -- frames that come together with others may all find the engine's queue full
      list[#list + 1] = { what = of .. "least delay, ns", truth = least, low = least - 2,
         measured = row.latency and row.latency.min_ns or kind == "engine" and row.rx == 0 and least,
         high = least + waits + 2 }
      round, sums[row.round] = math.max(round, row.round), sums[row.round] or { tx = 0, rx = 0, line = 0 }
      local sum = sums[row.round]
      sum.tx, sum.rx = sum.tx + row.tx, sum.rx + row.rx
      if kind == "light" then
         add(of .. "sent", load / (n - 1) * line * seconds, row.tx, 1)
         add(of .. "lost", 0, row.lost, 0)
         list[#list + 1] = { what = of .. "longest delay, ns", truth = least, measured = row.latency.max_ns,
            low = least - 2, high = least + waits + 2 }
      elseif kind == "load" then
         add(of .. "sent", load * line * seconds, row.tx, 1)
         local over = math.max(0, (load * line - out) * seconds - q)
         add(of .. "lost", over, row.lost, over > 0 and 2 or 0)
         if load * line < out then
            add(of .. "longest delay, ns", least, row.latency.max_ns, 2)
         end
      elseif kind == "throughput" then
         local most = math.min(load * line, out + (q + 2) / seconds)
         list[#list + 1] = { what = of .. "throughput, frames/s", truth = math.min(load * line, out),
            measured = row.throughput_fps, high = most * (1 + 1e-9),
            low = math.min(load * line, out) - 0.01 * line - 1 / seconds }
      else
         add(of .. "sent", line * seconds, row.tx, 1)
      end
   end
   for i = 1, kind == "engine" and round or 0 do
      local most = math.min(capacity * seconds, sums[i].tx * (1 + ppm * 1e-6))
      list[#list + 1] = { what = ("round %d, received"):format(i), truth = most, measured = sums[i].rx,
         low = most - n, high = math.min(most + n * (q + 2), sums[i].tx) }
   end
   return list, text
end

return M
