-- SPDX-License-Identifier: BSD-3-Clause

--- Services one way: what is tested and judged by itself.
--
-- A path has what the plan says of its service in that direction, with all rates as information rates (IR):
-- bits of frames with FCS, and frame_size is the mean where there are several. The utilised line rate (ULR)
-- counts preamble and gap, too: ULR = IR (F + 20) / F.
local cycles = require "framegauge.traffic.sizes"
local ethernet = require "framegauge.core.ethernet"
local tables = require "framegauge.core.tables"

local M = {}

--- The sizes of a service's frames, one after the other: a cycle of one, or of the letters of its EMIX.
-- @return list of bytes with FCS; their mean
function M.sizes(service)
   local list, sum = {}, 0
   for letter in (service.emix or ""):gmatch "." do
      list[#list + 1] = cycles.LETTERS[letter]
   end
   list[1] = list[1] or service.frame_size
   for _, size in ipairs(list) do
      sum = sum + size
   end
   return list, sum / #list
end

--- The information rate of a rate in the plan's unit.
-- @param unit        "ir" or "ulr"
-- @param frame_size  bytes with FCS
function M.ir(bps, unit, frame_size)
   return unit == "ulr" and bps * frame_size / (frame_size + ethernet.OVERHEAD) or bps
end

--- The utilised line rate of an information rate.
function M.ulr(ir, frame_size)
   return ir * (frame_size + ethernet.OVERHEAD) / frame_size
end

local function index_of(name, ports, default)
   return tables.index_of(ports, name) or not name and ports[default] and default or nil
end

--- Ports a service runs between; in a loopback one and the same.
-- @param ports  of the plan, or of its values
-- @param o      y1564 of the plan
-- @return two indexes; nil for one that is not there
function M.ends(service, ports, o)
   local from = index_of(service.from, ports, 1)
   return from, o.topology == "loopback" and from or index_of(service.to, ports, 2)
end

local ONE_WAY = { "cir", "cbs", "eir", "ebs" }

-- What a service has one way: its profile and criteria, the second way as the first where it says no more.
local function one_way(service, backward, o)
   local other, values = backward and service.reverse or {}, {}
   for _, key in ipairs(ONE_WAY) do
      values[key] = other[key] or service[key]
   end
   values.acceptance = {}
   for key, value in pairs(service.acceptance) do
      values.acceptance[key] = other.acceptance and other.acceptance[key] or value
   end
   -- between two testers whose clocks nobody compares there is no delay
   values.acceptance.delays = o.topology ~= "two-testers" or o.delays
   return values
end

local function path(service, ports, backward, o)
   local from, to = M.ends(service, ports, o)
   if backward then
      from, to = to, from
   end
   local way, unit = one_way(service, backward, o), o.rate_unit
   local sizes, mean = M.sizes(service)
   local cir = M.ir(way.cir, unit, mean)
   return {
      service = service, name = service.name, backward = backward, from = from, to = to,
      direction = ports[from].name .. "->" .. ports[to].name, frame_size = mean,
      sizes = service.emix and sizes or nil, largest = math.max(unpack(sizes)),
      cycle = mean * #sizes, tagged = (service.vlan or ports[from].vlan) ~= nil,
      cir = cir, eir = M.ir(way.eir, unit, mean),
      cbs = cir > 0 and way.cbs or 0, ebs = way.ebs, acceptance = way.acceptance,
      -- a service of excess traffic alone has one colour
      aware = service.colour == "aware" and cir > 0, all_yellow = service.colour == "aware" and cir == 0,
   }
end

--- The ways a service is tested: forward, backward or both; in a loopback there and back in one.
-- @param ports  of the plan, or of its values
-- @param o      y1564 of the plan
function M.of_service(service, ports, o)
   local list, loop = {}, o.topology == "loopback"
   if loop or service.directions ~= "backward" then
      list[1] = path(service, ports, false, o)
   end
   if not loop and service.directions ~= "forward" then
      list[#list + 1] = path(service, ports, true, o)
   end
   return list
end

--- What a load may be off, bit/s: it is a whole number of frames, and of several sizes perhaps no whole
-- cycle.
function M.rounding(one, seconds)
   return 8 * one.cycle / seconds
end

--- All of a plan, by services.
function M.of(plan)
   local list = {}
   for _, service in ipairs(plan.y1564.services) do
      tables.append(list, M.of_service(service, plan.ports, plan.y1564))
   end
   return list
end

return M
