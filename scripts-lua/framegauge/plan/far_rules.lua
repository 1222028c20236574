-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold where two testers work together, at the far one and at the near one.
local link = require "framegauge.far.link"

local M = {}

local function key_of(port)
   return ("ports.%s.device"):format(port.name)
end

local function far_ports(values)
   local list = {}
   for _, port in ipairs(values.ports) do
      list[#list + 1] = port.device and port.device.kind == "far" and port or nil
   end
   return list
end

-- A port of a far tester is only for a test that two testers make.
local function far_ports_are_asked_for(values, found)
   local list = far_ports(values)
   local two = values.test == "y1564" and values.y1564.topology == "two-testers"
   if two and (#list ~= 1 or #values.ports ~= 2) then
      found:add("y1564.topology", ("%d of %d ports belong to a far tester"):format(#list, #values.ports),
         "two ports, one of them with a device such as far:127.0.0.1:5564")
   elseif list[1] and not two then
      found:add(key_of(list[1]), "the port of a far tester", "test: y1564 with topology: two-testers")
   end
end

-- Nobody asks who comes: so only this machine may.
local function listens_here(values, found)
   local address = link.address(values.far.listen)
   if values.test == "far" and not (address and link.is_local(address)) then
      found:add("far.listen", ("%q is no loopback address and no path"):format(values.far.listen),
         "such as 127.0.0.1:5564 or /run/far.sock")
   end
end

local function one_port(values, found)
   if values.test == "far" and #values.ports > 1 then
      found:add("ports", ("%d given"):format(#values.ports), "one")
   end
end

M.rules = { far_ports_are_asked_for, listens_here, one_port }

return M
