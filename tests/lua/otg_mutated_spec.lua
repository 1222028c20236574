-- SPDX-License-Identifier: BSD-3-Clause

-- Requests of the Open Traffic Generator API that were spoilt on the way.
local json = require "framegauge.text.json"
local mutate = require "mutate"
local Served = require "otg_served"

local flow, configuration = Served.flow, Served.configuration

describe("the Open Traffic Generator server", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   -- Requests that are mutated in up to three places: refused with a path, or followed.
   local function requests(names)
      return {
         { "POST /control/state", { choice = "traffic", traffic = { choice = "flow_transmit",
            flow_transmit = { state = "start", flow_names = { names[1] } } } } },
         { "POST /control/state", { traffic = { flow_transmit = { state = "stop" } } } },
         { "POST /control/state", { traffic = { flow_transmit = { state = "pause", flow_names = names } } } },
         { "POST /control/state", { port = { capture = { state = "start", port_names = { "p2" } } } } },
         { "POST /control/state", { choice = "port", port = { choice = "link", link = { state = "up",
            port_names = { "p1" } } } } },
         { "POST /control/state", { protocol = { choice = "all", all = { state = "start" } } } },
         { "POST /monitor/metrics", { choice = "flow", flow = { flow_names = { names[2] },
            metric_names = { "frames_tx", "tx_rate_bps" }, tagged_metrics = { include = true } } } },
         { "POST /monitor/metrics", { port = { port_names = { "p1", "p2" }, column_names = { "link" } } } },
         { "POST /monitor/states", { choice = "ipv4_neighbors", ipv4_neighbors = {} } },
         { "POST /monitor/capture", { port_name = "p2", packets = { slice = { initial = { start = 1,
            count = 2 } } } } },
         { "PATCH /config", { flows = { property_names = { "rate" }, flows = { flow(names[1]) } } } },
         { "PATCH /config/append", { config_append_list = { { choice = "flows",
            flows = { flow "new" } } } } },
         { "PATCH /config/delete", { config_delete_list = { { choice = "flows",
            flows = { names[2] } } } } },
         { "POST /control/state", { protocol = { choice = "lacp", lacp = { choice = "admin",
            admin = { state = "up", lag_member_names = { "p1" } } } } } },
         { "POST /control/state", { protocol = { lacp = { member_ports = { state = "down" } } } } },
         { "POST /monitor/metrics", { choice = "lag", lag = { lag_names = { "g1" },
            column_names = { "frames_tx", "oper_status" } } } },
         { "POST /monitor/metrics", { lacp = { lag_names = { "g1", "g2" },
            lag_member_port_names = { "p1" }, column_names = { "system_id" } } } },
         { "POST /control/action", { choice = "port", port = { choice = "reboot" } } },
         { "POST /control/action", { protocol = { ipv4 = { ping = { requests = { { src_name = "d1.v4",
            dst_ip = "1.1.1.2" } } } } } } },
      }
   end

   -- A device with one address, and the other one as its gateway.
   local function device(name, port, own, peer)
      return { name = name, ethernets = { { name = name .. ".eth", connection = { port_name = port },
         ipv4_addresses = { { name = name .. ".v4", address = own, gateway = peer } } } } }
   end

   -- A LAG of one port.
   local function lag(name, port)
      return { name = name, min_links = 1, ports = { { port_name = port,
         ethernet = { name = name .. ".eth", mac = "00:00:00:00:00:01" },
         lacp = { actor_port_number = 3, actor_activity = "passive", lacpdu_timeout = 3,
            lacpdu_periodic_time_interval = 1 } } },
         protocol = { choice = "lacp", lacp = { actor_system_id = "00:00:00:00:00:01", actor_key = 1 } } }
   end

   -- A configuration with something of each kind.
   local function rich()
      local one = flow("f1", { packet = {
         {}, { vlan = { id = { values = { 1, 2 } } } },
         { ipv4 = { src = { increment = { start = "1.1.1.1", step = "0.0.0.1", count = 3 } } } },
         { tcp = { src_port = { random = { min = 1, max = 9, count = 3 } }, ctl_syn = { values = { 0,
            1 } } } },
      } })
      local left = device("d1", "p1", "1.1.1.1", "1.1.1.2")
      left.ethernets[1].vlans = { { name = "v", id = 5 } }
      left.ethernets[1].ipv6_addresses = { { name = "a2", address = "2001::1", prefix = 60,
         gateway = "2001::2", gateway_mac = { value = "00:00:00:00:00:02" } } }
      return configuration({ one, { name = "f2", tx_rx = { device = { mode = "one_to_one",
         tx_names = { "d1.v4", "d1" }, rx_names = { "a2", "d1.eth" } } } },
         flow("f3", { packet = { {} }, tx_rx = { port = { tx_name = "g1", rx_names = { "g2", "p1" } } } }),
      }, {
         lags = { lag("g1", "p1"), lag("g2", "p2") },
         layer1 = { { name = "l1", port_names = { "p1", "p2" }, speed = "speed_1_gbps" } },
         captures = { { name = "c", port_names = { "p2" }, filters = { { custom = { value = "55" } } } } },
         devices = { left }, options = { protocol_options = { auto_start_all = false } },
      })
   end

   -- What a refusal must leave as it was.
   local function state()
      local flows = {}
      for _, one in ipairs(served.calls.traffic.flows) do
         flows[one.name] = one.run or 0
      end
      return json.encode { select(2, served:ask "GET /config"), flows, served.calls.captures:is_running "p2" }
   end

   it("takes mutated configurations or refuses them with a path, and then keeps the one before", function()
      local refused, draw = 0, mutate.draws(20)
      assert.equal(200, (served:ask("POST /config", rich())))
      for round = 1, 500 do
         local before, value = state(), rich()
         mutate.some(value, draw)
         local ok, status, answer = pcall(served.ask, served, "POST /config", value)
         local about = ("round %d: %s: %s"):format(round, json.encode(value), tostring(status))
         assert(ok and (status == 200 or status == 400), about)
         if status == 400 then
            refused = refused + 1
            assert.equal(before, state(), about)
            assert.truthy(answer.errors[1], about)
         end
         for _, text in ipairs(answer.errors or answer.warnings) do
            assert.truthy(text:find "^[%w_]+[ .:%[]", about .. text)
         end
      end
      assert.is_true(refused > 300 and refused < 500, tostring(refused))
      served:ask("POST /config", "{}")
   end)

   it("follows mutated requests or refuses them with a path, and then changes nothing", function()
      local statuses, draw = {}, mutate.draws(7)
      for round = 1, 500 do
         if round % 20 == 1 then
            served:must("POST /config", configuration({ flow("f1", { rate = { pps = 20000 } }),
               flow("f2", { tx_rx = { device = { tx_names = { "d1" }, rx_names = { "d2.v4" } } } }) }, {
               captures = { { name = "c", port_names = { "p2" } } },
               lags = { lag("g1", "p1"), { name = "g2", protocol = { static = {} }, ports = { {
                  port_name = "p2", ethernet = { name = "g2.eth" } } } } },
               devices = { device("d1", "p1", "1.1.1.1", "1.1.1.2"),
                  device("d2", "p2", "1.1.1.2", "1.1.1.1") },
            }))
         end
         local list = requests { "f1", "f2" }
         local route, value = unpack(json.decode(json.encode(list[draw(#list) + 1])))
         mutate.some(value, draw)
         local before = state()
         local ok, status, answer = pcall(served.ask, served, route, value)
         local about = ("round %d, %s %s: %s"):format(round, route, json.encode(value), tostring(status))
         assert(ok and (status == 200 or status == 400 or status == 501), about)
         statuses[status] = (statuses[status] or 0) + 1
         if status ~= 200 then
            assert.equal(before, state(), about)
         end
         for _, text in ipairs(status ~= 200 and answer.errors or {}) do
            assert.truthy(text:find "^[%w_]+[ .:%[]", about .. text)
         end
      end
      assert.is_true(statuses[200] > 10 and statuses[400] > 300, json.encode(json.object {
         followed = statuses[200], refused = statuses[400] }))
   end)
end)
