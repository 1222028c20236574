-- SPDX-License-Identifier: BSD-3-Clause

-- Metrics of an Open Traffic Generator flow by the values that bits of its frames have on arrival.
local job = require "framegauge.core.job"
local schema = require "framegauge.services.otg.schema"
local Served = require "otg_served"
local tables = require "framegauge.core.tables"

local ALL = "ff:ff:ff:ff:ff:ff" -- goes to all ports
local FRAMES = 60

describe("an Open Traffic Generator flow told apart by its headers", function()
   local served

   setup(function()
      served = Served.open_switch()
   end)
   teardown(function()
      served:close()
   end)

   local ETHERNET = { ethernet = { src = { value = "00:00:01:01:01:01" }, dst = { value = ALL } } }

   local function flow(name, packet, more)
      local one = Served.flow(name, more)
      one.size, one.duration = { fixed = 200 }, one.duration.continuous and one.duration
         or { fixed_packets = { packets = FRAMES } }
      one.packet = { ETHERNET, unpack(packet) }
      return one
   end

   local function set(flows)
      local value = Served.switch_configuration(flows)
      value.layer1 = { { name = "l", port_names = { "p1" }, speed = "speed_1_gbps" } }
      served:must("POST /config", value)
   end

   local function rows(request, names)
      return served:must("POST /monitor/metrics", {
         flow = { flow_names = names, tagged_metrics = request },
      }).flow_metrics
   end

   -- The tagged metrics of the first flow: text of tags and frames received, and some figure more.
   local function tagged(key, request)
      return tables.map(rows(request)[1].tagged_metrics, function(one)
         local tags = tables.map(one.tags, function(tag)
            return ("%s=%s"):format(tag.name, tag.value[tag.value.choice])
         end)
         return ("%s: %s"):format(table.concat(tags, " "), tonumber(one[key or "frames_rx"]))
      end)
   end

   local function ip(class)
      return { ipv4 = { priority = class } }
   end

   it("has the counts of each value, in their order, at each port where it is asked for", function()
      local class = { dscp = { phb = { values = { 46, 10, 46 }, metric_tags = { { name = "dscp" } } } } }
      local one = flow("f1", { ip(class), { udp = {} } }, { egress_packet = { ETHERNET, ip(class) } })
      one.metrics = { enable = true, latency = { enable = true }, timestamps = true }
      set { one }
      served:transmit "start"
      served:await "f1"
      assert.same({ "dscp=0a: 20", "dscp=2e: 40" }, tagged())
      assert.same({ "dscp=0a: 4000", "dscp=2e: 8000" }, tagged "bytes_rx")
      assert.same({ "dscp=0a: 60", "dscp=2e: 60" }, tagged "frames_tx")
      local first = rows()[1].tagged_metrics[1]
      assert.equal(10000, math.floor(first.latency.minimum_ns / 10) * 10)
      assert.is_true(first.timestamps.first_timestamp_ns > 0.001e9) -- the second frame
      assert.is_true(first.timestamps.last_timestamp_ns > first.timestamps.first_timestamp_ns)
      assert.same({ "dscp=2e: 40" }, tagged(nil, { filters = { { name = "dscp", values = { "0x2E" } } } }))
      assert.same({ "dscp=0a: 20", "dscp=2e: 40" }, tagged(nil, { filters = { { name = "dscp" } } }))

      one.tx_rx.port.rx_names = { "p2", "p3" }
      one.metrics.predefined_metric_tags = { rx_name = true }
      set { one }
      served:transmit "start"
      served:await "f1"
      assert.same({ "rx_name=p2 dscp=0a: 20", "rx_name=p2 dscp=2e: 40", "rx_name=p3 dscp=0a: 20",
         "rx_name=p3 dscp=2e: 40" }, tagged())
   end)

   it("has one row more for values that are too many, and no row of a tag that the flow does not have", function()
      local ports = { increment = { start = 1, step = 1, count = 1100 } }
      ports = { udp = { dst_port = { increment = ports.increment, metric_tags = { { name = "to" } } } } }
      local class = { dscp = { phb = { value = 46, metric_tags = { { name = "dscp" } } } } }
      local one = flow("f1", { { ipv4 = {} }, ports }, { rate = { pps = 20000 } })
      one.duration.fixed_packets.packets = 1110
      one.metrics = { enable = true, latency = { enable = true }, timestamps = true }
      set { one, flow("f2", { ip(class) }) }
      served:transmit("start", { "f1" })
      served:await "f1"
      local list = rows()[1].tagged_metrics
      assert.equal(1025, #list)
      local last = list[1025]
      assert.same({ {}, "76", "15200" }, { last.tags, last.frames_rx, last.bytes_rx })
      assert.equal(10000, math.floor(last.latency.minimum_ns / 10) * 10)
      assert.is_true(last.timestamps.last_timestamp_ns > list[1].timestamps.first_timestamp_ns)
      assert.same({ "to=0001: 2" }, tagged(nil, { filters = { { name = "to", values = { "1" } } } }))
      assert.same({}, tagged(nil, { filters = { { name = "dscp", values = { "2e" } } } }))
      assert.same({}, tagged(nil, { filters = { { name = "rx_name", values = { "p2" } } } }))
   end)

   it("reads several tags, parts of fields, and bytes of custom headers", function()
      local packet = {
         { vlan = { id = { increment = { start = 0x7ff, step = 1, count = 2 },
            metric_tags = { { name = "high", length = 2 }, { name = "low", offset = 8, length = 4 } } } } },
         { custom = { bytes = "00 a5 00", metric_tags = { { name = "nibble", offset = 12, length = 4 } } } },
      }
      set { flow("f1", packet) }
      served:transmit "start"
      served:await "f1"
      assert.same({ "high=1 low=f nibble=5: 30", "high=2 low=0 nibble=5: 30" }, tagged())
   end)

   it("goes on where a flow gets another size, and begins anew where it is started again", function()
      local packet = { { ipv4 = { src = { values = { "1.1.1.1", "1.1.1.2" },
         metric_tags = { { name = "host", offset = 24, length = 8 } } } } } }
      local one = flow("f1", packet, { duration = { continuous = {} }, rate = { pps = 2000 } })
      set { one, flow("f2", packet) }
      served:transmit "start"
      local function received()
         local sum = 0
         for _, row in ipairs(rows()[1].tagged_metrics) do
            sum = sum + tonumber(row.frames_rx)
         end
         return sum
      end
      repeat job.sleep(0.02) until received() > 40
      one.size = { fixed = 512 }
      served:must("PATCH /config", { flows = { property_names = { "size" }, flows = { one } } })
      local before = received()
      repeat job.sleep(0.02) until received() > before + 40
      served:transmit("stop", { "f1" })
      local row = rows()[1]
      assert.equal(tonumber(row.frames_rx), received())
      local one_half = tonumber(row.tagged_metrics[1].frames_rx) - tonumber(row.tagged_metrics[2].frames_rx)
      assert.is_true(math.abs(one_half) <= 1, one_half)
      assert.equal(tonumber(row.bytes_rx), tonumber(row.tagged_metrics[1].bytes_rx)
         + tonumber(row.tagged_metrics[2].bytes_rx))
      served:transmit("start", { "f2" })
      served:await "f2"
      assert.same({ "30", "30" }, tables.field(rows(nil, { "f2" })[1].tagged_metrics, "frames_rx"))
   end)

   -- All fields of a header that may have a tag, each as the name of the field and its bits.
   local function each_field(name, visit)
      for _, field in ipairs(schema.message(name)) do
         local def = field.kind == "message" and schema.message(field.type)
         local bits = def and def.by_name.metric_tags
            and (def.bits or ({ mac = 48, ipv4 = 32, ipv6 = 128 })[def.pattern])
         if bits then
            visit(field.name, def.pattern, field.name == "fragment_offset" and 13 or math.min(bits, 32))
         end
      end
   end

   it("finds every field of every header", function()
      local VALUES = { mac = { "02:00:00:5a:a5:5b", "02:00:00" }, ipv4 = { "90.165.91.3", "5aa55b03" },
         ipv6 = { "5aa5:5b03::1", "5aa55b03" } }
      local flows, expected = {}, {}
      for _, header in ipairs(schema.message "FlowHeader") do
         local kind, message = header.name, header.type
         if message and schema.message(message) and kind ~= "pfcpause" and kind ~= "ethernetpause" then
            each_field(message, function(field, format, bits)
               if field == "pfc_queue" or kind == "ethernet" and field == "dst" then
                  return
               end
               local number = 0x5aa55b03 % 2 ^ (field == "fragment_offset" and 5 or bits) -- as the API has it
               local value = VALUES[format] and VALUES[format][1] or number
               local digits = VALUES[format] and VALUES[format][2] or ("%0" .. math.ceil(bits / 4) .. "x"):format(
                  number)
               digits = format == "mac" and "0200005a" or digits
               local one = { [field] = { value = value, metric_tags = { { name = "t", length = bits } } } }
               if kind == "gre" and field ~= "checksum_present" and field ~= "reserved0" then
                  one.checksum_present = { value = 1 }
               elseif kind == "gre" and field == "reserved0" then
                  return -- a constant is refused
               elseif kind == "gtpv1" and (field:find "number$" or field:find "^next") then
                  one.e_flag = { value = 1 } -- else they are not there
               end
               local name = kind .. "." .. field
               local rest = kind == "ethernet" and {} or { { [kind] = one } }
               flows[#flows + 1] = flow(name, rest, { rate = { pps = 200 },
                  duration = { fixed_packets = { packets = 2 } } })
               flows[#flows].duration = { fixed_packets = { packets = 2 } }
               if kind == "ethernet" then
                  one.dst = ETHERNET.ethernet.dst
                  flows[#flows].packet = { { ethernet = one } }
               end
               expected[name] = digits .. " 2"
            end)
         end
      end
      assert.is_true(#flows > 60, #flows)
      set(flows)
      served:transmit "start"
      served:await(flows[#flows].name)
      job.sleep(0.2)
      local found = {}
      for _, row in ipairs(rows()) do
         local one = row.tagged_metrics[1]
         found[row.name] = one and ("%s %s"):format(one.tags[1].value.hex, one.frames_rx) or "nothing"
      end
      assert.same(expected, found)
   end)

   it("is refused where that cannot be, with the path of each place", function()
      local function refused(packet, metrics)
         local one = flow("f1", packet)
         one.metrics = metrics or one.metrics
         local status, answer = served:ask("POST /config", Served.configuration { one })
         assert.equal(400, status)
         return answer.errors
      end
      local function source(...)
         return { { ipv4 = { src = { metric_tags = { ... } } } } }
      end
      local PATH = 'flows[0] "f1".packet[1].ipv4.src.metric_tags[0] "a"'
      assert.same({ PATH .. ": offset 8 and length 25 do not fit the field's 32 bits" },
         refused(source { name = "a", offset = 8, length = 25 }))
      assert.same({ PATH .. ": needs metrics.enable" }, refused(source { name = "a" }, { enable = false }))
      assert.same({ 'flows[0] "f1".packet[1].ipv4.src.metric_tags[1] "a".name: is taken by ' .. PATH },
         refused(source({ name = "a", length = 1 }, { name = "a", length = 1 })))
      assert.same({ 'flows[0] "f1".packet[1].ipv4.src.metric_tags[0] "rx_name".name: is taken by metrics.predefined_metric_tags' },
         refused(source { name = "rx_name" }))
      assert.same({ 'flows[0] "f1".packet[1].ipv6.src.metric_tags[0] "a".length: 128 bits; at most 32, which offset and length choose' },
         refused { { ipv6 = { src = { metric_tags = { { name = "a" } } } } } })
      assert.same({ 'flows[0] "f1".packet[1].ipv4.src.metric_tags[2] "c": 3 tags with 65 bits; at most 8 with 64' },
         refused(source({ name = "a" }, { name = "b" }, { name = "c", length = 1 })))
      assert.same({ 'flows[0] "f1".packet[1].ipv4.src.metric_tags[0].name: is required' }, refused(source {}))
   end)

   it("is not started while flows without tags run", function()
      local packet = { { ipv4 = { src = { metric_tags = { { name = "a" } } } } } }
      set { flow("f1", {}, { duration = { continuous = {} } }) }
      served:transmit "start"
      served:must("PATCH /config/append", { config_append_list = { { flows = { flow("f2", packet) } } } })
      local status, answer = served:ask("POST /control/state", { traffic = { flow_transmit = { state = "start",
         flow_names = { "f2" } } } })
      assert.same({ 400, { 'config_append_list.flows[0] "f2": its metric tags were added while others run; it can start when these have stopped' } },
         { status, answer.errors })
      served:transmit "stop"
      served:transmit("start", { "f2" })
      served:await "f2"
      assert.same({ "60" }, tables.field(rows(nil, { "f2" })[1].tagged_metrics, "frames_rx"))
   end)
end)
