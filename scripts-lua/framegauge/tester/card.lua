-- SPDX-License-Identifier: BSD-3-Clause

--- The hardware of a port: its driver, link, optical module, and its PCI Express slot.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"
local octets = require "framegauge.core.octets"

local C = api.C
local M = {}

local PCI = "/sys/bus/pci/devices/"

-- The share of data in a lane's bits: 8 of 10 until 5 GT/s, then 128 of 130.
local function coding(gts)
   return gts > 5 and 128 / 130 or 8 / 10
end

-- A packet of 128 bytes of data (the least that every slot allows) has 24 bytes of header and framing.
local PACKET = 128 / (128 + 24)

--- Capacity of PCI Express lanes in each direction, Gbit/s of data in packets of 128 bytes.
-- @usage card.pcie_gbps(8, 5) --> 26.9
function M.pcie_gbps(lanes, gts)
   return math.floor(lanes * gts * coding(gts) * PACKET * 10) / 10
end

--- The slot of a PCI device by sysfs; nil where sysfs has no data.
-- @param address  0000:03:00.0
-- @param read     function(path): its first line or nil; default: of this machine
-- @return { lanes =, gts = now, lanes_max =, gts_max = maximum of the card, gbps = in each direction }
function M.slot(address, read)
   local function number(name)
      return tonumber(((read or named_file.read)(PCI .. address .. "/" .. name) or ""):match "^[%d.]+")
   end
   local slot = {
      lanes = number "current_link_width", gts = number "current_link_speed",
      lanes_max = number "max_link_width", gts_max = number "max_link_speed",
   }
   if slot.lanes and slot.lanes_max and slot.gts and slot.gts_max and slot.lanes > 0 then
      slot.gbps = M.pcie_gbps(slot.lanes, slot.gts)
      return slot
   end
end

-- The device of a PCI port with its domain; nil for any other.
local function address_of(device)
   local address = device:match "^%x+:%x+:%x+%.%x$" or device:match "^%x+:%x+%.%x$" and "0000:" .. device
   return address and address:lower()
end

local function module_of(module)
   return {
      type = ffi.string(module.type), media = ffi.string(module.media), vendor = ffi.string(module.vendor),
      part = ffi.string(module.part), serial = ffi.string(module.serial),
      temperature_c = module.has_temperature and math.floor(module.temperature_c * 10 + 0.5) / 10 or nil,
      tx_power_mw = module.has_power and module.tx_power_mw or nil,
      rx_power_mw = module.has_power and module.rx_power_mw or nil,
   }
end

--- The driver's data of a port; nil for a port without a driver.
-- @param handle  struct fg_port *
-- @return { link_up =, speed_mbps =, duplex = "full" or "half", module = or nil, driver = what it can do }
function M.about(handle)
   local out = ffi.new "struct fg_port_about"
   if C.fg_port_about(handle, out) ~= 0 then
      return nil
   end
   return {
      link_up = out.link_up, speed_mbps = out.speed_mbps,
      duplex = out.link_up and (out.full_duplex and "full" or "half") or nil,
      module = out.has_module and module_of(out.module) or nil,
      driver = {
         rx_path = ffi.string(out.rx_path),
         tx_path = ffi.string(out.tx_path), queues = out.max_queues, rss = out.rss,
         flow_to_queue = out.flow_to_queue, rx_ip_checksum = out.rx_ip_checksum,
         rx_udp_checksum = out.rx_udp_checksum, tx_ip_checksum = out.tx_ip_checksum,
         tx_udp_checksum = out.tx_udp_checksum, rx_stamps = handle.caps.offers_rx_timestamp,
         timesync = handle.caps.timesync, queue_rate_limit = handle.caps.queue_rate_limit,
         launch_time = handle.caps.offers_launch_time, exact_counters = handle.caps.exact_counters,
      },
   }
end

--- A port for the report: the driver's data, completed by the plan.
-- @param plan_port  of the plan
-- @param handle     struct fg_port *, open
-- @param known      result of about(), if there is one already
function M.describe(plan_port, handle, known)
   local caps, address = handle.caps, address_of(plan_port.device)
   local told = tonumber(caps.line_rate_bps)
   local rate = plan_port.line_rate or told
   -- at a rate that only the plan or a veth declares a frame takes no time
   local serial = caps.made_up_rate and 0 or told
   local about = known or address and M.about(handle) or {}
   return {
      name = plan_port.name,
      device = plan_port.device,
      driver = ffi.string(caps.driver),
      mode = ffi.string(caps.mode),
      line_rate = rate > 0 and rate or nil,
      serial_rate = serial > 0 and serial or nil,
      duplex = about.duplex,
      mac = plan_port.mac or octets.mac_text(ffi.string(caps.mac, 6)),
      numa = caps.numa_node,
      module = about.module,
      pcie = address and M.slot(address),
      queues = plan_port.queues,
      rx_ring = caps.rx_ring > 0 and caps.rx_ring * (plan_port.queues or 1) or nil,
      notes = {},
   }
end

--- Whether a port can send frames with an error on purpose (framegauge.traffic.faults).
-- @param handle  struct fg_port *, open
function M.can_send(handle, kind)
   local caps = handle.caps
   return kind == "runt" and caps.runts or kind == "fcs" and caps.bad_fcs_flag > 0
      or kind ~= "runt" and kind ~= "fcs"
end

M.address_of = address_of

return M
