-- SPDX-License-Identifier: BSD-3-Clause

-- LLDP of the Open Traffic Generator API on the reference device: who is a neighbour, what is refused.
local job = require "framegauge.core.job"
local Served = require "otg_served"

local function agent(name, port, more)
   return Served.with({ name = name, connection = { port_name = port } }, more)
end

describe("LLDP of an Open Traffic Generator configuration", function()
   local served

   setup(function()
      served = Served.open()
   end)
   teardown(function()
      served:close()
   end)

   local function configuration(agents, flows, more)
      return Served.configuration(flows or {}, Served.with({ lldp = agents }, more))
   end

   local function neighbours(request)
      return served:must("POST /monitor/states", {
         choice = "lldp_neighbors", lldp_neighbors = request or {},
      }).lldp_neighbors
   end

   local function await(n)
      for _ = 1, 3000 do
         if #neighbours() == n then
            break
         end
         job.sleep(0.02)
      end
      return neighbours()
   end

   local function counts(request)
      return served:must("POST /monitor/metrics", { choice = "lldp", lldp = request or {} }).lldp_metrics
   end

   it("finds the agent at the other end, also while flows run", function()
      served:must("POST /config", configuration({
         agent("l1", "p1", { chassis_id = { mac_address_subtype = { value = "02:00:00:00:00:01" } } }),
         agent("l2", "p2", { chassis_id = { interface_name_subtype = "chassis" }, hold_time = 60,
            port_id = { mac_address_subtype = "02-00-00-00-00-02" }, system_name = { value = "two" },
            org_infos = { { oui = "0x0012bb", subtype = 5, information = { info = "abc" } } } }),
      }, { Served.flow("f1", { duration = { continuous = {} } }) }))
      local rows = await(2)
      assert.same({ "l1", "chassis", "interface_name", "02:00:00:00:00:02", "mac_address", "two", 60 },
         { rows[1].lldp_name, rows[1].chassis_id, rows[1].chassis_id_type, rows[1].port_id,
            rows[1].port_id_type, rows[1].system_name, rows[1].ttl })
      assert.same({ { custom_type = 127, oui = "0012bb", oui_subtype = 5, information = "0abc" } },
         rows[1].custom_tlvs)
      assert.same({ "l2", "02:00:00:00:00:01", "mac_address", "wire0", "framegauge", 120 },
         { rows[2].lldp_name, rows[2].chassis_id, rows[2].chassis_id_type, rows[2].port_id,
            rows[2].system_name, rows[2].ttl })
      assert.same({ "l2" }, { neighbours({ lldp_names = { "l2" } })[1].lldp_name })
      assert.equal("l1", neighbours({ neighbor_id_filters = { rows[1].neighbor_id } })[1].lldp_name)
      assert.same({}, neighbours { neighbor_id_filters = { "x" } })

      served:transmit "start"
      served:must("POST /control/state", { protocol = { all = { state = "stop" } } })
      assert.same({}, neighbours())
      served:must("POST /control/state", { protocol = { all = { state = "start" } } })
      assert.equal(2, #await(2))
      served:transmit "stop"
      local row = served:row "f1"
      assert.equal(row.frames_tx, row.frames_rx)
      assert.same({ "0", "0", "0", "0" }, { counts()[1].frames_error_rx, counts()[1].frames_discard,
         counts()[1].tlvs_discard, counts()[1].tlvs_unknown })
      assert.is_true(tonumber(counts()[1].frames_tx) >= 3 and tonumber(counts()[2].frames_rx) >= 2)
      assert.same({ { name = "l2", frames_tx = counts()[2].frames_tx } },
         counts { lldp_names = { "l2" }, column_names = { "frames_tx" } })
   end)

   it("is silent where protocols are not started, and gone with its configuration", function()
      served:must("POST /config", configuration({ agent("l1", "p1"), agent("l2", "p2") }, {},
         { options = { protocol_options = { auto_start_all = false } } }))
      job.sleep(0.12)
      assert.same({ "0", "0" }, { counts()[1].frames_tx, counts()[2].frames_rx })
      served:must("POST /config", "{}")
      assert.same({}, counts())
   end)

   it("is refused with the path of each fault, and what was there stays", function()
      served:must("POST /config", configuration({ agent("l1", "p1"), agent("l2", "p2") }))
      await(2)
      local status, answer = served:ask("POST /config", configuration({
         agent("l1", "p9"), agent("l1", "p1"), agent("l3", "p1", { hold_time = 5 }),
         agent("l4", "p1", { port_id = { mac_address_subtype = "no" } }),
         agent("l5", "p1", { chassis_id = { choice = "local_subtype" } }),
         agent("l6", "p1", { org_infos = { { oui = "00" } } }),
         agent("l7", "p1", { system_name = { value = ("x"):rep(256) } }), agent("l8", "p1", { holdtime = 3 }),
      }))
      assert.equal(400, status)
      table.sort(answer.errors)
      for i, path in ipairs {
         'lldp[0] "l1".connection.port_name: "p9" is no port', 'lldp[1] "l1".name: is taken by lldp[0]',
         'lldp[2] "l3".hold_time: 5 is out of range',
         'lldp[3] "l4".port_id.mac_address_subtype: no is no MAC',
         'lldp[4] "l5".chassis_id.local_subtype: is missing',
         'lldp[5] "l6".org_infos[0].oui: 00 is not three',
         'lldp[6] "l7": a text of 256 bytes', 'lldp[7] "l8".holdtime: ',
      } do
         assert.equal(path, (answer.errors[i] or ""):sub(1, #path))
      end
      assert.is_nil(answer.errors[9])
      assert.equal(2, #neighbours())
      for _, key in ipairs { "lldp_names", "column_names" } do
         assert.equal(400, (served:ask("POST /monitor/metrics", { lldp = { [key] = { "x" } } })))
      end
      status, answer = served:ask("POST /monitor/states", { lldp_neighbors = { lldp_names = { "x" } } })
      assert.same({ 400, { 'lldp_neighbors.lldp_names[0]: "x" is no LLDP of the configuration' } },
         { status, answer.errors })
   end)
end)
