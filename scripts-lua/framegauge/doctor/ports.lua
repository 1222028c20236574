-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: the ports of a plan, opened. Nothing is sent: each is asked for its link, its module, the slot it
-- is in, and what its driver can do; what a driver is known not to do stands below.
local finding = require "framegauge.doctor.finding"
local card = require "framegauge.tester.card"
local host = require "framegauge.tester.host"
local placement = require "framegauge.tester.placement"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local HOT = 70 -- degrees Celsius: the most that commercial SFP modules are made for

-- What drivers turned out to do, each seen on the model of the card with DPDK 22.11 (docs/explanation/
-- 82599-model.md); its tests fail when a newer driver does better.
local FINDINGS = {
   net_ixgbe = {
      {
         state = "warning", finding = "this build of DPDK's driver takes no transmit timestamps",
         effect = "IEEE 1588 and the card can stamp arrivals only; departures are stamped by the processor",
         fix = "a DPDK of one's own, compiled with -DRTE_LIBRTE_IEEE1588 (meson setup -Dc_args=...)",
      },
      {
         state = "ok", finding = "the driver accepts the action MARK of flow rules and reports no mark",
         use = "nothing to do: streams are told by the signature in each frame",
      },
      {
         state = "ok", finding = "the driver counts the frames of all queues for queue 0",
         use = "nothing to do: frames are counted by queue in the tester",
      },
      {
         state = "ok", finding = "the vector receive path returns nothing when asked for fewer than 4 frames",
         use = "nothing to do: 32 are asked for",
      },
      {
         state = "ok", finding = "the driver reports a bad UDP checksum as unknown",
         use = "nothing to do: checksums are verified in the tester",
      },
   },
}

-- In the order they are shown.
local ABILITIES = {
   { "rx_stamps", "receive timestamps" }, { "timesync", "IEEE 1588" }, { "launch_time", "launch times" },
   { "queue_rate_limit", "rate limit by queue" }, { "rss", "RSS" },
   { "flow_to_queue", "flow rules to a queue" }, { "rx_ip_checksum", "receive IPv4 checksum" },
   { "rx_udp_checksum", "receive UDP checksum" },
   { "tx_ip_checksum", "transmit IPv4 checksum" }, { "tx_udp_checksum", "transmit UDP checksum" },
   { "exact_counters", "counters held against ours" },
}

local function abilities(driver, has_module)
   local can, cannot = {}, {}
   for _, one in ipairs(ABILITIES) do
      table.insert(driver[one[1]] and can or cannot, one[2])
   end
   table.insert(has_module and can or cannot, "module data")
   return { "can: " .. table.concat(can, ", "),
      cannot[1] and "cannot, by this driver on this port: " .. table.concat(cannot, ", ") }
end

local function link_text(about)
   local speed = about.speed_mbps > 0 and units.format_bits(about.speed_mbps * 1e6) or "of no known speed"
   return about.link_up and ("link up, %s, %s duplex"):format(speed, about.duplex) or "link down"
end

local function dbm(mw)
   return mw > 0 and ("%.1f dBm"):format(10 * math.log10(mw)) or "no light"
end

local function module_row(name, module)
   local text = ("%s %s, %s %s"):format(module.type, module.media, module.vendor, module.part)
   if module.temperature_c then
      text = text .. (", %.1f °C"):format(module.temperature_c)
   end
   if module.rx_power_mw then
      text = text .. (", sends %s, receives %s"):format(dbm(module.tx_power_mw), dbm(module.rx_power_mw))
   end
   if (module.temperature_c or 0) > HOT then
      return finding.warning(name, text, ("above %d °C modules send errors, and age"):format(HOT),
         "more air through the machine")
   end
   return finding.ok(name, text)
end

-- @param needed  Gbit/s of all ports of the card that the plan has
local function slot_row(name, slot, needed)
   local text = ("PCIe x%d at %g GT/s carries %g Gbit/s each way in packets of 128 bytes; the card's ports need %g"):format(slot.lanes, slot.gts, slot.gbps, needed)
   if needed <= slot.gbps then
      return finding.ok(name, text)
   end
   return finding.warning(name, text,
      "frames are lost in the card, and count as missed: no trial at line rate is the device's",
      slot.lanes < slot.lanes_max and "use a slot with all lanes, or check the firmware's settings of the slot" or "use ports of different cards")
end

--- Rows of one port.
-- @param port   as tester.card describes it
-- @param about  as tester.card.about tells it; nil: it has no driver that could
-- @param o.needed  Gbit/s that all ports of its card need
-- @param o.notes   on where its lcores are
function M.rows(port, about, o)
   local line = { port.driver, port.mode, about and link_text(about) }
   line[#line + 1] = port.numa >= 0 and ("NUMA node %d"):format(port.numa) or nil
   if about and about.driver.rx_path ~= "" then
      line[#line + 1] = ("receives by %s, sends by %s"):format(about.driver.rx_path, about.driver.tx_path)
   end
   local rows = { finding.ok(port.name, table.concat(line, ", ")) }
   for _, note in ipairs(o.notes or {}) do
      rows[#rows + 1] = finding.warning(port.name, note, "fewer frames per second, more latency",
         "host.lcores: CPUs of the node of the card")
   end
   if not about then
      return rows
   elseif about.duplex == "half" then
      rows[#rows + 1] = finding.warning(port.name, "the link is half duplex",
         "frames collide: nothing that is measured is the device's",
         "switch autonegotiation on at both ends")
   end
   local can = abilities(about.driver, about.module ~= nil)
   rows[#rows + 1] = finding.ok(port.name, can[1], nil, nil, can[2])
   rows[#rows + 1] = about.module and module_row(port.name, about.module) or nil
   rows[#rows + 1] = port.pcie and slot_row(port.name, port.pcie, o.needed) or nil
   for _, one in ipairs(FINDINGS[port.driver] or {}) do
      rows[#rows + 1] = setmetatable({ topic = port.name }, { __index = one })
   end
   return rows
end

-- Gbit/s of all ports that are functions of the same card.
local function needs(ports)
   local sums = {}
   for _, port in ipairs(ports) do
      local slot = (card.address_of(port.device) or port.device):gsub("%.%x$", "")
      sums[slot] = (sums[slot] or 0) + (port.line_rate or 0) / 1e9
   end
   return function(port)
      return sums[(card.address_of(port.device) or port.device):gsub("%.%x$", "")]
   end
end

local function examine_open(plan, handles)
   local ports, abouts, rows = {}, {}, {}
   for i, handle in ipairs(handles) do
      abouts[i] = card.about(handle) or false
      ports[i] = card.describe(plan.ports[i], handle, abouts[i])
   end
   local needed = needs(ports)
   local _, _, notes = placement.place(ports, false, plan.needs.one_lcore_a_port)
   for i, port in ipairs(ports) do
      tables.append(rows, M.rows(port, abouts[i] or nil, { needed = needed(port), notes = notes[i] }))
   end
   return rows
end

--- Open the ports of a plan, ask them, and close them.
-- @return list of rows
function M.examine(plan)
   if plan.reference_device then
      return { finding.ok("ports", "of the virtual wire: there is nothing to ask") }
   end
   local handles = {}
   local opened, problem = pcall(function()
      host.start(plan)
      host.open(handles, plan.ports, tables.max(plan.needs.frame_sizes))
   end)
   local ok, rows = pcall(examine_open, plan, handles)
   host.close(handles)
   if not ok then
      error(rows, 0)
   elseif not opened then
      rows[#rows + 1] = finding.problem("ports", tostring(problem))
   end
   return rows
end

return M
