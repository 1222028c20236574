-- SPDX-License-Identifier: BSD-3-Clause

-- Very many connections with Linux, for l4_many.sh: the port east has it at the other end of a cable, the
-- port west through a relay. Run in the tester's namespace, with the folder for files, the name of Linux's
-- namespace, and the program that plays the clients; prints TAP.
local Tester = require "framegauge.tester"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local trial = require "framegauge.tester.l4.trial"

local folder, namespace, crowd = ...

local PLAN = [[
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:l4-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1,
         ipv6: "2001:2:0:1::2/64", gateway6: "2001:2:0:1::1"}
  west: {device: 'kernel:l4-west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1,
         ipv6: "2001:2:0:8000::2/64", gateway6: "2001:2:0:8000::1"}
l4: {tests: [HTTP]}
]]

local OURS = { [4] = { "198.18.1.2", "198.19.1.2" }, [6] = { "2001:2:0:1::2", "2001:2:0:8000::2" } }
local THEIRS = { [4] = { "198.18.1.1", "198.19.1.1" }, [6] = { "2001:2:0:1::1", "2001:2:0:8000::1" } }
local LONGEST = 120 -- seconds, on a machine that is very busy
local PAGE, REQUEST, RESPONSE, EXCHANGES = 1000, 100, 1000, 2

local function check(name, ok, ...)
   print(ok and "ok - " .. name or ("not ok - %s: %s"):format(name, table.concat({ ... }, " ")))
end

-- It ends when look() says so, given the connections that are open. A port that is not read in time loses
-- frames, and what was in them comes again after a time-out, twice as long each time: so nothing here depends
-- on how long it takes.
local function run(tester, port, app, look)
   local results, engine = trial.run(tester, {
      sides = { { port = port, apps = { app } } }, seconds = LONGEST, learning_wait = 0.05, drain = 1,
      mtu = 1500, seed = 11, look = function(open)
         return look(open[1])
      end,
   })
   print(("# the port lost %d frames, %d connections were open at the end"):format(
      engine.ports[port].rx_missed, results[1].open))
   return results[1].apps[1], results[1].counters, results[1].station.busy_s
end

local function faults(counters)
   return counters.wrong_octets + counters.rx_bad_checksum + counters.rx_malformed + counters.table_full
end

local function words(n, version, way)
   return ("%d connections over IPv%d, %s, %d exchanges each"):format(n, version, way, EXCHANGES)
end

-- Our clients: all are there within two seconds, and each asks once more, and closes, three seconds after its
-- first answer, so that all are open at a time and yet neither come nor go all at once.
local function clients(tester, port, version, n)
   local begun
   local app, counters, busy = run(tester, port, {
      test = "HTTP", address = OURS[version][port], remote = THEIRS[version][port], port = 7080,
      next_hop = tester:gateway_mac(port, version), host = "nginx", path = "/octets/" .. PAGE, request = 0,
      response = PAGE, connections = n, connections_per_s = n / 2, requests = EXCHANGES, cycles = 1,
      think = 3,
   }, function(open)
      begun = begun or open > 0
      return begun and open == 0
   end)
   local t = app.total
   check(words(n, version, port == 1 and "to nginx" or "to nginx through a bad path"),
      t.opened == n and app.concurrent_max == n and t.transactions == EXCHANGES * n and t.refused == 0
      and t.ended.closed == n and faults(counters) == 0, json.encode(app), json.encode(counters))
   check("the processor was busy for a part of that", busy > 0 and busy < LONGEST, busy)
   return counters
end

-- Their clients. They have done when Linux has our FIN; what acknowledges it may be lost still, and is then
-- asked for again.
local function server(tester, port, version, n)
   local file = ("%s/crowd-%d-%d"):format(folder, port, version)
   assert(io.open(file, "w")):close() -- it is read before a busy machine has begun the clients
   os.execute(("(sleep 0.4; exec ip netns exec %s '%s' %s 6003 %d %d %d %d) >'%s' 2>&1 &"):format(namespace,
      crowd, OURS[version][port], n, EXCHANGES, REQUEST, RESPONSE, file))
   local text = ""
   local app, counters = run(tester, port, {
      test = "TCP_RR", server = true, address = OURS[version][port], port = 6003, request = REQUEST,
      response = RESPONSE,
   }, function(open)
      text = text:match "}" and text or assert(io.open(file)):read "*a"
      return text:match "}" and open == 0
   end)
   local theirs = json.decode(text:match "{.*}" or "{}")
   check(words(n, version, port == 1 and "from Linux" or "from Linux through a bad path"),
      theirs.opened == n and theirs.most == n and theirs.closed == n and theirs.failed == 0
      and theirs.wrong == 0 and app.total.opened == n and app.total.ended.closed == n
      and faults(counters) == 0, text, json.encode(app.total), json.encode(counters))
   return counters
end

job.run(function()
   local plan, problems = plans.load_text(PLAN, "l4-many", {})
   assert(plan, problems and tostring(problems[1]))
   local tester = assert(Tester.open(plan))
   for _, version in ipairs { 4, 6 } do
      clients(tester, 1, version, 10000)
      server(tester, 1, version, 10000)
   end
   local there = clients(tester, 2, 4, 200)
   local back = server(tester, 2, 6, 200)
   local again = there.segments_retransmitted + back.segments_retransmitted
   check("the path was bad, and so segments were sent again", again > 5, again)
   tester:close()
   print "1..10"
end)
