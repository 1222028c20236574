-- SPDX-License-Identifier: BSD-3-Clause

--- Reference switches whose buffers, bursts and losses are known, measured with `test: rfc8239`.
--
-- Each figure is held against what follows from the keys of the switch, within a bound that follows from the
-- method (docs/explanation/rfc8239.md).
local Tester = require "framegauge.tester"
local ethernet = require "framegauge.core.ethernet"
local method = require "framegauge.methods.rfc8239.method"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"

local M = {}

local PLAN = [[
name: %s
ports: {%s}
test: rfc8239
reference_switch: {%s}
rfc8239: {learning_wait: 1ms, drain: 50ms, settle: 0, %s}
]]

--- The text of a plan.
-- @param n       ports
-- @param switch  keys of the reference switch
-- @param keys    of the method
function M.plan_of(name, n, switch, keys)
   local ports = {}
   for i = 1, n do
      ports[i] = ("p%d: {device: wire%d}"):format(i, i - 1)
   end
   return PLAN:format(name, table.concat(ports, ", "), switch, keys)
end

--- Measure a switch.
-- @return results, the counters of the ports after the last trial by name, with those from before the switch
-- was last emptied as `emptied`, and the session
function M.measure(device)
   local plan, errors = plans.load_text(M.plan_of(device.name, device.ports, device.switch, device.keys),
      device.name)
   assert(plan, errors and tostring(errors[1]))
   local tester, results, counters, emptied = assert(Tester.open(plan)), {}, {}, nil
   local reset = tester.wires.reset
   function tester.wires:reset(...) -- a trial with TCP empties the switch before it gives its buffers back
      emptied = {}
      for _, port in ipairs(plan.ports) do
         emptied[port.name] = self:counters(port.name)
      end
      return reset(self, ...)
   end
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc8239, sink = function() end }
   local ok, why = pcall(method.run, plan, tester, session, results)
   for _, port in ipairs(plan.ports) do
      counters[port.name] = tester.wires:counters(port.name)
   end
   counters.emptied = emptied
   tester:close()
   assert(ok, why)
   return results.rfc8239, counters, session
end

local RATE, LINE = 1e9, 0.9998 -- of all switches here

--- What the figures of a buffer of q frames must be.
-- @param o.surplus  share of the line that congests; o.fast = by how much the egress is faster than the line
-- @param o.q, o.slack  frames that it holds; and how many more or less the last one may be
function M.buffer_checks(name, row, o)
   local fps = ethernet.max_fps(RATE, row.frame_size)
   local extra, growth = o.surplus * fps, (LINE + o.surplus - 1 - (o.fast or 0)) * fps
   local slack, list = 1 + (o.slack or 0), {}
   local function add(what, truth, measured, bound)
      list[#list + 1] = { what = name .. ", " .. what, truth = truth, measured = measured or -1,
         low = truth - bound, high = truth + bound }
   end
   local interval = row.trial_s / 50000
   -- the surplus comes frame by frame, and the first loss is known to an interval
   local seconds = interval + 1 / extra + slack / growth
   add("by latency, frames", o.q, row.by_latency_frames, slack)
   add("by balance, frames", o.q, row.by_balance_frames,
      growth * seconds + 5 * row.inflection_s / row.trial_s)
   add("by count, frames", o.q * extra / growth, row.by_count_frames, extra * seconds)
   add("first loss, us", o.q / growth * 1e6, row.inflection_s * 1e6, seconds * 1e6)
   add("buffer, bytes", o.q * row.frame_size, row.buffer_octets, slack * row.frame_size)
   return list
end

-- With a dynamic threshold and k congested egresses, in bytes; a queue may exceed it by the frame that fills
-- it.
local function shared(pool, alpha, k)
   return alpha * pool / (1 + k * alpha)
end

local function joined(...)
   local list = {}
   for _, one in ipairs { ... } do
      for _, item in ipairs(one) do
         list[#list + 1] = item
      end
   end
   return list
end

local function check(what, truth, measured, bound)
   return { what = what, truth = truth, measured = measured or -1, low = truth - bound, high = truth + bound }
end

local function rows_where(rows, key, value)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = row[key] == value and row or nil
   end
   return list
end

--- What the bursts of a switch must be.
-- @param q, slack  function(row) -> frames that a burst has, and how many more or less (default: 1)
function M.bursts(results, q, slack)
   local list = {}
   for _, row in ipairs(results.microburst) do
      local truth = q(row)
      list[#list + 1] = check(("%d ports to %d, burst of each, frames"):format(row.ingresses, row.egresses),
         truth,
         row.burst_frames, slack and slack(row) or 1)
   end
   return list
end

local ONE = "iterations: 1, "

local CELLS = "queues: shared, buffer: 1703936B, alpha: 0, cell: 208" -- 8192 of them
local CONGESTED = ONE .. "tests: [buffer], trial: 700ms, buffer: {procedures: [efficiency], oversubscription: 10%}, "

local function cells(results)
   local list = {}
   for _, row in ipairs(results.buffer) do
      local frames = math.floor(8192 / math.ceil(row.frame_size / 208))
      list = joined(list, M.buffer_checks(("%d bytes"):format(row.frame_size), row,
         { q = frames, surplus = 0.1 }))
   end
   return list
end

-- Queues that share 1 MiB, each up to alpha times what is free: of one congested egress, and of two.
local function of_alpha(alpha)
   return {
      name = ("shared buffer of 1 MiB with alpha %g"):format(alpha), ports = 6,
      switch = ("queues: shared, buffer: 1MiB, alpha: %g"):format(alpha),
      keys = ONE .. "tests: [buffer], frame_sizes: [1518], trial: 4s, buffer: {procedures: [efficiency, pairs]}",
      checks = function(results)
         local list = {}
         for _, row in ipairs(results.buffer) do
            local k = row.procedure == "pairs" and 2 or 1
            list[#list + 1] = check(("%s, to %s, buffer, bytes"):format(row.procedure, row.egress),
               shared(1048576, alpha, k), row.buffer_octets, 2 * 1518)
         end
         return list
      end,
   }
end

-- A source of N frames that sends a share p of them to a congested egress, from an input queue of Q frames.
local function blocking(name, arbitration, innocent)
   local held = 64
   return {
      name = name, ports = 6,
      switch = ("queues: input, arbitration: %s, buffer: %d"):format(arbitration, held),
      -- of the whole line: else arrivals slide along departures, and which frame finds the last place beats
      keys = ONE .. "tests: [head_of_line], frame_sizes: [512], trial: 100ms, line: 100%",
      checks = function(results)
         local list, n = {}, ethernet.max_fps(RATE, 512) * 0.1
         for _, row in ipairs(results.head_of_line) do
            local p = row.arrangement == "four egresses" and 0.25 or 0.5
            local what = ("%s, shift %d, "):format(row.arrangement, row.shift)
            local first, second = row.ports[1]:match "^p(%d+) p(%d+)"
            local truth, slack = innocent(p, held, n, tonumber(first) < tonumber(second))
            -- what both queues hold is lost neither before they are full nor after
            local filling = ((1 / p + 1) * held + 6) / n
            local function add(which, expected, measured, least)
               local one = check(what .. which .. " loss, ppm", expected * 1e6, measured * 1e6, 0)
               one.low = least * 1e6
               list[#list + 1] = one
            end
            if truth then
               add("innocent", truth, row.innocent_loss_ratio,
                  truth - (slack or truth * filling + 1 / (n * (1 - p))))
               add("congested", p / (1 + p), row.congested_loss_ratio, p / (1 + p) * (1 - filling))
            end
         end
         return list
      end,
   }
end

-- A switch with senders by TCP and bursts, by their one row.
local function beside(name, o)
   return {
      name = name, ports = o.ports, switch = ("latency: 2us, buffer: %d"):format(o.buffer),
      keys = ("%stests: [stateful_incast], frame_sizes: [1518], trial: %gs, stateful_incast: {%s}%s"):format(ONE,
         o.seconds or 0.3, o.keys, o.bursts or ""),
      checks = function(results, counters)
         local list, frame = {}, 1e9 / ethernet.max_fps(RATE, 1518)
         for _, row in ipairs(results.stateful_incast) do
            o.check(function(what, ...)
               list[#list + 1] = check(("%d by TCP, %d with bursts, %s"):format(row.tcp_ports, row.udp_ports,
                  what), ...)
               return list[#list]
            end, row, counters, frame)
         end
         return list
      end,
   }
end

--- The switches: list of { name =, ports =, switch =, keys = of the plan, checks = function(results, counters
-- of the ports after the last trial) -> list of { what =, truth =, measured =, low =, high = } }.
M.DEVICES = {
   {
      name = "output queues of 512 frames", ports = 3, switch = "buffer: 512, latency: 20us",
      keys = "iterations: 2, tests: [line_rate, buffer], frame_sizes: [64], trial: 200ms, buffer: {procedures: [port]}",
      checks = function(results)
         local row = results.line_rate[1]
         return joined(M.buffer_checks("port", results.buffer[1], { q = 512, surplus = 0.01 }), {
            check("line rate of pairs, received of sent, %", 100, row.throughput_percent, 0),
            -- stored, 20 us, and sent: 512 ns, 20,000 ns, 512 ns
            check("latency FILO, least, ns", 21024, row.latency.min_ns, 1),
            check("latency FILO, greatest, ns", 21024, row.latency.max_ns, 1),
            check("jitter, range, ns", 0, row.jitter.range_ns, 2),
         })
      end,
   },
   {
      -- the tester is fast by 50 ppm
      name = "output queues and a slow clock", ports = 3, switch = "buffer: 512, ppm: -50",
      keys = ONE .. "tests: [buffer], frame_sizes: [64], trial: 200ms, buffer: {procedures: [port]}",
      checks = function(results)
         return M.buffer_checks("port", results.buffer[1], { q = 512, surplus = 0.01, fast = -50e-6 })
      end,
   },
   {
      name = "shared buffer of 1 MiB with alpha 1", ports = 6, switch = "queues: shared, buffer: 1MiB, alpha: 1",
      keys = ONE .. "tests: [buffer, microburst], frame_sizes: [1024], trial: 2s, buffer: {procedures: [port, pairs, many_to_one]}, microburst: {rotations: one, verify: 1}",
      checks = function(results)
         local list, pool = {}, 1048576
         for _, row in ipairs(results.buffer) do
            local k = row.procedure == "pairs" and 2 or 1
            list = joined(list, { check(("%s, to %s, buffer, bytes"):format(row.procedure:gsub("_", " "),
               row.egress), shared(pool, 1, k), row.buffer_octets, 2 * 1024) })
         end
         return joined(list, M.bursts(results, function(row)
            local q = shared(pool, 1, row.egresses) / 1024
            return math.floor(q / (row.ingresses / row.egresses - 1))
         end))
      end,
   },
   of_alpha(8),
   of_alpha(0.5),
   {
      name = "cells of 208 bytes", ports = 3, switch = CELLS,
      keys = CONGESTED .. "frame_sizes: [208, 209, 416, 1518]",
      checks = function(results)
         local best = rows_where(results.buffer, "is_efficient", true)[1]
         return joined(cells(results), { check("efficient size, in cells", 0, best.frame_size % 208, 0) })
      end,
   },
   {
      name = "cells of 208 bytes and short frames", ports = 3, switch = CELLS,
      keys = CONGESTED .. "frame_sizes: [64]", checks = cells,
   },
   {
      name = "bursts into output queues", ports = 6, switch = "buffer: 128",
      keys = ONE .. "tests: [microburst], frame_sizes: [64], microburst: {verify: 1, ingresses: [5, 4]}",
      checks = function(results)
         return M.bursts(results, function(row)
            return math.floor(128 / (row.ingresses / row.egresses - 1))
         end)
      end,
   },
   {
      name = "groups with a congested egress", ports = 8, switch = "buffer: 64",
      keys = ONE .. "tests: [head_of_line], frame_sizes: [512], trial: 100ms",
      checks = function(results)
         local list = {}
         for _, row in ipairs(results.head_of_line) do
            local p = row.arrangement == "four egresses" and 0.25 or 0.5
            local frames = ethernet.max_fps(RATE, 512) * 0.1
            local what = ("%s, shift %d, "):format(row.arrangement, row.shift)
            list[#list + 1] = check(what .. "innocent loss, ppm", 0, row.innocent_loss_ratio * 1e6, 0)
            -- of what two ports send all but a line and the buffer is lost; of four egresses three are spared
            local sent = (1 + p) * LINE * frames
            local lost = (sent - frames - 64) / sent
            list[#list + 1] = check(what .. "congested loss, ppm", lost * 1e6, row.congested_loss_ratio * 1e6,
               4 / frames * 1e6)
         end
         return list
      end,
   },
   {
      name = "incast into a queue of 150 frames", ports = 6, switch = "buffer: 150, latency: 2us",
      keys = ONE .. "tests: [incast], frame_sizes: [1000], trial: 100ms, incast: {burst_frames: 50, burst_interval: 10ms}",
      checks = function(results)
         local list, frame = {}, 1e9 / ethernet.max_fps(RATE, 1000)
         for _, row in ipairs(results.incast) do
            local k = row.senders
            local held = math.min(150, (k - 1) * 50)
            local what = ("%d senders, "):format(k)
            list[#list + 1] = check(what .. "lost of a burst, frames", math.max(0, (k - 1) * 50 - 150),
               row.lost_per_burst, 1)
            list[#list + 1] = check(what .. "greatest latency FILO, ns", 2000 + 2 * 8000 + held * frame,
               row.latency.max_ns, frame)
         end
         return list
      end,
   },
   -- of two frames that are as old the lower port's is taken, so that the other one loses more than its share
   blocking("input queues that serve the oldest frame first", "oldest", function(p, _, _, is_lower)
      return is_lower and p / (1 + p)
   end),
   blocking("input queues that are served by turns", "round-robin", function()
      return 0, 0
   end),
   -- the port that congests shuts the other one out but for its queue, where it has the higher number
   blocking("input queues where the highest port goes first", "priority", function(p, held, n, is_lower)
      return is_lower and 1 or 0, is_lower and (held + 5) / (n * p) or 0
   end),
   -- four windows of 16 KiB and the bursts of three ports
   beside("TCP beside bursts into a queue that holds all windows", {
      ports = 5, buffer = 300, keys = "tcp: {receive_buffer: 16KiB, send_buffer: 16KiB}",
      check = function(add, row)
         add("goodput, bit/s", row.ideal_goodput_bps, row.goodput_bps, 2 * 1448 * 8 / 0.27)
         add("fairness, ppm", 1e6, row.fairness * 1e6, 100)
         add("lost, of bursts and of TCP", 0, row.lost + row.tcp_lost, 0)
         add("retransmitted segments", 0, row.retransmitted_segments, 0)
      end,
   }),
   -- the switch still holds many frames of bursts when TCP ends; the line carries no more than its rate
   beside("TCP beside bursts into a long queue for a short time", {
      ports = 4, buffer = 3000, keys = "tcp: {}", seconds = 0.03, bursts = ", incast: {burst_interval: 5ms}",
      check = function(add, row)
         add("share of the ideal, %, no more than", 100, row.goodput_percent, 0).low = 0
      end,
   }),
   beside("TCP beside bursts into a queue of 64 frames", {
      ports = 3, buffer = 64, keys = "tcp: {}",
      check = function(add, row, counters, frame)
         add("lost, of bursts and of TCP", tonumber(counters.emptied.p3.queue_drops),
            row.lost + row.tcp_lost, 0)
         add("goodput, bit/s, no more than", row.ideal_goodput_bps, row.goodput_bps,
            2 * 1448 * 8 / 0.27).low = 0
         -- TCP keeps the queue full
         add("greatest latency FILO, ns", 2000 + 2 * 8 * 1518 + 64 * frame, row.latency.max_ns, 1).low =
            2000 + 2 * 8 * 1518 + 63 * frame
      end,
   }),
}

return M
