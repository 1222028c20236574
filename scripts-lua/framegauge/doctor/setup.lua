-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge setup`: hand a network card to DPDK, or back to the kernel.
--
-- What carries the default route is never touched, nor what shares an IOMMU group with something that is in
-- use. A card keeps its driver when the command has ended; a command that is broken off in the middle gives
-- the card back. The driver is vfio-pci, which needs an IOMMU or its no-IOMMU mode; many kernels (Debian's
-- too) are built without that mode, and then uio_pci_generic serves.
local Machine = require "framegauge.core.machine"
local network = require "framegauge.doctor.network"
local pci_driver = require "framegauge.core.pci_driver"
local undo = require "framegauge.core.undo"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_USAGE, ENVIRONMENT = 2, 4
local PCI = pci_driver.FOLDER
local VFIO, UIO = "vfio-pci", "uio_pci_generic"
local OF_DPDK = { [VFIO] = true, [UIO] = true, igb_uio = true, pcieport = true }

local function refuse(status, ...)
   user_error.raise("setup", status, ...)
end

local function known(cards)
   local names = {}
   for i, card in ipairs(cards) do
      names[i] = card.address .. (card.names[1] and " (" .. card.names[1] .. ")" or "")
   end
   return names[1] and table.concat(names, ", ") or "none on the PCI bus"
end

-- The card that is meant, by its PCI address (the domain may be left out) or by its interface.
local function find(machine, target)
   local cards = network.list(machine)
   for _, card in ipairs(cards) do
      if card.address == target or card.address == "0000:" .. target then
         return card
      end
      for _, name in ipairs(card.names) do
         if name == target then
            return card
         end
      end
   end
   refuse(BAD_USAGE, "there is no network card '%s'; there are: %s", target, known(cards))
end

local function check_unused(card)
   if card.used then
      refuse(BAD_USAGE, "%s (%s) carries the default route: it is never changed", card.address,
         table.concat(card.names, " "))
   end
end

-- With an IOMMU a card can be handed over only together with the others of its group.
local function check_group(machine, card)
   for _, address in ipairs(machine:list(PCI .. card.address .. "/iommu_group/devices")) do
      local driver = machine:link_name(PCI .. address .. "/driver")
      if address ~= card.address and driver and not OF_DPDK[driver] then
         refuse(ENVIRONMENT, "%s shares its IOMMU group with %s, which %s drives: DPDK can have them only together", card.address, address, driver)
      end
   end
end

-- Until it returns, an end of the process gives the card the driver again that it had.
local function change_driver(machine, card, override)
   local step = undo.group():step("driver", pci_driver.state(machine, card.address))
   local driver, message = pci_driver.change(machine, card.address, override)
   if message then
      refuse(ENVIRONMENT, "%s%s", message, message:find("^E[AP]") and "; this needs root" or "")
   end
   step:forget()
   return driver
end

local function choose_driver(machine, card)
   local driver = network.protected(machine, card.address) and VFIO or UIO
   if not machine:exists("/sys/bus/pci/drivers/" .. driver) then
      refuse(ENVIRONMENT, "the driver %s is not loaded: modprobe %s%s", driver, driver,
         driver == UIO and " (there is no IOMMU for vfio-pci; switched on, it would keep wrong addresses of the card from overwriting memory)" or "")
   end
   return driver
end

--- Hand a card to DPDK.
-- @param machine  framegauge.core.machine
-- @param target   PCI address or interface
-- @return a sentence. What keeps it from being done is raised.
function M.bind(machine, target)
   local card = find(machine, target)
   check_unused(card)
   local wanted = choose_driver(machine, card)
   if card.driver == wanted then
      return ("%s has the driver %s already"):format(card.address, wanted)
   end
   check_group(machine, card)
   if change_driver(machine, card, wanted) ~= wanted then
      local driver = change_driver(machine, card, "")
      refuse(ENVIRONMENT, "%s did not take the driver %s and has %s again; 'dmesg' may say why", card.address,
         wanted, driver or "none")
   end
   return ("%s: driver %s instead of %s; in a plan: device \"%s\""):format(card.address, wanted,
      card.driver or "none", card.address)
end

--- Give a card back to the kernel's own driver.
function M.unbind(machine, target)
   local card = find(machine, target)
   check_unused(card)
   local driver = change_driver(machine, card, "")
   return ("%s: driver %s instead of %s"):format(card.address, driver or "none", card.driver or "none")
end

function M.main(_, options)
   local machine = Machine.at("")
   if not options.bind[1] and not options.unbind[1] then
      for _, row in ipairs(network.cards(machine)) do
         print(("%s  %s\n              %s"):format(row.topic, row.finding, row.use or ""))
      end
      return 0
   end
   for _, target in ipairs(options.bind) do
      print(M.bind(machine, target))
   end
   for _, target in ipairs(options.unbind) do
      print(M.unbind(machine, target))
   end
   return 0
end

return M
