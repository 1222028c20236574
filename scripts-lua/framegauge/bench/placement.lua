-- SPDX-License-Identifier: BSD-3-Clause

--- Which lcore does what.
--
-- With enough workers each port gets one to send and one to receive, near the port's memory; with fewer,
-- one for both; with fewest, one for everything. The virtual wire is always run by one, for its time is of
-- one piece.
local api = require "framegauge.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- EAL's core map for a list of CPUs: the first for control, the others for packets.
function M.core_map(cpus)
   local map = {}
   for i, cpu in ipairs(cpus) do
      map[i] = ("%d@%d"):format(i - 1, cpu)
   end
   return table.concat(map, ",")
end

local function workers()
   local info, list = ffi.new("struct fg_lcore_info[?]", C.FG_MAX_LCORES), {}
   for i = 1, math.min(C.fg_host_lcores(info, C.FG_MAX_LCORES), C.FG_MAX_LCORES) do
      list[i] = { id = info[i - 1].id, cpu = info[i - 1].cpu, node = info[i - 1].node }
   end
   return list
end

-- The next worker that is free, one near the port if there is any.
local function take(list, node)
   local chosen = 1
   for i, worker in ipairs(list) do
      if worker.node == node then
         chosen = i
         break
      end
   end
   return table.remove(list, chosen)
end

local function far_note(worker, port)
   if port.numa >= 0 and worker.node >= 0 and worker.node ~= port.numa then
      return ("CPU %d is on NUMA node %d, the port on node %d: every frame crosses between them")
         :format(worker.cpu, worker.node, port.numa)
   end
end

--- Place ports on lcores.
-- @param ports  with their NUMA nodes
-- @param wire   are they those of the virtual wire?
-- @param one    must one lcore both send and receive on a port?
-- @return per port {tx=, rx=} (indexes from 0 into the second result), EAL ids of the lcores used, and per
--         port a list of warnings
function M.place(ports, wire, one)
   local free, used, places, notes = workers(), {}, {}, {}
   local each = wire and 0 or math.min(one and 1 or 2, math.floor(#free / #ports))
   local shared = each == 0 and table.remove(free, 1)
   local function use(worker)
      for i, id in ipairs(used) do
         if id == worker.id then
            return i - 1
         end
      end
      used[#used + 1] = worker.id
      return #used - 1
   end
   for i, port in ipairs(ports) do
      local tx = shared or take(free, port.numa)
      local rx = each == 2 and take(free, port.numa) or tx
      places[i] = { tx = use(tx), rx = use(rx) }
      notes[i] = { far_note(tx, port) or far_note(rx, port) }
   end
   return places, used, notes
end

return M
