-- SPDX-License-Identifier: BSD-3-Clause

--- The L4 engine as the thing measured: both ends on one lcore over the wire, or a process each over memif.
local child = require "child"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local tester = require "tester"
local trial = require "framegauge.l4.trial"
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
l4: {tests: [TCP_RR]}
]]

local MEMIF = [[
test: l4
ports:
  east: {device: "memif:%s", ipv4: %s/24, line_rate: 100Gbps}
  west: {device: "vdev:net_null0", ipv4: %s/24, line_rate: 100Gbps}
l4: {tests: [TCP_RR]}
]]

--- Client and server of a test, with messages of 64 octets.
function M.apps(test)
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

--- A tester whose two ports the virtual wire connects.
function M.open_wire(machine)
   return tester.open(machine, WIRE:format(CLIENT, SERVER))
end

--- Both ends on one lcore, with the wire and the reference device between them.
-- @return a function that measures: transactions a second by the clock on the wall
function M.wire(machine, test)
   local duration = 0.01 -- of the wire, to fill the time on the wall; after the first run it is known better
   return function()
      return tester.with(M.open_wire(machine), function(bench)
         local client, server = M.apps(test)
         local begin = uv.hrtime()
         local results = M.run(bench, { { port = 1, apps = { client } }, { port = 2, apps = { server } } },
            duration)
         local wall = (uv.hrtime() - begin) / 1e9
         duration = duration * machine.seconds / wall
         return results[1].apps[1].total.transactions / wall
      end)
   end
end

--- A number of transactions, and then twice as many, on one lcore: what instructions.lua counts.
-- @param transactions  about so many: as many on each connection, or connections
-- @param short         a connection for each
function M.count(machine, test, transactions, short)
   tester.with(M.open_wire(machine), function(bench)
      for twice = 1, 2 do
         local client, server = M.apps(test)
         local each = twice * math.floor(transactions / CONNECTIONS)
         client.cycles, client.requests = short and each or 1, short and 1 or each
         local sides = { { port = 1, apps = { client } }, { port = 2, apps = { server } } }
         local done = M.run(bench, sides, COUNT_SECONDS)[1].apps[1].total.transactions
         assert(done == each * CONNECTIONS, "not all transactions were done")
      end
   end)
end

local function open_memif(cpus, socket)
   return tester.open(cpus, MEMIF:format(socket, CLIENT, SERVER))
end

--- The server of M.memif(), in a process of its own: until it is killed.
function M.serve(test, socket, main, worker)
   local _, server = M.apps(test)
   tester.with(open_memif({ main = main, worker = worker }, socket .. ",server"), function(bench)
      M.run(bench, { { port = 1, apps = { server } } }, 3600)
   end)
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
         return tester.with(open_memif(machine, socket), function(bench)
            local sides = { { port = 1, apps = { (M.apps(test)) } } }
            local result = M.run(bench, sides, machine.seconds)[1].apps[1]
            return result.measured.transactions / result.measured_s
         end)
      end)
   end
end

--- A work for main.lua.
-- @param way   M.wire or M.memif
-- @param peer  of kernel.lua: what stands beside it, or nil
function M.work(name, what, way, test, peer)
   return {
      name = name, what = what, unit = "transactions",
      start = function(machine)
         local kernel = peer and require("kernel").start(machine)
         return {
            ours = way(machine, test),
            peers = { kernel and kernel[peer] or { name = peer and "(no root, nginx or wrk)" or "-" } },
            close = function()
               if kernel then
                  kernel.close()
               end
            end,
         }
      end,
   }
end

return M
