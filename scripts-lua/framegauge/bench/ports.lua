-- SPDX-License-Identifier: BSD-3-Clause

--- Opening the ports of a plan.
local api = require "framegauge.api"
local ffi = require "ffi"

local C = api.C
local M = {}

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
