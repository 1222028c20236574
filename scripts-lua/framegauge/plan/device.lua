-- SPDX-License-Identifier: BSD-3-Clause

--- The names of devices, as a plan writes them.
--
-- Only the form is checked here, so that a plan can be checked on any machine; whether the device exists
-- shows when its port is opened.
local M = {}

--- The forms there are, for messages.
M.expected = "wireN, kernel:IF, memif:PATH, pcap:FILE, a PCI address or vdev:STRING"

-- As much as an open port keeps (struct fg_port), an interface's name (IFNAMSIZ) and a socket's path
-- (sun_path).
local LONGEST, LONGEST_INTERFACE, LONGEST_SOCKET = 95, 15, 107

-- Drivers that move frames inside this process or to another program beside it.
local local_drivers = { net_null = true, eth_null = true, net_ring = true, eth_ring = true, net_memif = true }

-- The form of what follows each prefix.
local forms = {
   kernel = function(rest)
      local interface, mode = rest:match("^([^,]+)(.*)$")
      return interface and #interface <= LONGEST_INTERFACE and not interface:find("[%s/:]")
         and interface ~= "." and interface ~= ".."
         and (mode == "" or mode == ",af_xdp" or mode == ",af_packet")
   end,
   memif = function(rest)
      local socket, role = rest:match("^([^,]+)(.*)$")
      return socket and #socket <= LONGEST_SOCKET and not socket:find("[%s%[%]()\"']")
         and (role == "" or role == ",server")
   end,
   pcap = function(rest)
      return rest:find("^[^,]+,?[^,]*$") ~= nil or rest:find("^,[^,]+$") ~= nil
   end,
   vdev = function(rest)
      return rest:find("^%a") ~= nil
   end,
}

local function pci(text)
   local domain, bus, device, fn = text:match("^(%x+):(%x+):(%x+)%.([0-7])$")
   if not domain then
      domain, bus, device, fn = "0", text:match("^(%x+):(%x+)%.([0-7])$")
   end
   if not bus or #domain > 4 or #bus > 2 or #device > 2 or tonumber(device, 16) > 0x1f then
      return nil
   end
   return ("%04x:%02x:%02x.%s"):format(tonumber(domain, 16), tonumber(bus, 16), tonumber(device, 16), fn)
end

-- Whether a device reaches a network, and not only this process and programs beside it.
local function is_physical(kind, rest)
   if kind ~= "vdev" then
      return kind == "kernel"
   elseif rest:find("^net_pcap") then
      return rest:find("iface=", 1, true) ~= nil
   end
   return not local_drivers[rest:match("^%l+_%l+")]
end

--- Read the name of a device.
-- @return { name = canonical, kind = "wire", "kernel", "memif", "pcap", "pci" or "vdev", physical = bool };
-- nil when it is no device's name
function M.parse(text)
   if text:find("%c") or #text > LONGEST then
      return nil
   elseif text:find("^wire%d%d?$") then
      return { name = "wire" .. tonumber(text:sub(5)), kind = "wire", physical = false }
   end
   local address = pci(text)
   if address then
      return { name = address, kind = "pci", physical = true }
   end
   local kind, rest = text:match("^(%l+):(.*)$")
   if not forms[kind] or not forms[kind](rest) then
      return nil
   end
   return { name = text, kind = kind, physical = is_physical(kind, rest) }
end

return M
