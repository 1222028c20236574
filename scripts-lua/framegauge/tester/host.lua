-- SPDX-License-Identifier: BSD-3-Clause

--- Starting DPDK as the plan's host group wants it.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local placement = require "framegauge.tester.placement"

local M = {}

local C = api.C
local HUGE_PAGES = { auto = 0, never = 1, require = 2 }

-- A NULL-terminated array of C strings, or NULL for none. The strings must outlive it: keep the list.
local function string_array(list)
   if #list == 0 then
      return nil
   end
   local array = ffi.new("const char *[?]", #list + 1)
   for i, text in ipairs(list) do -- not as an initialiser: a single one would be repeated
      array[i - 1] = text
   end
   return array
end

-- Where the machine's huge pages belong to others, as next to a test that takes them, the environment says so
-- for all plans that leave the choice open.
local function huge_pages(wish)
   local variable = "FRAMEGAUGE_HUGE_PAGES"
   local told = wish == "auto" and os.getenv(variable) or wish
   return HUGE_PAGES[told] or error(('%s: "%s" is not auto, never or require'):format(variable, told), 0)
end

--- Start EAL, once a process; a second call with it running does nothing. Errors are raised.
function M.start(plan)
   local pci, eal, err = {}, plan.host.eal or {}, api.error()
   for _, port in ipairs(plan.ports) do
      if port.kind == "pci" then
         pci[#pci + 1] = port.device
      end
   end
   local lcores = plan.host.lcores and placement.core_map(plan.host.lcores)
   local pci_array, eal_array = string_array(pci), string_array(eal)
   local config = ffi.new("struct fg_host_config", {
      lcores = lcores,
      memory_mb = math.ceil((plan.host.memory or 0) / 2 ^ 20),
      huge_pages = huge_pages(plan.host.huge_pages),
      pci = pci_array,
      eal = eal_array,
   })
   api.check(C.fg_host_start(config, err), err)
   if plan.host.realtime then
      api.check(C.fg_host_realtime(err), err)
   end
end

-- Opening the ports of a plan.

local LINK_MILLISECONDS = 5000 -- a 10G port may take so long to come up

local function open_one(port, max_frame, keep)
   local err, out = api.error(), ffi.new("struct fg_port *[1]")
   local config = ffi.new("struct fg_port_config", {
      name = port.name, device = port.device, max_frame = max_frame, keep = keep, queues = port.queues or 1,
      stamps = port.rx_stamps == "card",
   })
   api.check(C.fg_port_open(config, out, err), err)
   return out[0]
end

--- Open ports and wait for their links; errors are raised.
-- @param handles    takes struct fg_port * for each, as they are opened, so that a failure leaves none behind
-- @param list       of the plan
-- @param max_frame  octets with FCS that must pass
-- @param keep       frames of each port that its user may keep for a while (list), or nil
function M.open(handles, list, max_frame, keep)
   for i, port in ipairs(list) do
      handles[i] = open_one(port, max_frame, keep and keep[i] or 0)
   end
   -- only then: where the ports are joined, one is up when the other is. A memif client has waited already,
   -- and a server's peer may come when it likes.
   local err = api.error()
   for i, port in ipairs(list) do
      if port.kind ~= "memif" then
         api.check(C.fg_port_wait_link(handles[i], LINK_MILLISECONDS, err), err)
      end
   end
end

--- Close them; the list is empty then.
function M.close(handles)
   for i, handle in ipairs(handles) do
      C.fg_port_close(handle)
      handles[i] = nil
   end
end

return M
