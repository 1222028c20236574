-- SPDX-License-Identifier: BSD-3-Clause

--- What makes a stream other than the plain one (RFC 2544, 11, 12 and C.2; RFC 4814).
--
-- Every test of a plan is made with the plain stream first, and then again with each modifier of the plan
-- by itself. A modifier either lets a header field change from frame to frame, or takes a turn of the port's
-- load for frames of its own, which are sent and not looked for, or has the port say something to the device.
--
--    broadcast          every hundredth frame of a port is a broadcast
--    management-frames  at the start of each second the device is asked by SNMP, and its replies are counted
--    routing-updates    a RIP update at the start of each trial and every 30 seconds, of two states in turn
--    random-networks    each frame goes to one of many networks behind the router
--    random-ports       each frame has another pair of UDP ports
--    random-macs        each frame comes from one of 256 stations and goes to one of 256; a bridge is told of
--                       them before each trial
--
-- Random is the same in every trial: which frame carries what follows from its number and a seed.
local octets = require "framegauge.core.octets"
local topology = require "framegauge.traffic.topology"

local M = {}

M.BROADCAST_EVERY = 100

local QUERY_SECONDS, UPDATE_SECONDS = 1, 30 -- RFC 2544, 11.2 and C.2.4

-- Networks behind the routers, of RFC 2544 C.2.2: x.65.0 to x.254.0. Ports of one side share them.
local FIRST_NETWORK, NETWORKS, STATION = 65, 190, 2

local STATIONS = 256

local function random(first, step, count, seed)
   return { first = first, step = step, count = count, seed = seed, random = true }
end

--- The networks that lie behind a port.
-- @param place  of the port (topology.places)
-- @return 4: { first = "198.19.65.2", number = the same as a number, step = 256, count = 190 }; 6 as well, of
-- which only the last 64 bits are the number
function M.networks(place, version)
   if version == 6 then
      local prefix = ("2001:2:0:%x::"):format((place.output and 0xc000 or 0x4000) + place.number)
      return { first = prefix .. STATION, number = STATION, step = 2 ^ 16, count = 256 }
   end
   local each = math.floor(NETWORKS / place.of)
   local first = ("198.%d.%d.%d"):format(place.output and 19 or 18,
      FIRST_NETWORK + (place.number - 1) * each, STATION)
   local a, b, c, d = octets.ipv4(first):byte(1, 4)
   return { first = first, number = ((a * 256 + b) * 256 + c) * 256 + d, step = 256, count = each }
end

--- Stations behind a port, at most: their MAC addresses differ in the last two bytes.
M.MOST_STATIONS = 65536

-- The first of a port's stations: a MAC address as a number.
local function stations(port)
   return 0x02f600000000 + port * M.MOST_STATIONS
end

local change = {}

change["random-networks"] = function(o, places, _, to)
   local networks = M.networks(places[to], o.version)
   o.dst = octets["ipv" .. o.version](networks.first)
   o.vary.dst = random(networks.number, networks.step, networks.count, 1)
end

change["random-ports"] = function(o)
   o.vary.src_port, o.vary.dst_port = random(1024, 1, 64512, 2), random(1, 1, 49151, 3)
end

change["random-macs"] = function(o, _, from, to)
   M.between_stations(o, from, to, STATIONS)
end

--- Let each frame come from one of several stations, and go to one.
function M.between_stations(o, from, to, count)
   o.vary.src_mac = random(stations(from), 1, count, 4)
   o.vary.dst_mac = random(stations(to), 1, count, 5)
   return o
end

--- Change what a test frame is made of.
-- @param o         as framegauge.traffic.frame takes it; `vary` is a table
-- @param modifier  its name; nil: the plain stream
-- @param places    of all ports (topology.places)
-- @param from, to  indexes of ports
function M.change(o, modifier, places, from, to)
   if change[modifier] then
      change[modifier](o, places, from, to)
   end
   return o
end

--- Change what a broadcast is made of: the frame of a direction, for everyone and no service.
function M.broadcast(o)
   o.vary.dst_mac = nil
   o.dst_mac = octets.mac "ff:ff:ff:ff:ff:ff"
   o.dst = o.version == 4 and octets.ipv4 "255.255.255.255" or octets.ipv6 "ff02::1"
   o.dst_port = 9 -- discard
   return o
end

--- Must a bridge be told of the stations before a trial with this modifier?
function M.needs_announcement(modifier)
   return modifier == "random-macs"
end

--- Change what announces the stations of a port to a bridge: a broadcast from each of them.
-- @param count  how many there are; nil: the modifier's number
-- @return o, and how many frames it takes
function M.announcement(o, port, count)
   count = count or STATIONS
   o.vary = { src_mac = { first = stations(port), step = 1, count = count } }
   return M.broadcast(o), count
end

--- Frames per second that a modifier has each port say to the device.
function M.said_per_second(modifier)
   return modifier == "management-frames" and 1 / QUERY_SECONDS
      or modifier == "routing-updates" and 1 / UPDATE_SECONDS or 0
end

--- The same for the engine: keys of its struct fg_talk; nil when nothing is said.
-- @param o  what the queries ask for: { community =, interface = }; nil: the usual
function M.talk(modifier, o)
   if modifier == "management-frames" then
      return {
         query_ns = QUERY_SECONDS * 1e9, community = o and o.community or "public",
         interface = o and o.interface or 1,
      }
   end
   return modifier == "routing-updates" and { update_ns = UPDATE_SECONDS * 1e9 } or nil
end

--- The turns of test streams, and the turns of the modifier's own frames, one for each port that sends.
-- @param modifier    its name or nil
-- @param directions  list of "from->to"
-- @param burst       as topology.turns takes it
-- @return turns by direction; list of { direction =, turn = }; between bursts without turns, but `fps` of it,
-- for each frame of the test
function M.turns(modifier, directions, burst)
   local turns, own, seen, n = topology.turns(directions, burst), {}, {}, M.BROADCAST_EVERY
   if modifier == "broadcast" and burst then
      own.fps = 1 / (n - 1)
      for _, direction in ipairs(directions) do
         own[#own + 1] = { direction = direction }
      end
      return turns, own
   end
   for i, turn in ipairs(modifier == "broadcast" and turns or {}) do
      turns[i] = { first = 0, take = n - 1, every = n, from = turn.from, share = (n - 1) / n }
      if not seen[turn.from] then
         seen[turn.from] = true
         own[#own + 1] = { direction = directions[i], turn = { first = n - 1, take = 1, every = n } }
      end
   end
   return turns, own
end

return M
