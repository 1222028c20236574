-- SPDX-License-Identifier: BSD-3-Clause

--- Starting DPDK as the plan's host group wants it.
local api = require "framegauge.api"
local ffi = require "ffi"
local placement = require "framegauge.bench.placement"

local C = api.C
local HUGE_PAGES = { auto = 0, never = 1, require = 2 }

local M = {}

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
      huge_pages = HUGE_PAGES[plan.host.huge_pages],
      pci = pci_array,
      eal = eal_array,
   })
   api.check(C.fg_host_start(config, err), err)
   if plan.host.realtime then
      api.check(C.fg_host_realtime(err), err)
   end
end

return M
