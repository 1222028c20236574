-- SPDX-License-Identifier: BSD-3-Clause

--- Starting DPDK as the plan's host group wants it.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local placement = require "framegauge.tester.placement"
local undo = require "framegauge.core.undo"
local uv = require "luv"

local M = {}

local C = api.C
local HUGE_PAGES = { auto = 0, never = 1, require = 2 }

-- A NULL-terminated array of C strings, or NULL for no strings. Keep the list as long as the array.
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

-- Where another process has the machine's huge pages (say, next to a running test), the environment decides
-- for all plans that leave the choice open.
local function huge_pages(wish)
   local variable = "FRAMEGAUGE_HUGE_PAGES"
   local told = wish == "auto" and os.getenv(variable) or wish
   return HUGE_PAGES[told] or error(('%s: "%s" is not auto, never or require'):format(variable, told), 0)
end

-- Remove the remains of killed testers, once per process.
local function name_left()
   name_left = function() end
   undo.each_left(function(journal)
      for _, step in ipairs(journal.steps) do
         io.stderr:write(("framegauge: left by '%s', which was killed: %s\n"):format(journal.command,
            step.problem))
      end
      io.stderr:write "framegauge: to put it back: framegauge doctor --restore\n"
   end)
end

--- Start EAL, once a process; a second call with it running does nothing. Errors are raised.
function M.start(plan)
   name_left()
   local pci, eal, err = {}, plan.host.eal or {}, api.error()
   for _, port in ipairs(plan.ports) do
      if port.kind == "pci" then
         local address = ffi.new("char[?]", C.FG_PORT_PCI_ADDRESS)
         api.check(C.fg_port_pci_address(port.device, address, err), err)
         pci[#pci + 1] = ffi.string(address)
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

-- Changes to undo when ports are closed, by the list of the ports' handles.
local groups = setmetatable({}, { __mode = "k" })

--- Record parts of the state of a port's interface before they are changed (framegauge.core.undo).
-- @param group  of steps
-- @param port   of the plan; only a kernel interface has such a state
-- @param parts  list of "up", "promiscuous", "xdp"
function M.note(group, port, parts)
   local interface, state = port.device:match "^kernel:([^,]+)", ffi.new "struct fg_interface_state"
   if not interface or C.fg_interface_state(interface, state) ~= 0 then
      return
   end
   local about = { interface = interface, index = state.index }
   for _, part in ipairs(parts) do
      about[part] = state[part]
   end
   group:step("interface", about)
end

--- The link of an open port is about to be taken down.
function M.note_link(handles, port)
   M.note(groups[handles], port, { "up" })
end

local function note_opening(group, port)
   local socket = port.device:match "^memif:([^,]+),server" or port.device:match "^memif:([^,]+),.*,server"
   if socket then
      group:step("socket", { path = socket, folder = uv.cwd() })
   end
   M.note(group, port, { "promiscuous", "xdp" })
end

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
-- @param max_frame  bytes with FCS that must pass
-- @param keep       frames of each port that its user may hold for a while (list), or nil
function M.open(handles, list, max_frame, keep)
   groups[handles] = undo.group()
   for i, port in ipairs(list) do
      note_opening(groups[handles], port)
      handles[i] = open_one(port, max_frame, keep and keep[i] or 0)
   end
   -- only then: where the ports are joined, one is up when the other is. A memif client has waited already,
   -- and a server's peer may connect at any time.
   local err = api.error()
   for i, port in ipairs(list) do
      if port.kind ~= "memif" then
         api.check(C.fg_port_wait_link(handles[i], LINK_MILLISECONDS, err), err)
      end
   end
end

--- Close the ports, and restore their interfaces; the list is empty then.
function M.close(handles)
   local group = groups[handles]
   for i, handle in ipairs(handles) do
      C.fg_port_close(handle)
      handles[i] = nil
   end
   if group then
      group:undo()
   end
end

return M
