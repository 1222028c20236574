-- SPDX-License-Identifier: BSD-3-Clause

--- The ports of a plan's values, as the rules of several modules look at them.
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"

local M = {}

--- The full path of a port's key.
function M.path(port, key)
   return "ports." .. port.name .. "." .. key
end

--- Ports that send to each other, two by two.
function M.linked(values)
   return tables.map(topology.links(#values.ports, values.topology), function(link)
      return { values.ports[link.from], values.ports[link.to] }
   end)
end

--- Whether the device of a port is a virtual wire.
function M.is_wire(port)
   return port.device ~= nil and port.device.kind == "wire"
end

--- Bits per second at layer 1 of the line of a port, nil when the plan does not say.
-- @return the rate, and the key that says it
function M.line_rate(values, port)
   local switch = values.reference_switch
   if not M.is_wire(port) then
      return port.line_rate, M.path(port, "line_rate")
   elseif not switch then
      return values.reference_device.rate, "reference_device.rate"
   end
   for _, one in ipairs(switch.ports or {}) do
      if one.name == port.name then
         return one.rate, ("reference_switch.ports.%s.rate"):format(port.name)
      end
   end
   return switch.rate, "reference_switch.rate"
end

return M
