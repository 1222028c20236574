-- SPDX-License-Identifier: BSD-3-Clause

--- Which port sends to which (RFC 2544, 16).
--
-- `pairs`: the first port sends to the second, the third to the fourth, and so on. `partial-mesh`: the first
-- half of the ports are inputs, the second half outputs; every input sends to all outputs in turn, all of
-- them in the same order, so that their frames meet at an output. With two ports both are the same. Both
-- ways, where the plan wants it, is the same again from the outputs to the inputs. `loopback`: every port
-- sends to a reflector (docs/how-to/emulate-a-path.md) and has its own frames back.
--
-- RFC 2889's are for ports of one switch. `full-mesh`: every port sends to all others in turn, to the
-- next one first, so that each time no two send to the same (5.1). `one-to-many`, `many-to-one`: the first
-- port sends to all others in turn, or all others to it (5.2). `unidirectional`: a partial mesh in which each
-- input begins with another output (5.4).
--
-- A load is always the load of a port: streams that start from one port take turns in it, in the order of
-- their directions.
local tables = require "framegauge.core.tables"
local M = {}

local LINKS = {}

function LINKS.loopback(ports, add)
   for i = 1, ports do
      add(i, i)
   end
end

LINKS["partial-mesh"] = function(ports, add)
   local half = math.floor(ports / 2)
   for i = 1, half do
      for j = half + 1, 2 * half do
         add(i, j)
      end
   end
end

function LINKS.pairs(ports, add)
   for i = 1, ports - 1, 2 do
      add(i, i + 1)
   end
end

LINKS["full-mesh"] = function(ports, add)
   for i = 1, ports do
      for k = 0, ports - 2 do
         add(i, (i + k) % ports + 1)
      end
   end
end

LINKS["one-to-many"] = function(ports, add)
   for i = 2, ports do
      add(1, i)
   end
end

LINKS["many-to-one"] = function(ports, add)
   for i = 2, ports do
      add(i, 1)
   end
end

function LINKS.unidirectional(ports, add)
   local half = math.floor(ports / 2)
   for i = 1, half do
      for k = 0, half - 1 do
         add(i, half + (i - 1 + k) % half + 1)
      end
   end
end

--- All of them.
M.NAMES = tables.keys(LINKS)

-- In these every port stands alike, or which stands where is a matter of the links.
local MESHES = { ["full-mesh"] = true, ["one-to-many"] = true, ["many-to-one"] = true, unidirectional = true }

--- Names of the second half of a list of ports.
function M.second_half(ports)
   local names = {}
   for i = math.floor(#ports / 2) + 1, #ports do
      names[#names + 1] = ports[i].name
   end
   return names
end

--- Whether a topology takes ports two by two, or in halves.
function M.takes_even_numbers(topology)
   return topology == "pairs" or topology == "partial-mesh" or topology == "unidirectional"
end

--- Links from inputs to outputs, in the order in which a port takes its turns.
-- @param ports     how many there are; of an odd number the last may be left over
-- @param topology  its name
-- @return list of { from =, to = }, indexes of ports
-- @usage #topology.links(5, "full-mesh") --> 20
function M.links(ports, topology)
   local links = {}
   LINKS[topology](ports, function(from, to)
      links[#links + 1] = { from = from, to = to }
   end)
   return links
end

--- Where each port stands.
-- @return list of { output = boolean, number = among the ports of its side, of = how many these are }
function M.places(ports, topology)
   local places, half = {}, math.floor(ports / 2)
   local alike = topology == "loopback" or MESHES[topology]
   for i = 1, alike and ports or 2 * half do
      if alike then
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
   local list = tables.map(links, function(link) return { from = link.to, to = link.from } end)
   table.sort(list, function(a, b)
      return a.from < b.from or (a.from == b.from and a.to < b.to)
   end)
   return list
end

--- Directions of a topology.
-- @param ports     list of ports with their names
-- @param topology  its name
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
   elseif topology == "full-mesh" then
      return names, "both"
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
