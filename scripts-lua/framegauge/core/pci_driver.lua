-- SPDX-License-Identifier: BSD-3-Clause

--- The driver of a card on the PCI bus: driver_override says which one it may have, then the card is taken
-- from the one it has and the bus is asked to look again.
local M = {}

M.FOLDER = "/sys/bus/pci/devices/"

local NO_OVERRIDE = "(null)"

--- What a card has now, for the journal of framegauge.core.undo: override is nil where the card is there no
-- more. The tests have a machine that is a folder.
function M.state(machine, card)
   local override = machine:read(M.FOLDER .. card .. "/driver_override")
   return {
      root = machine.root, card = card, driver = machine:link_name(M.FOLDER .. card .. "/driver"),
      override = override == NO_OVERRIDE and "" or override,
   }
end

--- Have a card driven by another driver.
-- @param override  its name; "": the kernel's own
-- @return the driver it has then, or nil; and what could not be written
function M.change(machine, card, override)
   local folder = M.FOLDER .. card
   local ok, why = machine:write(folder .. "/driver_override", override .. "\n")
   if ok and machine:link_name(folder .. "/driver") then
      ok, why = machine:write(folder .. "/driver/unbind", card)
   end
   if ok then
      ok, why = machine:write("/sys/bus/pci/drivers_probe", card)
   end
   return machine:link_name(folder .. "/driver"), not ok and why or nil
end

return M
