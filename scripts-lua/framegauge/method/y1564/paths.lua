-- SPDX-License-Identifier: BSD-3-Clause

--- Services one way: what is tested and judged by itself.
--
-- A path has what the plan says of its service in that direction, with all rates as information rates (IR):
-- bits of frames with FCS. The utilised line rate (ULR) counts preamble and gap, too: ULR = IR (F + 20) / F.
local line = require "framegauge.line"

local M = {}

--- The information rate of a rate in the plan's unit.
-- @param unit        "ir" or "ulr"
-- @param frame_size  octets with FCS
function M.ir(bps, unit, frame_size)
   return unit == "ulr" and bps * frame_size / (frame_size + line.OVERHEAD) or bps
end

--- The utilised line rate of an information rate.
function M.ulr(ir, frame_size)
   return ir * (frame_size + line.OVERHEAD) / frame_size
end

--- Ports a service runs between.
-- @param ports  of the plan, or of its values
-- @return two indexes; nil for one that is not there
function M.ends(service, ports)
   local from, to = not service.from and 1 or nil, not service.to and 2 or nil
   for i, port in ipairs(ports) do
      from = from or port.name == service.from and i or nil
      to = to or port.name == service.to and i or nil
   end
   return from, to
end

local ONE_WAY = { "cir", "cbs", "eir", "ebs" }

-- What a service has one way: its profile and criteria, the second way as the first where it says no more.
local function one_way(service, backward)
   local other, values = backward and service.reverse or {}, {}
   for _, key in ipairs(ONE_WAY) do
      values[key] = other[key] or service[key]
   end
   values.acceptance = {}
   for key, value in pairs(service.acceptance) do
      values.acceptance[key] = other.acceptance and other.acceptance[key] or value
   end
   return values
end

local function path(service, ports, backward, unit)
   local from, to = M.ends(service, ports)
   if backward then
      from, to = to, from
   end
   local way = one_way(service, backward)
   return {
      service = service, name = service.name, backward = backward, from = from, to = to,
      direction = ports[from].name .. "->" .. ports[to].name, frame_size = service.frame_size,
      cir = M.ir(way.cir, unit, service.frame_size), eir = M.ir(way.eir, unit, service.frame_size),
      cbs = way.cbs, ebs = way.ebs, acceptance = way.acceptance, aware = service.colour == "aware",
   }
end

--- The ways a service is tested: forward, backward or both.
-- @param ports  of the plan, or of its values
function M.of_service(service, ports, unit)
   local list = {}
   if service.directions ~= "backward" then
      list[1] = path(service, ports, false, unit)
   end
   if service.directions ~= "forward" then
      list[#list + 1] = path(service, ports, true, unit)
   end
   return list
end

--- All of a plan, by services.
function M.of(plan)
   local list = {}
   for _, service in ipairs(plan.y1564.services) do
      for _, one in ipairs(M.of_service(service, plan.ports, plan.y1564.rate_unit)) do
         list[#list + 1] = one
      end
   end
   return list
end

return M
