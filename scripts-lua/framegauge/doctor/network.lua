-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: network cards, their drivers, and how to bind one to DPDK.
local finding = require "framegauge.doctor.finding"
local cards = require "framegauge.tester.card"
local tables = require "framegauge.core.tables"

local M = {}

local PCI = "/sys/bus/pci/devices"
local NET = "/sys/class/net"
local CAP_NET_ADMIN, CAP_NET_RAW = 12, 13

-- Kernel drivers of cards that DPDK's Debian packages drive as well; mlx ones keep the kernel's, too.
local DPDK_TOO = {
   atlantic = true, bnx2x = true, bnxt_en = true, cxgb4 = true, e1000 = true, e1000e = true, ena = true,
   enic = true, fm10k = true, hinic = true, i40e = true, iavf = true, ice = true, igb = true, igc = true,
   ixgbe = true, ixgbevf = true, nfp = true, qede = true, sfc = true, virtio_net = true, vmxnet3 = true,
}
local BESIDE_KERNEL = { mlx4_core = true, mlx5_core = true }
-- Kernel drivers whose AF_XDP copies nothing, and those without XDP of their own, where the kernel does not
-- tell.
local ZERO_COPY = { bnxt_en = true, gve = true, i40e = true, ice = true, idpf = true, igb = true, igc = true,
   ixgbe = true, mlx5_core = true, virtio_net = true }
local NO_XDP = { be2net = true }
local XDP = {
   ["zero copy"] = "AF_XDP, zero copy", native = "AF_XDP in the driver, with copying",
   none = "AF_XDP on socket buffers: %s has no XDP of its own",
}
local OF_DPDK = { ["vfio-pci"] = true, uio_pci_generic = true, igb_uio = true }

-- Adds an interface and everything it stands on (the ports of a bridge, a bond, a VLAN) to a set.
local function add_with_lower(machine, set, name)
   if set[name] then
      return
   end
   set[name] = true
   for _, entry in ipairs(machine:list(NET .. "/" .. name)) do
      local lower = entry:match("^lower_(.+)$")
      if lower then
         add_with_lower(machine, set, lower)
      end
   end
   for _, port in ipairs(machine:list(NET .. "/" .. name .. "/brif")) do
      add_with_lower(machine, set, port)
   end
end

-- Interfaces the default routes leave by, IPv4 and IPv6.
local function in_use(machine)
   local set = {}
   for line in (machine:read("/proc/net/route") or ""):gmatch("[^\n]+") do
      local name, destination, mask = line:match("^(%S+)%s+(%x+)%s+%x+%s+%x+%s+%S+%s+%S+%s+%S+%s+(%x+)")
      if destination == "00000000" and mask == "00000000" then
         add_with_lower(machine, set, name)
      end
   end
   for line in (machine:read("/proc/net/ipv6_route") or ""):gmatch("[^\n]+") do
      local destination, name = line:match("^(%x+ %x+) .*%s(%S+)$")
      if destination == ("0"):rep(32) .. " 00" and name ~= "lo" then
         add_with_lower(machine, set, name)
      end
   end
   return set
end

-- The interfaces of a PCI device: net/ lies below it, or below its virtio child.
local function interfaces_of(machine, address)
   local names = machine:list(PCI .. "/" .. address .. "/net")
   for _, child in ipairs(machine:list(PCI .. "/" .. address)) do
      if child:match("^virtio%d+$") then
         tables.append(names, machine:list(PCI .. "/" .. address .. "/" .. child .. "/net"))
      end
   end
   return names
end

-- Driver of a PCI device; for a virtio card the one of its virtio child, which tells more than "virtio-pci".
local function driver_of(machine, address)
   for _, child in ipairs(machine:list(PCI .. "/" .. address)) do
      if child:match("^virtio%d+$") then
         return machine:link_name(PCI .. "/" .. address .. "/" .. child .. "/driver")
      end
   end
   return machine:link_name(PCI .. "/" .. address .. "/driver")
end

-- What AF_XDP is on an interface: as the kernel tells (since 6.3), else by its driver.
local function af_xdp_of(machine, name, driver)
   local known = machine:interface(name) or {}
   driver = driver or known.driver ~= "" and known.driver or name
   if known.xdp then
      return XDP[known.xdp]:format(driver)
   elseif ZERO_COPY[driver] then
      return "AF_XDP, zero-copy in newer kernels"
   end
   return NO_XDP[driver] and XDP.none:format(driver) or "AF_XDP with copying"
end

local function how_to_use(machine, card)
   local kernel = card.names[1]
      and ("kernel:%s (%s)"):format(card.names[1], af_xdp_of(machine, card.names[1], card.driver))
   if OF_DPDK[card.driver] then
      return "ready for DPDK: device " .. card.address
   elseif BESIDE_KERNEL[card.driver] then
      return ("device %s (DPDK works with this driver) or %s"):format(card.address, kernel or "none")
   elseif not card.driver then
      return ("no driver; for DPDK: framegauge setup --bind %s"):format(card.address)
   elseif not kernel then
      return "no interface"
   elseif DPDK_TOO[card.driver] then
      return ("%s; for DPDK: framegauge setup --bind %s"):format(kernel, card.address)
   end
   return kernel .. "; DPDK has no driver for it. Rate to expect: framegauge doctor PLAN.yaml --measure"
end

--- The network cards on the PCI bus.
-- @return list of { address =, driver = or nil, names = of its interfaces, node = of NUMA, used = whether the
--         default route leaves through it }
function M.list(machine)
   local list, used = {}, in_use(machine)
   for _, address in ipairs(machine:list(PCI)) do
      if (machine:read(PCI .. "/" .. address .. "/class") or ""):match("^0x02") then
         local card = {
            address = address,
            driver = driver_of(machine, address),
            names = interfaces_of(machine, address),
            node = tonumber(machine:read(PCI .. "/" .. address .. "/numa_node")) or -1,
         }
         for _, name in ipairs(card.names) do
            card.used = card.used or used[name]
         end
         list[#list + 1] = card
      end
   end
   return list
end

function M.pcie(machine)
   local rows = {}
   for _, card in ipairs(M.list(machine)) do
      local slot = cards.slot(card.address, function(path) return machine:read(path) end)
      if slot and (slot.lanes < slot.lanes_max or slot.gts < slot.gts_max) then
         rows[#rows + 1] = finding.warning(card.address,
            ("PCIe x%d at %g GT/s, the card can x%d at %g GT/s"):format(slot.lanes, slot.gts, slot.lanes_max, slot.gts_max),
            ("%g Gbit/s each way instead of %g: with more the card loses frames"):format(slot.gbps, cards.pcie_gbps(slot.lanes_max, slot.gts_max)),
            "use a slot with all lanes, or check the firmware's settings of the slot")
      end
   end
   return rows
end

function M.cards(machine)
   local rows = {}
   for _, card in ipairs(M.list(machine)) do
      local about = table.concat(card.names, " ")
      about = about .. (about ~= "" and ", " or "") .. (card.driver or "no driver")
      about = about .. (card.node >= 0 and (", node %d"):format(card.node) or "")
      rows[#rows + 1] = finding.ok(card.address, about, nil, nil,
         card.used and "in use (default route): never changed" or how_to_use(machine, card))
   end
   if #rows == 0 then
      rows[1] = finding.ok("network cards", "none on the PCI bus; wireN, memif and pcap ports need none")
   end
   return rows
end

-- Interfaces without a PCI device: bridges, veth and other virtual ones.
function M.interfaces(machine)
   local used, names = in_use(machine), {}
   for _, name in ipairs(machine:list(NET)) do
      if name ~= "lo" and machine:exists(NET .. "/" .. name .. "/mtu")
         and not machine:exists(NET .. "/" .. name .. "/device") then
         local about = machine:interface(name)
         names[#names + 1] = name .. (used[name] and " (in use: never changed)"
            or about and (" (%s; %s)"):format(about.driver ~= "" and about.driver or "no driver",
               af_xdp_of(machine, name)) or "")
      end
   end
   if #names > 0 then
      return finding.ok("other interfaces", table.concat(names, ", "))
   end
end

--- Whether vfio-pci takes a card: it has an IOMMU, or vfio may do without.
-- @param address  of one card, or nil for the machine
function M.protected(machine, address)
   local unsafe = machine:read "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
   if unsafe == "Y" then
      return true
   elseif address then
      return machine:exists(PCI .. "/" .. address .. "/iommu_group")
   end
   return #machine:list "/sys/kernel/iommu_groups" > 0
end

function M.iommu(machine)
   local groups = #machine:list("/sys/kernel/iommu_groups")
   if groups > 0 then
      return finding.ok("IOMMU", ("on, %d groups"):format(groups))
   end
   return finding.warning("IOMMU", "off",
      "PCI ports then need uio_pci_generic and huge pages: a wrong address can overwrite any memory",
      "VT-d or AMD-Vi in the firmware, kernel arguments intel_iommu=on iommu=pt, then reboot")
end

function M.card_driver(machine)
   local driver = M.protected(machine) and "vfio-pci" or "uio_pci_generic"
   if machine:exists("/sys/bus/pci/drivers/" .. driver) then
      return finding.ok("driver for DPDK", driver .. " is loaded")
   end
   return finding.warning("driver for DPDK", driver .. " is not loaded",
      "PCI ports of most cards cannot be opened", "modprobe " .. driver)
end

function M.af_xdp(machine)
   if ("\n" .. (machine:read("/proc/net/protocols") or "")):find("\nXDP ", 1, true) then
      return finding.ok("AF_XDP", "supported by the kernel")
   end
   return finding.warning("AF_XDP", "not supported by the kernel",
      "kernel ports use AF_PACKET, which is slower",
      "boot a kernel with CONFIG_XDP_SOCKETS=y (every Debian kernel has it)")
end

function M.permission(machine)
   local caps = tonumber((machine:field("/proc/self/status", "CapEff") or "0"):sub(-8), 16)
   local function has(cap)
      return math.floor(caps / 2 ^ cap) % 2 == 1
   end
   if has(CAP_NET_ADMIN) and has(CAP_NET_RAW) then
      return finding.ok("permission", "may open kernel ports")
   end
   return finding.warning("permission", "may not open kernel and PCI ports",
      "only wireN, memif, pcap and vdev ports open", "sudo framegauge ...")
end

--- In the order they are shown.
M.checks = { M.permission, M.iommu, M.card_driver, M.af_xdp, M.cards, M.pcie, M.interfaces }

return M
