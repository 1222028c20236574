-- SPDX-License-Identifier: BSD-3-Clause

-- Devices of the Open Traffic Generator API on the reference device: neighbours, flows between them, ping.
local json = require "framegauge.text.json"
local job = require "framegauge.core.job"
local octets = require "framegauge.core.octets"
local Served = require "otg_served"
local tables = require "framegauge.core.tables"

local MAC = { left = "00:00:0a:00:00:01", right = "00:00:0b:00:00:01" }

local function device(side, port, own, peer, more)
   local ethernet = Served.with({
      name = side .. ".eth", connection = { port_name = port }, mac = MAC[side],
      ipv4_addresses = { { name = side .. ".v4", address = "1.1.1." .. own, gateway = "1.1.1." .. peer } },
      ipv6_addresses = { { name = side .. ".v6", address = "2001:2::" .. own,
         gateway = "2001:2::" .. peer } },
   }, more)
   return { name = side, ethernets = { ethernet } }
end

-- A flow from left to right whose frames find their way by themselves.
local function flow(name, ends, more)
   local one = Served.flow(name, more)
   one.tx_rx = { device = ends or { tx_names = { "left.v4" }, rx_names = { "right.v4" } } }
   return one
end

describe("devices of an Open Traffic Generator configuration", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   local function configuration(devices, flows, more)
      more = more or {}
      more.devices = devices
      more.captures = more.captures or { { name = "c", port_names = { "p2" } } }
      return Served.configuration(flows or {}, more)
   end

   local function set(...)
      assert.same({ 200, { warnings = {} } }, { served:ask("POST /config", configuration(...)) })
   end

   local function errors_of(...)
      local status, answer = served:ask("POST /config", configuration(...))
      assert.equal(400, status)
      return answer.errors
   end

   local function neighbours(version, names)
      local kind = ("ipv%d_neighbors"):format(version)
      local status, answer = served:ask("POST /monitor/states", { choice = kind,
         [kind] = { ethernet_names = names } })
      assert.equal(200, status, json.encode(answer))
      return answer[kind]
   end

   local function control(choice, value)
      return served:ask("POST /control/state", { [choice] = value })
   end

   local function transmit(state, names)
      return control("traffic", { flow_transmit = { state = state, flow_names = names } })
   end

   -- Start all flows and wait for the end of f1. @return its counts, and the MACs its frames went to
   local function run()
      served:capture "start"
      assert.equal(200, (transmit "start"))
      local row
      repeat
         job.sleep(0.01)
         local _, answer = served:ask("POST /monitor/metrics", { flow = { flow_names = { "f1" } } })
         row = answer.flow_metrics[1]
      until row.transmit == "stopped"
      local macs = {}
      for _, frame in ipairs(served:captured "p2") do
         macs[#macs + 1] = #frame == 128 and frame:sub(1, 6):gsub(".", function(octet)
            return (":%02x"):format(octet:byte())
         end):sub(2) or nil
      end
      return { row.frames_tx, row.frames_rx, row.port_tx, row.port_rx }, macs
   end

   local function all(mac)
      local list = {}
      for i = 1, 100 do
         list[i] = mac
      end
      return list
   end

   local function both(more_left, more_right)
      return { device("left", "p1", 1, 2, more_left), device("right", "p2", 2, 1, more_right) }
   end

   it("resolve each other's MAC as gateways, by ARP and Neighbor Discovery", function()
      set(both())
      for version, peers in pairs { [4] = { "1.1.1.2", "1.1.1.1" }, [6] = { "2001:2::2", "2001:2::1" } } do
         local key = ("ipv%d_address"):format(version)
         assert.same({
            { ethernet_name = "left.eth", [key] = peers[1], link_layer_address = MAC.right },
            { ethernet_name = "right.eth", [key] = peers[2], link_layer_address = MAC.left },
         }, neighbours(version))
      end
      local right = { ethernet_name = "right.eth", ipv4_address = "1.1.1.1", link_layer_address = MAC.left }
      assert.same({ right }, neighbours(4, { "right.eth" }))
      assert.equal(400, (served:ask("POST /monitor/states", {
         ipv4_neighbors = { ethernet_names = { "x" } } })))
   end)

   it("know nobody while protocols are stopped, and speak in their VLANs only", function()
      local tags = { { name = "outer", tpid = "x88A8", id = 7, priority = 3 }, { name = "inner", id = 9 } }
      local other = { { name = "outer2", tpid = "x88A8", id = 7 }, { name = "inner2", id = 10 } }
      local same = { { name = "outer2", tpid = "x88A8", id = 7 }, { name = "inner2", id = 9 } }
      set(both({ vlans = tags }, { vlans = same }), {}, { options = {
         protocol_options = { auto_start_all = false } } })
      assert.is_nil(neighbours(4)[1].link_layer_address)
      control("protocol", { all = { state = "start" } })
      assert.equal(MAC.right, neighbours(4)[1].link_layer_address)
      assert.equal(MAC.left, neighbours(6)[2].link_layer_address)
      control("protocol", { all = { state = "stop" } })
      assert.is_nil(neighbours(4)[1].link_layer_address)
      set(both({ vlans = tags }, { vlans = other }))
      assert.is_nil(neighbours(4)[1].link_layer_address)
      assert.is_nil(neighbours(6)[2].link_layer_address)
   end)

   it("take a tag with a priority and no VLAN for none", function()
      set(both({ vlans = { { name = "priority", id = 0, priority = 3 } } }, {}))
      assert.equal(MAC.right, neighbours(4)[1].link_layer_address)
      assert.equal(MAC.left, neighbours(6)[2].link_layer_address)
   end)

   it("speak in VLANs of any type of tag", function()
      for _, tpid in ipairs { "x9100", "x9200", "x9300" } do
         local function tags(name)
            return { vlans = { { name = name .. ".outer", tpid = tpid, id = 7 }, { name = name, id = 9 } } }
         end
         set(both(tags "left.tag", tags "right.tag"))
         assert.same({ MAC.right, MAC.left },
            { neighbours(4)[1].link_layer_address, neighbours(6)[2].link_layer_address })
      end
   end)

   -- A flow that goes both ways, and finds its way by itself.
   local function both_ways(more)
      local ends = { tx_names = { "left.v4" }, rx_names = { "right.v4" }, bidirectional = true }
      local one = flow("f1", ends, more)
      one.packet = {
         { ethernet = { src = { value = MAC.left }, dst = { choice = "auto" } } },
         { ipv4 = { src = { value = "1.1.1.1" }, dst = { value = "1.1.1.2" } } },
         { udp = { src_port = { value = 5000 }, dst_port = { increment = { start = 1, count = 9 } } } },
      }
      return one
   end

   local function rows(name)
      local _, answer = served:ask("POST /monitor/metrics", { flow = { flow_names = { name } } })
      return tables.map(answer.flow_metrics, function(one)
         return { one.name, one.port_tx, one.port_rx, one.transmit, one.frames_tx, one.frames_rx }
      end)
   end

   it("send a flow both ways under one name", function()
      set(both(), { both_ways() }, { captures = { { name = "c", port_names = { "p1", "p2" } } } })
      run()
      local back
      repeat
         back = rows "f1"
      until back[2][4] == "stopped"
      assert.same({ { "f1", "p1", "p2", "stopped", "100", "100" },
         { "f1", "p2", "p1", "stopped", "100", "100" } }, back)
      local _, file = served:ask("POST /monitor/capture", { port_name = "p1" })
      local at = assert(file:find(octets.unhex "00000a00000100000b0000010800", 1, true)) -- from right to left
      assert.equal(octets.unhex("01010102" .. "01010101" .. "0001" .. "1388"), file:sub(at + 26, at + 37))
      set(both(), { both_ways { duration = { choice = "continuous" } }, flow "f2" })
      transmit "start"
      assert.equal(200, (transmit("stop", { "f1" })))
      assert.same({ "stopped", "stopped" }, { rows("f1")[1][4], rows("f1")[2][4] })
      transmit("start", { "f1" })
      local faster = both_ways { duration = { choice = "continuous" }, size = { fixed = 256 } }
      assert.equal(200, (served:ask("PATCH /config", { flows = { property_names = { "size" },
         flows = { faster } } })))
      assert.same({ "started", "started" }, { rows("f1")[1][4], rows("f1")[2][4] })
      served:must("PATCH /config/delete", { config_delete_list = { { flows = { "f1" } } } })
      local _, answer = served:ask("POST /monitor/metrics", { flow = {} })
      assert.equal(1, #answer.flow_metrics)
   end)

   it("send flows to the MAC of their gateway, and start them only when it is known", function()
      set(both(), { flow "f1" })
      local counts, macs = run()
      assert.same({ "100", "100", "p1", "p2" }, counts)
      assert.same(all(MAC.right), macs)
      set({ device("left", "p1", 1, 9), device("right", "p2", 2, 1) }, { flow "f1" })
      served:capture "start"
      local status, answer = transmit "start"
      assert.equal(400, status)
      assert.same({ 'flows[0] "f1": MAC address of 1.1.1.9 (gateway of "left.v4") was not resolved' },
         answer.errors)
      for _, frame in ipairs(served:captured "p2") do
         assert.is_true(#frame < 128)
      end
   end)

   it("need no gateway for an address of their network", function()
      set(both { ipv4_addresses = { { name = "left.v4", address = "1.1.1.1", gateway = "0.0.0.0" } } },
         { flow "f1" })
      local counts, macs = run()
      assert.same({ "100", "100", "p1", "p2" }, counts)
      assert.same(all(MAC.right), macs)
      assert.is_nil(neighbours(4, { "left.eth" })[1].link_layer_address)
   end)

   it("send frames to one device after the other, a MAC of the configuration included", function()
      local gateway = { address = "1.1.1.1", name = "left.v4", gateway = "1.1.1.3",
         gateway_mac = { value = "02:00:00:00:00:77" } }
      local far = device("far", "p2", 5, 1, { mac = "00:00:0c:00:00:01", ipv4_addresses = {
         { name = "far.v4", address = "9.9.9.9", gateway = "9.9.9.1" } } })
      local list = both { ipv4_addresses = { gateway } }
      list[3] = far
      set(list, { flow("f1", { tx_names = { "left.v4" }, rx_names = { "right.v4", "far.v4" } }) })
      local counts, macs = run()
      assert.same({ "100", "100", "p1", "p2" }, counts)
      assert.same({ MAC.right, "02:00:00:00:00:77", MAC.right }, { macs[1], macs[2], macs[3] })
      assert.equal("02:00:00:00:00:77", neighbours(4, { "left.eth" })[1].link_layer_address)
   end)

   it("ping an address of their network, and one behind a gateway that does not answer", function()
      set(both())
      local function ping(version, from, to)
         local kind = "ipv" .. version
         local status, answer = served:ask("POST /control/action", { protocol = { [kind] = { ping = {
            requests = { { src_name = from, dst_ip = to[1] },
               { src_name = "right.v" .. version, dst_ip = to[2] } },
         } } } })
         if status ~= 200 then
            return answer.errors
         end
         local out = answer.response.protocol[kind].ping.responses
         return { out[1].result, out[2].result, out[1].src_name, out[2].dst_ip }
      end
      assert.same({ "succeeded", "failed", "left.v4", "1.1.1.77" }, ping(4, "left.v4", { "1.1.1.2",
         "1.1.1.77" }))
      assert.same({ "failed", "succeeded", "left.v6", "2001:2::1" }, ping(6, "left.v6", { "2001:3::2",
         "2001:2::1" }))
      assert.same({ 'protocol.ipv4.ping.requests[0].src_name: "left.v6" is no IPv4 interface of a device' },
         ping(4, "left.v6", { "1.1.1.2", "1.1.1.1" }))
   end)

   it("are refused with the path of each place that cannot be", function()
      local list = { device("left", "p9", 1, 2), device("right", "p2", 2, 1, { mac = "01:00:00:00:00:01" }),
         device("third", "p2", 2, 1, { connection = { lag_name = "x" } }) }
      list[2].bgp = { router_id = "1.1.1.1" }
      list[4] = device("fourth", "p1", 4, 1, { vlans = { { name = "v", tpid = "x9100" } },
         mac = "01:00:00:00:00:01" })
      list[5] = device("fifth", "p2", 5, 1)
      list[6] = device("sixth", "p2", 5, 1)
      assert.same({
         'devices[1] "right".bgp: not supported',
         'devices[0] "left".ethernets[0] "left.eth".connection.port_name: "p9" is no port of ports',
         'devices[2] "third".ethernets[0] "third.eth".connection: lag_name is not supported; use port_name',
         'devices[3] "fourth".ethernets[0] "fourth.eth".mac: 01:00:00:00:00:01 is no MAC of a station',
         'devices[5] "sixth".ethernets[0] "sixth.eth".ipv4_addresses[0] "sixth.v4".address: 1.1.1.5 is the address of devices[4] "fifth".ethernets[0] "fifth.eth".ipv4_addresses[0] "fifth.v4"',
         'devices[5] "sixth".ethernets[0] "sixth.eth".ipv6_addresses[0] "sixth.v6".address: 2001:2::5 is the address of devices[4] "fifth".ethernets[0] "fifth.eth".ipv6_addresses[0] "fifth.v6"',
      }, errors_of(list))
      assert.same({
         'flows[0] "f1".tx_rx.device.rx_names[0]: "nobody" is no Ethernet, IPv4 or IPv6 interface of a device',
         'flows[1] "f2".tx_rx.device: one_to_one needs as many rx_names as tx_names: 1 and 2',
         'flows[2] "f3".tx_rx.device.rx_names: some are behind port "p1", others are not; a bidirectional flow needs all behind one',
         'flows[3] "f4".tx_rx.device.tx_names[1]: is behind port "p2", others behind "p1"; use a flow for each port',
      }, errors_of(both(), {
         flow("f1", { tx_names = { "left.v4" }, rx_names = { "nobody" } }),
         flow("f2", { mode = "one_to_one", tx_names = { "left.v4" }, rx_names = { "right.v4", "right.v6" } }),
         flow("f3", { tx_names = { "left.v4" }, rx_names = { "right.v4", "left.v6" },
            bidirectional = true }),
         flow("f4", { tx_names = { "left.v4", "right.v4" }, rx_names = { "right.v4" } }),
      }))
   end)
end)
