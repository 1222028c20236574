-- SPDX-License-Identifier: BSD-3-Clause

--- The names of devices, as a plan writes them.
--
-- Only the form is checked, by the library that will open them, so that a plan can be checked on any machine;
-- whether the device exists shows when its port is opened.
local address = require "framegauge.plan.address"
local api = require "framegauge.core.api"
local ffi = require "ffi"

local M = {}

--- The forms there are, for messages.
M.expected = "wireN, kernel:IF, memif:PATH, pcap:FILE, a PCI address or vdev:STRING"

-- As much as an open port keeps (struct fg_port).
local LONGEST = 95

-- The port of an agent is opened there; here only its address counts.
local function agent_device(text)
   local expected = "agent:ADDRESS:PORT or agent:/PATH of its socket"
   if not address.of_service(text:sub(#"agent:" + 1)) then
      return nil, ("%q is not the address of an agent"):format(text), expected
   end
   return { name = text, id = text, kind = "agent", physical = false }
end

local physical = ffi.new("bool[1]")

-- What tells two devices apart: the modes of a kernel interface do not, nor do the forms of a PCI address.
local function identity(kind, text)
   if kind == "kernel" then
      return text:match("^[^,]*")
   elseif kind == "pci" then
      return (text:find(":.*:") and text or "0000:" .. text):lower()
   end
   return text
end

--- Read the name of a device.
-- @return { name = as it was written, id = what tells it from others, kind = "wire", "kernel", "memif",
-- "pcap", "pci" or "vdev", physical = whether it may reach a network }; or nil, what is wrong and what was
-- expected
function M.parse(text)
   local err = api.error()
   if #text > LONGEST then
      return nil, ("longer than %d characters"):format(LONGEST), M.expected
   elseif text:find "^agent:" then
      return agent_device(text)
   elseif text:find "^far:" then
      return nil, "far: is now agent:", (text:gsub("^far", "agent"))
   elseif api.C.fg_port_check_name(text, physical, err) ~= 0 then
      local wrong, expected = ffi.string(err.message):match("^(.-); expected (.*)$")
      return nil, wrong or ffi.string(err.message), expected
   end
   local kind = text:match("^(wire)%d+$") or text:match("^(%l+):") or "pci"
   return { name = text, id = identity(kind, text), kind = kind, physical = physical[0] }
end

return M
