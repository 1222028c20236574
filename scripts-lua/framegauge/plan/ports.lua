-- SPDX-License-Identifier: BSD-3-Clause

--- The ports of a plan's values, as the rules of several modules look at them.
local topology = require "framegauge.traffic.topology"

local M = {}

--- The full key of something of a port.
function M.path(port, key)
   return "ports." .. port.name .. "." .. key
end

--- Ports that send to each other, two by two.
function M.linked(values)
   local list = {}
   for i, link in ipairs(topology.links(#values.ports, values.topology)) do
      list[i] = { values.ports[link.from], values.ports[link.to] }
   end
   return list
end

--- Whether the device of a port is a virtual wire.
function M.is_wire(port)
   return port.device ~= nil and port.device.kind == "wire"
end

--- Bits per second at layer 1 of the line of a port, nil when the plan does not say.
function M.line_rate(values, port)
   return M.is_wire(port) and values.reference_device.rate or port.line_rate
end

return M
