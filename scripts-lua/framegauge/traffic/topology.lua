-- SPDX-License-Identifier: BSD-3-Clause

--- Which port sends to which (RFC 2544, 16).
--
-- `pairs`: the first port sends to the second, the third to the fourth, and so on. `partial-mesh`: the first
-- half of the ports are inputs, the second half outputs; every input sends to all outputs in turn, all of
-- them in the same order, so that their frames meet at an output. With two ports both are the same. Both
-- ways, where the plan wants it, is the same again from the outputs to the inputs. `loopback`: every port
-- sends to a reflector (docs/how-to/emulate-a-path.md) and has its own frames back.
--
-- A load is always that of a port: streams that start from one port take turns in it, in the order of their
-- directions.
local M = {}

--- Links from inputs to outputs.
-- @param ports     how many there are; of an odd number the last is left over
-- @param topology  "pairs", "partial-mesh" or "loopback"
-- @return list of { from =, to = }, indexes of ports
function M.links(ports, topology)
   local links, half = {}, math.floor(ports / 2)
   if topology == "loopback" then
      for i = 1, ports do
         links[i] = { from = i, to = i }
      end
   elseif topology == "partial-mesh" then
      for i = 1, half do
         for j = half + 1, 2 * half do
            links[#links + 1] = { from = i, to = j }
         end
      end
   else
      for i = 1, ports - 1, 2 do
         links[#links + 1] = { from = i, to = i + 1 }
      end
   end
   return links
end

--- Where each port stands.
-- @return list of { output = boolean, number = among those of its side, of = how many these are }
function M.places(ports, topology)
   local places, half = {}, math.floor(ports / 2)
   for i = 1, topology == "loopback" and ports or 2 * half do
      if topology == "loopback" then
         places[i] = { output = false, number = i, of = ports }
      elseif topology == "partial-mesh" then
         places[i] = { output = i > half, number = i > half and i - half or i, of = half }
      else
         places[i] = { output = i % 2 == 0, number = math.ceil(i / 2), of = half }
      end
   end
   return places
end

-- The same links from the side of the outputs.
local function reversed(links)
   local list = {}
   for i, link in ipairs(links) do
      list[i] = { from = link.to, to = link.from }
   end
   table.sort(list, function(a, b)
      return a.from < b.from or (a.from == b.from and a.to < b.to)
   end)
   return list
end

--- Directions of a topology.
-- @param ports     list of ports with their names
-- @param topology  "pairs", "partial-mesh" or "loopback"
-- @param one_way   whether only inputs send
-- @return list of "from->to", and the name of the whole in reports: "both" when every port sends, else the
-- only direction or, where there are several, "inputs->outputs"; of a loopback with several ports "all"
function M.directions(ports, topology, one_way)
   local names, links = {}, M.links(#ports, topology)
   local function add(list)
      for _, link in ipairs(list) do
         names[#names + 1] = ports[link.from].name .. "->" .. ports[link.to].name
      end
   end
   add(links)
   if topology == "loopback" then
      return names, names[2] and "all" or names[1]
   elseif not one_way then
      add(reversed(links))
      return names, "both"
   end
   return names, names[2] and "inputs->outputs" or names[1]
end

--- The turn of each direction in the load of the port it starts from: a frame, or where there are bursts one
-- of these.
-- @param directions  list of "from->to"
-- @param burst       { frames =, interval_frames = from one burst of the port to the next }; nil: none
-- @return list of { first =, take =, every =, from = the port, share = of its frames }; numbers of frames of
-- the port
function M.turns(directions, burst)
   local sharing, turns = {}, {}
   for i, direction in ipairs(directions) do
      local from = direction:match "^(.-)%->"
      turns[i] = { first = sharing[from] or 0, from = from }
      sharing[from] = turns[i].first + 1
   end
   local take, every = burst and burst.frames or 1, burst and burst.interval_frames or 1
   for _, turn in ipairs(turns) do
      local n = sharing[turn.from]
      turn.first, turn.take, turn.every, turn.share = turn.first * every, take, n * every, 1 / n
   end
   return turns
end

return M
