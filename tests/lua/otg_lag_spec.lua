-- SPDX-License-Identifier: BSD-3-Clause

-- LAGs of the Open Traffic Generator API: over the reference device, with LACP at both ends, and over the
-- reference switch, where several ports send to one.
local job = require "framegauge.core.job"
local Served = require "otg_served"
local tables = require "framegauge.core.tables"

local function member(port, more)
   return Served.with({ port_name = port, ethernet = { name = port .. ".eth" } }, more)
end

local function over(flow, from, to)
   flow.tx_rx = { port = { tx_name = from, rx_names = { to } } }
   return flow
end

describe("LACP of an Open Traffic Generator configuration", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   local function lag(name, port, system, more)
      return Served.with({ name = name, protocol = { lacp = { actor_system_id = system, actor_key = 7 } },
         ports = { member(port, { lacp = { lacpdu_periodic_time_interval = 1 } }) } }, more)
   end

   local function set(flow, more)
      served:must("POST /config", Served.configuration({ over(flow, "l1", "l2") }, tables.copy(more or {
         lags = { lag("l1", "p1", "01-01-01-01-01-01"), lag("l2", "p2", "02:02:02:02:02:02") } })))
   end

   local function rows(kind, request)
      local answer = served:must("POST /monitor/metrics", { choice = kind, [kind] = request or {} })
      return answer[kind .. "_metrics"]
   end

   local function control(choice, state, names)
      return served:ask("POST /control/state", { protocol = { lacp = { [choice] = {
         state = state, lag_member_names = names } } } })
   end

   local function await(oper_status)
      for _ = 1, 3000 do
         local lags = rows "lag"
         if lags[1].oper_status == oper_status and lags[2].oper_status == oper_status then
            return
         end
         job.sleep(0.02)
      end
      error(served:must("POST /monitor/metrics", { lacp = {} }))
   end

   it("agrees with the other end, and lets a flow wait for that", function()
      set(Served.flow "f1")
      local before = rows "lag"
      assert.same({ "l1", "down", 0, "0" }, { before[1].name, before[1].oper_status,
         before[1].member_ports_up, before[1].frames_tx })
      served:transmit "start"
      local row = served:await "f1"
      assert.same({ 100, 100, "l1", "l2", 0 }, { row.frames_tx, row.frames_rx, row.port_tx, row.port_rx,
         row.loss })
      local one, other = unpack(rows "lag")
      assert.same({ "up", 1, "100", "12800", 0 }, { one.oper_status, one.member_ports_up, one.frames_tx,
         one.bytes_tx, one.frames_tx_rate })
      assert.is_true(tonumber(other.frames_rx) >= 100)
      local all = rows "lacp"
      assert.same({ "l1", "p1", "active", "short", "in_sync", true, true, true, "01:01:01:01:01:01", 7,
         "02:02:02:02:02:02", 7, 1, 1, "0" }, { all[1].lag_name, all[1].lag_member_port_name, all[1].activity,
         all[1].timeout, all[1].synchronization, all[1].aggregatable, all[1].collecting, all[1].distributing,
         all[1].system_id, all[1].oper_key, all[1].partner_id, all[1].partner_key, all[1].port_num,
         all[1].partner_port_num, all[1].lacp_rx_errors })
      assert.is_true(tonumber(all[2].lacp_packets_rx) >= 3 and tonumber(all[2].lacp_packets_tx) >= 3)
      assert.same({ { lag_name = "l2", lag_member_port_name = "p2", port_num = 1 } },
         rows("lacp", { lag_names = { "l2" }, column_names = { "port_num" } }))
      assert.same({}, rows("lacp", { lag_names = { "l2" }, lag_member_port_names = { "p1" } }))
      assert.same({ { name = "l2", member_ports_up = 1 } },
         rows("lag", { lag_names = { "l2" }, column_names = { "member_ports_up" } }))
   end)

   it("holds the frames of a flow while its port is out of sync or silent, and loses none", function()
      set(Served.flow("f1", { rate = { pps = 500 }, duration = { fixed_packets = { packets = 1500 } } }))
      served:transmit "start"
      for _, choice in ipairs { "admin", "member_ports" } do
         assert.equal(200, (control(choice, "down", { "p1" })))
         await "down"
         while served.calls.traffic.by_name.f1.slots.senders[1] do
            job.sleep(0.01) -- until its streams have stopped
         end
         local held = served:row "f1"
         job.sleep(0.1)
         local still = served:row "f1"
         assert.same({ "started", held.frames_tx }, { still.transmit, still.frames_tx })
         assert.is_true(held.frames_tx > 0 and held.frames_tx < 1500)
         assert.equal(200, (control(choice, "up")))
         await "up"
      end
      local row = served:await "f1"
      assert.same({ 1500, 1500 }, { row.frames_tx, row.frames_rx })
   end)

   it("refuses to start a flow over a LAG that is down", function()
      set(Served.flow "f1")
      control("member_ports", "down")
      served.calls.link.pass = function(_, _, done) return done() end -- not for five seconds
      local status, answer = served:ask("POST /control/state", { traffic = { flow_transmit = {
         state = "start" } } })
      served.calls.link.pass = nil
      assert.same({ 400, { 'flows[0] "f1": LAG "l1" is down: 0 of its 1 ports are in use, min_links is 1' } },
         { status, answer.errors })
      assert.same({ "stopped", 0 }, { served:row("f1").transmit, served:row("f1").frames_tx })
   end)

   it("is refused with the path of each fault", function()
      local status, answer = served:ask("POST /config", Served.configuration({
         over(Served.flow("f1", { duration = { burst = {} } }), "l1", "p2") }, { lags = {
         { name = "l1", ports = { member("p1"), member("p1", { ethernet = { name = "e1" } }) } },
         { name = "l2", ports = { member("p9", { ethernet = { name = "e9" } }) },
            protocol = { static = {} } },
         { name = "l3", ports = {} },
         { name = "p1", ports = { member("p2", { ethernet = { name = "f1" } }) } },
         { name = "l4", ports = { member("p2", { ethernet = { name = "e4",
            mac = "01:00:00:00:00:00" } }) } },
         { name = "l5", ports = { member("p2", { ethernet = { name = "e",
            vlans = { { name = "v" } } } }) } },
         { name = "l6", ports = { member("p2", { macsec = {} }) }, min_links = 33 },
      } }))
      assert.equal(400, status)
      local text = table.concat(answer.errors, "\n")
      for _, path in ipairs {
         'lags[0] "l1".ports[1].port_name: is in lags[0] "l1".ports[0] already',
         'lags[1] "l2".ports[0].port_name: "p9" is no port', 'lags[2] "l3".ports: is empty',
         'lags[3] "p1".name: is taken by ports[0] "p1"', 'lags[3] "p1".ports[0].ethernet.name: is taken by',
         'lags[4] "l4".ports[0].ethernet.mac: 01:00:00:00:00:00 is no MAC',
         'lags[5] "l5".ports[0].ethernet.vlans: not supported',
         'lags[6] "l6".ports[0].macsec: not supported', 'lags[6] "l6".min_links: 33 is out of range',
         'flows[0] "f1".duration.burst: not supported over a LAG',
      } do
         assert.truthy(text:find(path, 1, true), path .. "\nis not in\n" .. text)
      end
      status, answer = control("admin", "up", { "x" })
      assert.same({ 400, { 'protocol.lacp.admin.lag_member_names[0]: "x" is no port of a LAG with LACP' } },
         { status, answer.errors })
      for kind, key in pairs { lag = "lag_names", lacp = "lag_member_port_names" } do
         assert.equal(400, (served:ask("POST /monitor/metrics", { [kind] = { [key] = { "x" } } })))
      end
   end)
end)

describe("a static LAG of an Open Traffic Generator configuration", function()
   local served

   setup(function()
      served = Served.open_switch()
   end)
   teardown(function()
      served:close()
   end)

   local function set(flow, more)
      flow.packet = {
         { ethernet = { src = { value = "00:00:01:01:01:01" }, dst = { value = "ff:ff:ff:ff:ff:ff" } } },
         { ipv4 = {} },
         { udp = { src_port = { increment = { start = 1, count = 1000 } },
            dst_port = { values = { 7, 8, 9 } } } },
      }
      local value = Served.switch_configuration({ over(flow, "l1", "p2") }, more)
      value.captures = { { name = "c", port_names = { "p2" } } }
      value.lags = { { name = "l1", ports = { member "p1", member "p3" }, min_links = 2,
         protocol = { static = { lag_id = 1 } } } }
      return served:must("POST /config", value)
   end

   -- A figure of p1, p2 and p3.
   local function ports(key)
      local list = served:must("POST /monitor/metrics", { port = { column_names = { key } } }).port_metrics
      return tables.map(list, function(one)
         return tonumber(one[key])
      end)
   end

   -- UDP ports of what has arrived at p2, sorted by the sender's.
   local function captured()
      local list = tables.map(served:captured "p2", function(frame)
         return { frame:byte(35) * 256 + frame:byte(36), frame:byte(37) * 256 + frame:byte(38) }
      end)
      table.sort(list, function(a, b) return a[1] < b[1] end)
      return list
   end

   it("spreads a flow over its ports, each with the headers of its turn", function()
      set(Served.flow("f1", { duration = { fixed_packets = { packets = 101 } } }))
      served:capture "start"
      served:transmit "start"
      local row = served:await "f1"
      assert.same({ 101, 101, 12928, "l1", "p2" }, { row.frames_tx, row.frames_rx, row.bytes_tx, row.port_tx,
         row.port_rx })
      assert.same({ 51, 0, 50 }, ports "frames_tx")
      assert.same({ 51 * 128, 0, 50 * 128 }, ports "bytes_tx")
      local list = captured()
      assert.equal(101, #list)
      for i, one in ipairs(list) do
         assert.same({ i, 7 + (i - 1) % 3 }, one)
      end
   end)

   it("sends no frame more than there is, be they fewer than ports", function()
      set(Served.flow("f1", { duration = { fixed_packets = { packets = 1 } } }))
      served:transmit "start"
      assert.equal(1, served:await("f1").frames_rx)
      assert.same({ 1, 0, 0 }, ports "frames_tx")
   end)

   it("goes on with numbers and headers when its size or rate changes", function()
      local flow = Served.flow("f1", { rate = { pps = 400 },
         duration = { fixed_packets = { packets = 300 } } })
      set(flow)
      served:capture "start"
      served:transmit "start"
      repeat
         job.sleep(0.01)
      until served:row("f1").frames_tx > 20
      flow.size, flow.rate = { fixed = 256 }, { pps = 1000 }
      served:must("PATCH /config", { flows = { property_names = { "size", "rate" }, flows = { flow } } })
      served:transmit("pause")
      local paused = served:row("f1").frames_tx
      job.sleep(0.05)
      assert.equal(paused, served:row("f1").frames_tx)
      served:transmit("resume")
      local row = served:await "f1"
      assert.same({ 300, 300 }, { row.frames_tx, row.frames_rx })
      for i, one in ipairs(captured()) do
         assert.same({ i, 7 + (i - 1) % 3 }, one)
      end
      local sent = ports "frames_tx"
      assert.same({ 300, 0 }, { sent[1] + sent[3], sent[2] })
      assert.near(sent[1], sent[3], 2)
   end)

   it("has the line of all its ports", function()
      local layer1 = { { name = "l", port_names = { "p1", "p3" }, speed = "speed_100_fd_mbps" } }
      set(Served.flow("f1", { rate = { percentage = 10 }, size = { fixed = 1230 },
         duration = { fixed_seconds = { seconds = 0.2 } } }), { layer1 = layer1 })
      -- 20 Mbit/s in 10,000 bits a frame
      assert.near(2000, served.calls.traffic.by_name.f1.stream.load.fps, 1e-6)
      served:transmit "start"
      local sent = served:await("f1").frames_tx
      assert.is_true(sent > 0 and sent <= 402) -- a busy machine drops what is late
   end)
end)
