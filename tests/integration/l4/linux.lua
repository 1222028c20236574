-- SPDX-License-Identifier: BSD-3-Clause

-- lib/tcp against Linux's TCP, both roles, IPv4 and IPv6. Run in the tester's namespace by l4_linux.sh, with
-- the folder for files, the name of the other namespace, the path of peer.py, how
-- to open the interfaces, and a word if nginx listens; prints TAP.
local Tester = require "framegauge.tester"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local shell = require "framegauge.core.shell"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.tester.l4.trial"
local uv = require "luv"

local folder, namespace, peer, mode, nginx = ...

local PLAN = [[
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:l4-east,%s', ipv4: 198.18.1.2/24, gateway: 198.18.1.1,
         ipv6: "2001:2:0:1::2/64", gateway6: "2001:2:0:1::1"}
  west: {device: 'kernel:l4-west,%s', ipv4: 198.19.1.2/24, gateway: 198.19.1.1,
         ipv6: "2001:2:0:8000::2/64", gateway6: "2001:2:0:8000::1"}
host: {max_lag: 1s}
l4: {tests: [TCP_STREAM]}
]]

local OURS = { [4] = { "198.18.1.2", "198.19.1.2" }, [6] = { "2001:2:0:1::2", "2001:2:0:8000::2" } }
local THEIRS = { [4] = "198.18.1.1", [6] = "2001:2:0:1::1" }
local REQUEST, RESPONSE, EXCHANGES, BULK = 100, 2000, 3, 2000000 -- as in peer.py

local function check(name, ok, ...)
   print(ok and "ok - " .. name or ("not ok - %s: %s"):format(name, table.concat({ ... }, " ")))
end

local function read(name)
   local file = assert(io.open(folder .. "/" .. name))
   local text = file:read "*a"
   file:close()
   return json.decode(text)
end

local LONGEST = 120 -- seconds, on a machine that is very busy

local MOMENT = 1 -- seconds for which a client that opens one connection after the other may have none

-- Is the time over, and has every connection ended? What has a time opens none after it; without one (0) a
-- client has done when it has none for longer than a moment.
local function all_have_ended(seconds)
   local begun, quiet
   return function(open)
      local now = uv.hrtime() / 1e9
      begun = begun or open[1] > 0 and now or nil
      quiet = open[1] == 0 and (quiet or now) or nil
      if seconds > 0 then
         return begun and quiet and now - begun > seconds
      end
      return begun and quiet and now - quiet > MOMENT
   end
end

local function run_all(tester, side, seconds, look)
   local results = trial.run(tester, {
      sides = { side }, seconds = seconds, learning_wait = 0.05, drain = LONGEST, mtu = 1500, seed = 7,
      look = look or all_have_ended(seconds),
   })
   return results[1].apps, results[1].counters
end

local function run(tester, ...)
   local apps, counters = run_all(tester, ...)
   return apps[1], counters
end

-- What should be 0, as "bad_acks 3 no_timestamp 1"; "" where it is. What PAWS drops does not count: a veth
-- may swap frames that two CPUs send, and an acknowledgement that comes behind a later one is older.
local function faults(counters)
   local list = {}
   for _, name in ipairs { "wrong_octets", "rx_bad_checksum", "rx_malformed", "bad_acks", "no_timestamp" } do
      list[#list + 1] = counters[name] > 0 and ("%s %d"):format(name, counters[name]) or nil
   end
   return table.concat(list, " ")
end

-- Our client, their server.
local function client(tester, version, o, seconds, look)
   o.address, o.remote, o.next_hop = OURS[version][1], THEIRS[version], tester:gateway_mac(1, version)
   return run(tester, { port = 1, apps = { o } }, seconds, look)
end

local function test_client(tester, version)
   local suffix = (" to Linux over IPv%d"):format(version)
   local app, counters = client(tester, version, { test = "TCP_STREAM", port = 5001, octets = BULK,
      connections = 8 }, 2)
   check("8 streams" .. suffix, app.total.ended.closed == 8 and app.total.octets_out == 8 * BULK
      and faults(counters) == "", app.total.ended.closed, app.total.octets_out, faults(counters))
   app, counters = client(tester, version, { test = "TCP_MAERTS", port = 5002, connections = 1 }, 1)
   check("streams from Linux, and back" .. suffix, app.total.octets_in >= BULK and faults(counters) == ""
      and app.total.octets_in == app.total.established * BULK and app.total.ended.closed
      == app.total.opened, app.total.octets_in, app.total.opened, app.total.ended.closed, faults(counters))
   app, counters = client(tester, version, { test = "TCP_CRR", port = 5003, connections = 20,
      request = REQUEST, response = RESPONSE }, 1)
   check("connections one after the other" .. suffix, app.total.transactions >= 20
      and app.total.ended.closed == app.total.opened and app.total.transactions == app.total.opened
      and faults(counters) == "", app.total.opened, app.total.ended.closed, app.total.transactions,
      faults(counters))
   app, counters = client(tester, version, { test = "TCP_RR", port = 5003, connections = 10,
      request = REQUEST, response = RESPONSE }, 1)
   check("transactions" .. suffix, app.total.transactions >= 10 and app.total.ended.closed == 10
      and faults(counters) == "", app.total.transactions, app.total.ended.closed, faults(counters))
end

-- Our server, their client: peer.py's, which writes what it saw to a file when it has done.
local function server(tester, version, o, kind, ...)
   local name = ("%s-%s-%d"):format(kind, o.test, version)
   local words = { "ip", "netns", "exec", namespace, "/usr/bin/python3", peer, kind, folder .. "/" .. name,
      OURS[version][2], o.port, ... }
   os.execute(shell.command(tables.map(words, tostring)) .. " &")
   o.server, o.address = true, OURS[version][2]
   local there
   local app, counters = run(tester, { port = 2, apps = { o } }, LONGEST, function(open)
      local file = not there and io.open(folder .. "/" .. name)
      if file then
         there = #file:read "*a" > 0
         file:close()
      end
      return there and open[1] == 0
   end)
   return app, counters, read(name)
end

-- Our pages, their browsers; their pages, our browser.
local function test_http(tester, version)
   local host = version == 4 and THEIRS[4] or "[" .. THEIRS[6] .. "]"
   for requests = 1, 10, 9 do
      local app, counters = client(tester, version, { test = "HTTP", port = 5080, connections = 4,
         request = 0,
         response = 20000, requests = requests, port_first = 40000, path = "/octets/20000", host = host }, 1)
      check(("GET from Linux over IPv%d, %d on a connection"):format(version, requests),
         app.total.transactions >= 4 and app.total.refused == 0 and faults(counters) == ""
         and app.total.ended.closed == app.total.opened, app.total.transactions, app.total.refused,
         app.total.opened, app.total.ended.closed, faults(counters))
   end
   local _, counters, theirs = server(tester, version, { test = "HTTP", port = 6080 }, "http")
   check(("Python, curl and wget GET, HEAD and POST over IPv%d"):format(version), theirs.connections == 36
      and theirs.failed == 0 and theirs.wrong == 0 and theirs.unfinished == 0 and faults(counters) == "",
      json.encode(theirs), faults(counters))
end

-- What nginx is asked for, and how it answers.
local WEB = {
   { name = "20 kB, by length, connections kept", path = "/octets/20000", response = 20000, requests = 5 },
   { name = "8 MB", path = "/octets/8000000", response = 8000000 },
   { name = "nothing", path = "/octets/0", response = 0 },
   { name = "connections that it closes", path = "/closing/20000", response = 20000 },
   { name = "chunks", path = "/chunked/20000", response = 20000, requests = 5 },
   { name = "8 MB in chunks", path = "/chunked/8000000", response = 8000000 },
   { name = "until the connection ends", path = "/unsized/20000", response = 20000 },
   { name = "HEAD", path = "/octets/20000", response = 20000, head = true },
   { name = "what is not there", path = "/octets/404", response = 20000, bad = "http_4xx" },
   { name = "POST", path = "/octets/20000", request = 5000, response = 0, bad = "http_4xx" },
   { name = "503", path = "/broken/", response = 20000, bad = "http_5xx" },
   { name = "another length", path = "/octets/1000", response = 20000, bad = "http_length" },
   { name = "another length, in chunks", path = "/chunked/1000", response = 20000, bad = "http_length" },
}

-- All of it at a time, from ports of their own.
local function test_web(tester, version)
   local apps = {}
   for i, ask in ipairs(WEB) do
      apps[i] = setmetatable({
         test = "HTTP", address = OURS[version][1], remote = THEIRS[version], port = 7080,
         next_hop = tester:gateway_mac(1, version), host = "nginx", request = ask.request or 0,
         port_first = 40000 + 1000 * i, port_last = 40003 + 1000 * i, cycles = 4, connections = 1,
         requests = ask.requests or 1,
      }, { __index = ask })
   end
   local results, counters = run_all(tester, { port = 1, apps = apps }, LONGEST, all_have_ended(0))
   for i, ask in ipairs(WEB) do
      local t, n = results[i].total, 4 * (ask.requests or 1)
      check(("nginx over IPv%d: %s"):format(version, ask.name), t.ended.closed == 4 and t.opened == 4
         and t.transactions == (ask.bad and 0 or n) and t.refused == (ask.bad and n or 0)
         and (not ask.bad or t[ask.bad] == n), json.encode(t))
   end
   check(("nginx over IPv%d: nothing wrong"):format(version), faults(counters) == "", json.encode(counters))
end

local function test_server(tester, version)
   local suffix = (" from Linux over IPv%d"):format(version)
   local app, counters, theirs = server(tester, version, { test = "TCP_STREAM", port = 6001 }, "ask",
      "source", 8, 8)
   check("8 streams" .. suffix, theirs.connections == 8 and theirs.failed == 0
      and app.total.octets_in == 8 * BULK and app.total.ended.closed == 8 and faults(counters) == "",
      json.encode(theirs), app.total.octets_in, app.total.ended.closed, faults(counters))
   local n = 500
   app, counters, theirs = server(tester, version, { test = "TCP_RR", port = 6003, request = REQUEST,
      response = RESPONSE }, "ask", "ask", n, 50)
   check(("%d connections, %d transactions each"):format(n, EXCHANGES) .. suffix, theirs.connections == n
      and theirs.wrong == 0 and theirs.octets == n * EXCHANGES * RESPONSE and app.total.ended.closed == n
      and faults(counters) == "", json.encode(theirs), app.total.ended.closed, faults(counters))
end

-- Is what the receiver of a stream counted what its sender did, but for what was under way at the end? How
-- much that is depends on the machine.
local function agree(r, udp)
   local sender, receiver = r.sent and r.ours or r.theirs, r.sent and r.theirs or r.ours
   if udp then
      return sender.datagrams > 0 and receiver.datagrams <= sender.datagrams
         and sender.octets == sender.datagrams * 1000 and receiver.jitter_ms < 1000
         and receiver.octets <= (receiver.datagrams - receiver.lost) * 1000
   end
   return receiver.octets <= sender.octets and receiver.octets > 0
end

local IPERF_RUNS = {
   [4] = { {}, { udp = true, reverse = true }, { udp = true, bidirectional = true, udp_counters_64bit = 1 } },
   [6] = { { reverse = true }, { bidirectional = true }, { udp = true } },
}

local function wait_for_listener(port)
   for _ = 1, LONGEST / 0.05 do
      local pipe = io.popen(("ip netns exec %s ss -ltnH 'sport = :%d'"):format(namespace, port))
      local text = pipe:read "*a"
      pipe:close()
      if text ~= "" then
         return
      end
      job.sleep(0.05)
   end
end

-- Our client of iperf3: TCP and UDP, both ways and both at once.
local function test_iperf(tester, version, command)
   local port, n = 5200 + version, 3
   for _, what in ipairs(IPERF_RUNS[version]) do
      os.execute(("ip netns exec %s %s -s -1 -D -p %d"):format(namespace, command, port))
      wait_for_listener(port)
      local params = { omit = 0, time = 0.5, parallel = n, len = what.udp and 1000 or 131072,
         bandwidth = what.udp and 1e6 or nil, tcp = not what.udp or nil, client_version = "3.12" }
      for key, value in pairs(what) do
         params[key] = value
      end
      local app, counters = client(tester, version, { test = "IPERF", port = port, host = ("c"):rep(36),
         params = json.encode(params) }, LONGEST, all_have_ended(0))
      local good, results = true, 0
      for _, r in ipairs(app.iperf) do
         results = results + (r.kind == "result" and 1 or 0)
         good = good and (r.kind ~= "result" or agree(r, what.udp))
      end
      check(("%s's server over IPv%d, %s%s%s"):format(command, version, what.udp and "UDP" or "TCP",
         what.reverse and " in reverse" or "", what.bidirectional and " both ways" or ""),
         good and results == (what.bidirectional and 2 or 1) * n and app.iperf[#app.iperf].ending == "done"
         and app.peer and #app.peer.streams == results and app.total.refused == 0
         and counters.rx_bad_checksum == 0, json.encode(app.iperf))
   end
end

job.run(function()
   local plan, problems = plans.load_text(PLAN:format(mode, mode), "l4-linux", {})
   assert(plan, problems and tostring(problems[1]))
   local tester, err = Tester.open(plan)
   if not tester then
      print("not ok - the tester opens: " .. tostring(err))
      return
   end
   for _, version in ipairs { 4, 6 } do
      test_client(tester, version)
      test_server(tester, version)
      test_http(tester, version)
      if nginx then
         test_web(tester, version)
      else
         print "ok - nginx # SKIP nginx is missing"
      end
      -- one or several, as tests/integration/iperf3.py has it
      for command in (os.getenv "IPERF3" or "iperf3"):gmatch "[^:]+" do
         test_iperf(tester, version, command)
      end
   end
   tester:close()
end)
