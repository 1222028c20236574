-- SPDX-License-Identifier: BSD-3-Clause

--- Testers of played hosts (virtual_time.lua) and what is between them: a device that loses every tenth frame
-- and nothing else. What is sent and received follows from when it was due, and from what happened to the
-- hosts meanwhile: so the truth about a trial is known without anybody's counts.
local job = require "framegauge.core.job"
local virtual = require "virtual_time"

local M = {}

--- From one agent to another, truly; and what clocks say of their errors.
M.DELAY_NS, M.BOUND_NS = 1e6, 1e5

local EVERY = 10 -- frames; the device loses the last one
local ETIME = 62
local LOOK = 0.05 -- seconds
local RING = 1024 -- descriptors

local random = math.random

M.new = function() return { flights = {} } end

--- Whether a host could do anything at a time.
local function awake(host, at)
   for _, hole in ipairs(host.holes) do
      if at >= hole[1] and at < hole[2] then
         return false
      end
   end
   return not (host.dead and at >= host.dead) and not (host.stopped_at and at >= host.stopped_at)
end

-- When each frame of a flight leaves: fn(time, number).
local function each_departure(flight, fn)
   for k = 0, flight.frames - 1 do
      local at = flight.begins + k * flight.gap
      if at < flight.stops and awake(flight.host, at) then
         fn(at, k)
      end
   end
end

local function planned(tester, i)
   return math.floor(tester.described[i].fps * tester.seconds + 0.5)
end

local function departures(flight)
   local n = 0
   each_departure(flight, function() n = n + 1 end)
   return n
end

-- What of an id arrives at a port between two times, and what of it nobody fetched.
local function arrivals(air, place, id, from, to)
   local rx, missed = 0, 0
   for _, flight in ipairs(air.flights[place] or {}) do
      each_departure(flight, function(at, k)
         local counts = flight.id == id and k % EVERY ~= EVERY - 1 and at >= from and at < to
         if counts and awake(virtual.host, at) then
            rx = rx + 1
         elseif counts then
            missed = missed + 1
         end
      end)
   end
   return rx, missed
end

-- The streams of the trial that an agent is making: where they go to.
local function told(agent, list)
   for _, work in pairs(agent.work) do
      if work.trial and work.trial.list.kept == list.kept then
         return work.trial.body.streams
      end
   end
   return error "a trial of no lease"
end

local function longest_hole(host, from)
   local most = 0
   for _, hole in ipairs(host.holes) do
      most = math.max(most, hole[2] > from and hole[2] - hole[1] or 0)
   end
   return most
end

-- Send what is ours. @return flights by stream
local function depart(tester, o, list, streams, seconds, begins)
   local flights = {}
   for i, one in pairs(streams) do
      if one.from.agent == tester.name then
         local s, place = list.array[i - 1], one.to.agent .. "/" .. one.to.port
         flights[i] = { id = o.joint.first_id + i, host = virtual.host, begins = begins,
            gap = 1e9 / s.load[0].fps, frames = math.floor(s.load[0].fps * seconds + 0.5), stops = math.huge }
         tester.air.flights[place] = tester.air.flights[place] or {}
         table.insert(tester.air.flights[place], flights[i])
      end
   end
   return flights
end

-- What receivers measure of delays now: by their clock, the sender's, and what they know of both.
local function measure(tester, streams)
   for i, one in pairs(tester.air.hosts and streams or {}) do
      if one.to.agent == tester.name then
         local sender = tester.air.hosts[one.from.agent]
         local apart = virtual.host.raw_ns - sender.raw_ns
         local delay, seen = M.DELAY_NS + apart + (tester.ahead[i] or 0), tester.delays[i]
         tester.delays[i] = { least = math.min(seen and seen.least or delay, delay),
            most = math.max(seen and seen.most or delay, delay),
            -- from before the start on further off than it says: that nobody can know
            false_clock = seen and seen.false_clock
               or not seen and math.max(math.abs(virtual.host.error_ns),
                  math.abs(sender.error_ns)) > M.BOUND_NS }
      end
   end
end

local function latency_of(delays)
   local least = math.max(0, delays.least)
   return { count = 1, min_ns = least, mean_ns = least, p50_ns = least, p99_ns = delays.most,
      p999_ns = delays.most, max_ns = delays.most, source = "tsc", error_bound_ns = 0,
      played_false = delays.false_clock }
end

-- What an agent counted of its streams.
local function counted(tester, o, described, streams, listened)
   local raw = { directions = {}, ports = {}, lcores = {} }
   local missed = 0
   for _, one in ipairs(described) do
      local i = one.place
      local flight, to = tester.departed[i], streams[i].to
      local frames = planned(tester, i)
      local direction = { name = one.name, intended_fps = one.fps, intended_frames = frames,
         tx = flight and departures(flight) or tester.peers[i] or 0, rx = 0, negative = 0,
         off_schedule = 0, lag_max_ns = 0, stamp_held_ns = 0 }
      direction.tx_duration_ns = (direction.tx - 1) / one.fps * 1e9
      direction.late = flight and frames - direction.tx or 0
      if to.agent == tester.name then
         local some
         direction.rx, some = arrivals(tester.air, tester.name .. "/" .. to.port, o.joint.first_id + i,
            listened.from, listened.to)
         missed = missed + some
      end
      local delays = tester.delays[i]
      direction.latency = delays and latency_of(delays)
      direction.negative = delays and delays.least < 0 and 1 or 0
      raw.directions[#raw.directions + 1] = direction
   end
   raw.ports[1] = { name = tester.ports[1].name, rx_missed = missed, rx_ring = RING }
   raw.lcores[1] = { id = 1, poll_gap_max_ns = longest_hole(virtual.host, listened.from) }
   return raw
end

--- A tester of an agent.
-- @param name   of the agent
-- @param agent  function() -> the agent
function M.tester(air, name, agent, plan)
   local tester = { ports = {}, max_frame = 1518, air = air, name = name, agent = agent }
   for i, port in ipairs(plan.ports) do
      tester.ports[i] = { name = port.name, device = port.device, mac = "02:00:00:00:00:0" .. i,
         line_rate = 1e9, driver = "played", mode = "played", notes = {} }
   end
   function tester.gateway_mac() return nil end
   function tester.close() tester.closed = true end
   function tester.run(_, o, list, described, seconds)
      local begins = tonumber(o.joint.start()) - virtual.host.raw_ns
      local streams = told(tester.agent(), list)
      tester.peers, tester.described, tester.seconds = {}, {}, seconds
      for _, one in ipairs(described) do
         tester.described[one.place] = one
      end
      tester.ahead, tester.delays = {}, {}
      job.sleep(0.001 + random() ^ 4)
      if begins < virtual.now then
         error(setmetatable({ code = ETIME }, { __tostring = function() return "the start is over" end }), 0)
      end
      o.joint.armed()
      local from, over = virtual.now, begins + (seconds + o.drain) * 1e9
      tester.departed = depart(tester, o, list, streams, seconds, begins)
      while virtual.now < over and not o.joint.look() do
         if virtual.now >= begins then
            measure(tester, streams)
         end
         job.sleep(math.min(LOOK, (over - virtual.now) / 1e9))
      end
      for _, flight in pairs(tester.departed) do
         flight.stops = virtual.now
      end
      o.joint.finish()
      return counted(tester, o, described, streams, { from = from, to = math.min(over, virtual.now) })
   end
   return tester
end

--- What an agent asks of the engine (framegauge.fleet.engine).
M.engine = {
   planned = planned, streams = require("framegauge.fleet.engine").streams,
   sent = function(tester, i) return departures(tester.departed[i]) end,
   peer_sent = function(tester, i, frames) tester.peers[i] = frames end,
   peer_clock = function(tester, i, ns) tester.ahead[i] = tonumber(ns) end,
   starts = function() return { 5 } end,
   strays = function() return {} end,
}

-- When the last flight of an id began.
local function latest(air, id)
   local begins = -math.huge
   for _, flights in pairs(air.flights) do
      for _, flight in ipairs(flights) do
         if flight.id == id and flight.stops > flight.begins then
            begins = math.max(begins, flight.begins)
         end
      end
   end
   return begins
end

--- Why delays are not what they were, a sentence; nil when they are, or are not known.
function M.wrong_delay(record)
   for _, d in ipairs(record.directions) do
      local bound = d.latency and d.latency.clock_error_ns
      local wrong = bound and math.max(math.abs(d.latency.min_ns - M.DELAY_NS),
         math.abs(d.latency.max_ns - M.DELAY_NS))
      if wrong and wrong > bound + 1 and not d.latency.played_false then
         return ("%s: delays are wrong by %g ns, more than %g"):format(d.direction, wrong, bound)
      elseif not d.latency and not d.no_latency then
         return d.direction .. ": no delays, and no reason"
      end
   end
end

--- Why counts are not what really happened, a sentence; nil when they are.
-- @param apart_ns  how far the senders may have begun from each other
function M.untruth(air, record, first_id, apart_ns)
   local least, most = math.huge, -math.huge
   for i, d in ipairs(record.directions) do
      if d.tx ~= d.intended_frames or d.rx ~= d.tx - math.floor(d.tx / EVERY) then
         return ("%s: %d of %d frames, %d arrived"):format(d.direction, d.tx, d.intended_frames, d.rx)
      end
      local begins = latest(air, first_id + i)
      least, most = math.min(least, begins), math.max(most, begins)
   end
   return most - least > apart_ns and ("begun %g s apart"):format((most - least) / 1e9) or nil
end

--- Forget what flew long ago.
function M.clear(air)
   for place, flights in pairs(air.flights) do
      for i = #flights, 1, -1 do
         if flights[i].stops < virtual.now - 60e9 then
            table.remove(flights, i)
         end
      end
      air.flights[place] = flights[1] and flights or nil
   end
end

return M
