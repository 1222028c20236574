-- SPDX-License-Identifier: BSD-3-Clause

--- The L4 engine as the thing measured: both ends on one lcore over the wire, or a process each over memif.
local child = require "child"
local job = require "framegauge.core.job"
local kinds = require "framegauge.methods.l4.plan.kinds"
local octets = require "framegauge.core.octets"
local settings = require "framegauge.methods.l4.settings"
local tester = require "tester"
local trial = require "framegauge.tester.l4.trial"
local uv = require "luv"

local M = {}

local ANYBODY = "02:00:00:00:00:02" -- a station takes what arrives, whatever MAC it is for
local CLIENT, SERVER = "198.18.1.2", "198.18.1.3"
local OCTETS, ADDRESSES = 64, 16
local CONNECTIONS = 256 -- enough to fill bursts at both ends while others are under way
local START_SECONDS = 20
local COUNT_SECONDS = 0.01 -- of the wire, longer than any number of transactions that is counted takes

local WIRE = [[
test: l4
ports:
  east: {device: wire0, ipv4: %s/24}
  west: {device: wire1, ipv4: %s/24}
reference_device: {rate: 100Gbps, buffer: 4096, latency: 5us, time: free}
%s]]

local MEMIF = [[
test: l4
ports:
  east: {device: "memif:%s", ipv4: %s/24, line_rate: 100Gbps}
  west: {device: "vdev:net_null0", ipv4: %s/24, line_rate: 100Gbps}
%s]]
local PLAIN = "l4: {tests: [TCP_RR]}\n"

-- Tests by more keys than their messages: keys of the group l4
local KEYS = {
   HTTPS = "connections: 64, http: {body: 64, requests: 0}",
   HTTPS_close = "connections: 64, http: {body: 64, requests: 1}, tcp: {time_wait: 1ms}",
   HTTPS2 = "connections: 8, http: {body: 64, streams: 32, requests: 0}",
   DNS = 'connections: 128, dns: {name: "h{0..9999}.fg.test"}',
   QUIC_MAERTS = "connections: 1", TLS_MAERTS = "connections: 1", TCP_MAERTS = "connections: 1",
}
local L4 = "l4: {tests: [%s], port: 80, %s}\n"

local function name_of(test)
   return (test:gsub("_close$", ""))
end

local function group_of(test)
   return KEYS[test] and L4:format(name_of(test), KEYS[test]) or PLAIN
end

--- Client and server of a test: as KEYS say, or with messages of 64 bytes.
-- @param bench, plan  of the former: the tester that was opened for it
function M.apps(test, bench, plan)
   if KEYS[test] then
      return settings.apps(plan, bench, name_of(test), settings.of(plan), 1)
   end
   local client = {
      test = test, address = CLIENT, addresses = ADDRESSES, remote = SERVER, port = 80,
      next_hop = octets.mac(ANYBODY), connections = CONNECTIONS, request = test == "HTTP" and 0 or OCTETS,
      response = OCTETS, path = "/octets/" .. OCTETS, host = SERVER, tcp = { time_wait_ms = 1 },
   }
   return client, setmetatable({ server = true, address = SERVER, addresses = 1 }, { __index = client })
end

--- Run a trial. @return the results of its sides
function M.run(bench, sides, seconds, drain)
   return trial.run(bench, {
      sides = sides, seconds = seconds, learning_wait = 0, drain = drain or 0.01, mtu = 1500, seed = 1,
   })
end

-- What a client has done: transactions or, of streams, bits that have arrived
local function done(test, app, of)
   return kinds.of(name_of(test)).receiver and 8 * app[of].octets_in or app[of].transactions
end

--- A tester whose two ports the virtual wire connects.
function M.open_wire(machine, test)
   return tester.open(machine, WIRE:format(CLIENT, SERVER, group_of(test)))
end

local function with_plan(fn, bench, plan)
   return tester.with(bench, fn, plan)
end

-- What both ends do in a trial of some seconds of the wire, and the time that takes by a clock
local function carry(bench, plan, test, seconds, clock)
   local client, server = M.apps(test, bench, plan)
   local begin = clock()
   local results = M.run(bench, { { port = 1, apps = { client } }, { port = 2, apps = { server } } }, seconds)
   return done(test, results[1].apps[1], "total"), clock() - begin
end

local function wall()
   return uv.hrtime() / 1e9
end

--- Both ends on one lcore, with the wire and the reference device between them.
-- @return a function that measures: transactions a second by the clock on the wall
function M.wire(machine, test)
   local duration = 0.01 -- of the wire, to fill the time on the wall; after the first run it is known better
   return function()
      return with_plan(function(bench, plan)
         local n, taken = carry(bench, plan, test, duration, wall)
         duration = duration * machine.seconds / taken
         return n / taken
      end, M.open_wire(machine, test))
   end
end

--- The same by the lcore's own processor time, as what stands beside it is measured. By the difference of two
-- trials, for both begin with handshakes.
function M.busy_wire(machine, test)
   local duration = 0.0005 -- handshakes take no time of the wire, but a millisecond of the processor
   return function()
      return with_plan(function(bench, plan)
         local clock = tester.worker_clock()
         local few, short = carry(bench, plan, test, duration, clock)
         local many, long = carry(bench, plan, test, 3 * duration, clock)
         duration = duration * machine.seconds / (long - short)
         return (many - few) / (long - short)
      end, M.open_wire(machine, test))
   end
end

--- A number of transactions, and then twice as many, on one lcore: what instructions.lua counts.
-- @param transactions  about their number: as many on each connection, or connections
-- @param short         a connection for each
function M.count(machine, test, transactions, short)
   tester.with(M.open_wire(machine, test), function(bench)
      for twice = 1, 2 do
         local client, server = M.apps(test)
         local each = twice * math.floor(transactions / CONNECTIONS)
         client.cycles, client.requests = short and each or 1, short and 1 or each
         local sides = { { port = 1, apps = { client } }, { port = 2, apps = { server } } }
         local transactions_done = M.run(bench, sides, COUNT_SECONDS)[1].apps[1].total.transactions
         assert(transactions_done == each * CONNECTIONS, "not all transactions were done")
      end
   end)
end

local function open_memif(cpus, socket, test)
   return tester.open(cpus, MEMIF:format(socket, CLIENT, SERVER, group_of(test)))
end

--- The server of M.memif(), in a process of its own: until it is killed.
function M.serve(test, socket, main, worker)
   with_plan(function(bench, plan)
      local _, server = M.apps(test, bench, plan)
      M.run(bench, { { port = 1, apps = { server } } }, 3600)
   end, open_memif({ main = main, worker = worker }, socket .. ",server", test))
end

--- A process for each end, and memif between them.
-- @return a function that measures transactions a second
function M.memif(machine, test)
   local socket = machine.scratch .. "/l4.sock"
   return function()
      uv.fs_unlink(socket)
      local peer = child.spawn(uv.exepath(), {
         "script", machine.folder .. "/l4_server.lua", test, socket, tostring(machine.main),
         tostring(machine.other),
      })
      return tester.with(peer, function()
         local deadline = uv.hrtime() + START_SECONDS * 1e9
         while not uv.fs_stat(socket) do
            if peer.exited or uv.hrtime() > deadline then
               error("the server does not start:\n" .. peer:last_words(), 0)
            end
            job.sleep(0.01)
         end
         job.sleep(0.2) -- from its name to its listening
         return with_plan(function(bench, plan)
            local sides = { { port = 1, apps = { (M.apps(test, bench, plan)) } } }
            local result = M.run(bench, sides, machine.seconds)[1].apps[1]
            return done(test, result, "measured") / result.measured_s
         end, open_memif(machine, socket, test))
      end)
   end
end

--- A work for main.lua.
-- @param way   M.wire, M.busy_wire or M.memif
-- @param peer  of peers.lua: what stands beside it, or nil
function M.work(name, what, way, test, peer)
   local other = KEYS[test] and kinds.of(name_of(test)).receiver
   return {
      name = name, what = what, unit = other and "bits" or "transactions",
      start = function(machine)
         local theirs = peer and require("peers")[peer](machine)
         return {
            ours = way(machine, test),
            peers = { theirs or { name = peer and "(no root, or no peer)" or "-" } },
            close = function()
               if theirs then
                  theirs.close()
               end
            end,
         }
      end,
   }
end

return M
