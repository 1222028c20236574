-- SPDX-License-Identifier: BSD-3-Clause

--- The roles of lcores.
--
-- With enough workers each port, or each of its queues, gets one to send and one to receive, near the port's
-- memory; with fewer, one for both; with fewest, one for all ports, or workers round robin where ports have
-- several queues. The virtual wire has a single worker, because its time cannot be divided.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local tables = require "framegauge.core.tables"

local C = api.C
local M = {}

--- EAL's core map for a list of CPUs: the first for control, the others for packets.
function M.core_map(cpus)
   local map = tables.map(cpus, function(cpu, i) return ("%d@%d"):format(i - 1, cpu) end)
   return table.concat(map, ",")
end

local function workers()
   local info, list = ffi.new("struct fg_lcore_info[?]", C.FG_MAX_LCORES), {}
   for i = 1, math.min(C.fg_host_lcores(info, C.FG_MAX_LCORES), C.FG_MAX_LCORES) do
      list[i] = { id = info[i - 1].id, cpu = info[i - 1].cpu, node = info[i - 1].node }
   end
   return list
end

-- The next free worker, one near the port if possible.
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

-- The lcores near a port, or all if no lcore is near.
local function near(list, node)
   local chosen = tables.map(list, function(worker) return worker.node == node and worker or nil end)
   return chosen[1] and chosen or list
end

-- The workers of one queue at a time: function(node of its port) that returns those that send and receive.
local function dealer(list, queues, each)
   local all, dealt, first = list, {}, list[1]
   return function(node)
      if each == 0 and not queues then
         return first, first
      elseif each == 0 then -- round robin
         local some = near(all, node)
         dealt[node] = (dealt[node] or 0) + 2
         return some[(dealt[node] - 2) % #some + 1], some[(dealt[node] - 1) % #some + 1]
      end
      local tx = take(list, node)
      return tx, each == 2 and take(list, node) or tx
   end
end

--- Place the queues of ports on lcores.
-- @param ports  with their NUMA nodes and, where they have several, queues
-- @param wire   are they ports of the virtual wire?
-- @param one    must one lcore both send and receive on a port?
-- @param list   of workers, { id =, cpu =, node = }; it is used up. Default: DPDK's
-- @return per port a list of {tx=, rx=} of its queues (indexes from 0 into the second result), EAL ids of the
--         lcores used, and per port a list of warnings
function M.place(ports, wire, one, list)
   local free, used, places, notes, lanes = list or workers(), {}, {}, {}, 0
   for _, port in ipairs(ports) do
      lanes = lanes + (port.queues or 1)
   end
   local each = wire and 0 or math.min(one and 1 or 2, math.floor(#free / lanes))
   local next_two = dealer(free, lanes > #ports, each)
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
      places[i], notes[i] = {}, {}
      for queue = 1, port.queues or 1 do
         local tx, rx = next_two(port.numa)
         places[i][queue] = { tx = use(tx), rx = use(rx) }
         notes[i][1] = notes[i][1] or far_note(tx, port) or far_note(rx, port)
      end
   end
   return places, used, notes
end

return M
