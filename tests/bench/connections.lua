-- SPDX-License-Identifier: BSD-3-Clause

--- What a transaction and a connection cost against the number of connections that are open, for tools/bench
-- connections. Both ends are on one lcore, which is the only thing measured, by its own processor time.
--
--    framegauge script connections.lua [NUMBER...]
--
-- All connections are open at a time and have their turns one after the other, so with many of them nothing
-- of one is in a cache when its turn comes. A transaction's time is the difference of two runs, one with more
-- of them on each connection; what is left of the shorter one is opening and closing.
local l4 = require "l4"
local tester = require "tester"
local turns = require "turns"

local NUMBERS = { 1000, 10000, 100000, 1000000 }
local RUNS = 5 -- turns, whose median is taken
local TRANSACTIONS = 1e6 -- by which the two runs differ at least
local PORTS = 60000 -- of an address
local WIRE_SECONDS = 60e-9 -- of a frame and what goes with it, at most
local ROOM = 1.1

-- Run `number` connections with `each` transactions each. @return seconds, bytes of a connection at one end
local function run(bench, clock, number, each)
   local client, server = l4.apps "TCP_RR"
   client.connections, client.requests, client.cycles = number, each, 1
   client.addresses = math.max(client.addresses, math.ceil(number / PORTS))
   local capacity = math.ceil(number * ROOM) + 1000
   local began = clock()
   local results = l4.run(bench, {
      { port = 1, apps = { client }, capacity = capacity },
      { port = 2, apps = { server }, capacity = capacity },
   }, 0.01 + number * (each + 3) * WIRE_SECONDS)
   local took = clock() - began
   assert(results[1].apps[1].total.transactions == number * each, "not all transactions were done")
   for _, side in ipairs(results) do
      assert(side.counters.segments_retransmitted == 0 and side.counters.wrong_octets == 0)
   end
   return took, results[1].memory.octets / number
end

-- Nanoseconds of a transaction and of a connection's begin and end, bytes.
local function measure(bench, clock, number)
   local more = math.max(4, math.ceil(TRANSACTIONS / number))
   local short, bytes = run(bench, clock, number, 1)
   local transaction = (run(bench, clock, number, 1 + more) - short) / (number * more)
   return transaction * 1e9, (short / number - transaction) * 1e9, bytes
end

local numbers = {}
for i, text in ipairs(arg) do
   numbers[i] = assert(tonumber(text), text .. " is no number of connections")
end
numbers = #numbers > 0 and numbers or NUMBERS

local ok, why = turns.with_machine(arg[0]:match("^(.*)/[^/]*$") or ".", function(machine)
   local samples = {}
   for turn = 1, RUNS do
      for _, number in ipairs(numbers) do
         tester.with(l4.open_wire(machine), function(bench)
            local list = samples[number] or { {}, {}, {} }
            samples[number] = list
            list[1][turn], list[2][turn], list[3][turn] = measure(bench, tester.worker_clock(), number)
         end)
      end
   end
   print(("%12s %16s %6s %16s %6s %12s"):format("connections", "transaction, ns", "ratio", "open, close, ns",
      "ratio", "bytes"))
   local first
   for _, number in ipairs(numbers) do
      local row = {}
      for i, list in ipairs(samples[number]) do
         row[i] = turns.median(list)
      end
      first = first or row
      print(("%12d %16.0f %6.2f %16.0f %6.2f %12.1f"):format(number, row[1], row[1] / first[1], row[2],
         row[2] / first[2], row[3]))
   end
end)
if not ok then
   io.stderr:write("tools/bench connections: ", why, "\n")
   os.exit(2)
end
