-- SPDX-License-Identifier: BSD-3-Clause

--- Reference devices drawn at random between clients and servers, and with outages of routes, for
-- uncertainty_truth.lua: METHODS as it has them.
local convergence = require "convergence_truth"
local draws = require "uncertainty_draws"
local ethernet = require "framegauge.core.ethernet"
local rfc9411 = require "rfc9411_truth"
local rfc9693 = require "rfc9693_truth"

local figure, log_between, size_of = draws.figure, draws.log_between, draws.size_of

local METHODS = {}

-- A load that is missed by this share meets the criteria of RFC 9411.
local SHORTFALL = 0.01

-- One more or less in the sustain phase of half a second.
local WHOLE = 2

-- How well a search shall know the load.
local function resolution(draw)
   return (", resolution: %.2f%%"):format(draw(1, 10))
end

-- What a device was set to do, and the load that its client offers: no more than either is done.
local function rate(what, row, key, capacity)
   return figure(what, row, key, math.min(row.load or 0, capacity))
end

-- The highest load that meets the criteria is missed by the shortfall and a connection, or by less where one
-- is counted less.
-- @param gets  transactions of a connection
local function highest(what, row, capacity, gets)
   return figure(what, row, "load", math.min(capacity, (capacity - WHOLE) / (1 - SHORTFALL)),
      (capacity + WHOLE * (1 + gets)) / (1 - SHORTFALL))
end

--- Connections that a firewall sets up.
function METHODS.rfc9411_connections(draw)
   local capacity = math.floor(log_between(draw, 1000, 2000))
   local text = rfc9411.plan_of("firewall", ("setup_rate: %d, setup_queue: 50"):format(capacity),
      ("tests: [connections], objects: [1KiB], target: {connections: %d}"):format(
      capacity * draw(2, 4)) .. resolution(draw))
   return text, function(results)
      local row = results.rfc9411.connections[1]
      return {
         highest("load of connections", row, capacity, 1),
         rate("connections per second", row, "connections_per_s", capacity),
      }
   end
end

--- Transactions that a firewall inspects: a request and a response are a frame each.
function METHODS.rfc9411_throughput(draw)
   local capacity = log_between(draw, 4000, 6000)
   local each = math.floor(1e9 / capacity / 2)
   local text = rfc9411.plan_of("firewall", ("inspect_frame: %dns, inspect_queue: 2000"):format(each),
      ("tests: [http_throughput], objects: [1KiB], target: {transactions: %d}"):format(capacity
         * draw(1.1, 4)) .. resolution(draw))
   return text, function(results)
      local row = results.rfc9411.http_throughput[1]
      return {
         highest("load of transactions", row, 1e9 / each / 2, 10),
         rate("transactions per second", row, "transactions_per_s", 1e9 / each / 2),
      }
   end
end

--- Sessions that a firewall holds.
function METHODS.rfc9411_concurrent(draw)
   local sessions = math.floor(log_between(draw, 50, 200))
   local text = rfc9411.plan_of("firewall", "sessions: " .. sessions,
      ("tests: [concurrent], ramp_rate: %d, target: {concurrent: %d}"):format(5 * sessions,
         sessions * draw(1.1, 4)) .. resolution(draw))
   return text, function(results)
      -- connections are whole: of a load with half of one more the next number is tried
      local most = math.floor(sessions / (1 - SHORTFALL)) + 0.5
      return { figure("concurrent connections", results.rfc9411.concurrent[1], "load", sessions, most) }
   end
end

--- Connections that a gateway sets up one by one, while some wait.
function METHODS.rfc9693_connections(draw)
   local capacity = math.floor(log_between(draw, 2000, 50000))
   local text = rfc9693.plan_of {
      nat = ("setup_rate: %d, setup_queue: %d"):format(capacity, log_between(draw, 1, 100)),
      keys = ("tests: [connection_rate], connections: [%d]"):format(log_between(draw, 200, 2000))
         .. resolution(draw),
   }
   return text, function(results)
      return { figure("connections set up per second (RFC 9693)", results.rfc9693.connection_rate[1],
         "connections_per_s", capacity) }
   end
end

--- Frames that a gateway forwards each way in connections.
function METHODS.rfc9693_throughput(draw)
   local capacity = math.floor(log_between(draw, 10000, 90000))
   local text = rfc9693.plan_of {
      nat = "sessions: 1000", device = ("capacity: %dfps"):format(capacity),
      keys = ("tests: [throughput], connections: [200], establishment_rate: 5kfps, max: 100kfps, throughput: {trial: %dms, search_trial: 50ms, resolution: %.2f%%}"):format(draw(50, 300),
         draw(0.2, 2)),
   }
   return text, function(results)
      return { figure("frames per second in connections", results.rfc9693.throughput[1], "throughput_fps",
         capacity) }
   end
end

--- Connections that its table holds.
function METHODS.rfc9693_capacity(draw)
   local sessions = math.floor(log_between(draw, 150, 3000))
   local text = rfc9693.plan_of {
      nat = "sessions: " .. sessions,
      keys = ("tests: [capacity], max: 100kfps, capacity: {start: 100, method: fixed, error: %.2f%%}"):format(
         draw(0.1, 10)),
   }
   return text, function(results)
      return { figure("connections that a table holds", results.rfc9693.capacity[1], "capacity", sessions) }
   end
end

local PORTS = "{east: {device: wire0, ipv4: 198.18.1.2/24}, west: {device: wire1, ipv4: 198.18.1.3/24}}"

local L4 = [[
name: uncertainty
ports: %s
test: l4
reference_device: {rate: 100Mbps, seed: %d, %s}
l4: {tests: [%s], repetitions: %d, duration: 200ms, learning_wait: 1ms, drain: 50ms, settle: 0, %s}
]]

--- Datagrams; some of them are lost at random.
function METHODS.l4_stream(draw, seed)
   local loss, fps, payload = log_between(draw, 1e-3, 0.1), math.floor(draw(500, 5000)), 1470
   local text = L4:format(PORTS, seed, ("loss_random: %.9f%%"):format(loss * 100), "UDP_STREAM",
      3 + math.floor(draw(0, 6)), ("datagram: %d, datagram_rate: %dfps"):format(payload, fps))
   return text, function(results)
      return { figure("goodput of datagrams", results.l4[1], "received_bps", fps * payload * 8
         * (1 - loss)) }
   end
end

local RFC6349 = [[
name: uncertainty
ports: %s
test: rfc6349
reference_device: {rate: 100Mbps, latency: %.0fns, capacity: %dfps, buffer: %d}
rfc6349: {path_mtu: 1500, baseline: 100ms, windows: [100%%], connections: 1, directions: [forward],
  duration: 50ms, learning_wait: 1ms, drain: 100ms, settle: 0,
  bandwidth: {trial: %dms, search_trial: 50ms, resolution: %.2f%%, loss_tolerance: 0%%}}
]]

--- The bottleneck of a path.
function METHODS.rfc6349(draw)
   local capacity = math.floor(ethernet.max_fps(1e8, 1518) * draw(0.1, 0.9))
   local text = RFC6349:format(PORTS, draw(1e5, 2e6), capacity, log_between(draw, 8, 200),
      draw(200, 1000), draw(0.1, 2))
   return text, function(results)
      return { figure("bottleneck of a path", results.rfc6349.bandwidth[1], "bandwidth_fps", capacity) }
   end
end

--- Outages of all routes at once, of any length at any time.
function METHODS.convergence(draw)
   local routes = 1 + math.floor(log_between(draw, 1, 100))
   local outage = log_between(draw, 0.005, 0.2)
   local size, fps = size_of(draw), routes * log_between(draw, 200, 1000)
   fps = math.floor(math.min(fps, 0.5 * ethernet.max_fps(1e9, size)))
   local text = convergence.plan_of {
      name = "uncertainty", written = ("{rate: 1Gbps, latency: %.0fns}"):format(draw(1e3, 1e5)), size = size,
      of = ("{first: 198.19.64.1, count: %d, prefix: 32}"):format(routes), fps = fps, sampling = 0.01,
      at = draw(0.05, 0.15), outage = outage,
   }
   return text, function(results)
      local row = results.convergence[1]
      return {
         figure("first route", row, "first_route_ns", outage * 1e9),
         figure("full convergence", row, "full_ns", outage * 1e9),
      }
   end
end

return METHODS
