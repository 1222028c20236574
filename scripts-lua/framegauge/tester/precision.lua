-- SPDX-License-Identifier: BSD-3-Clause

--- The timing precision of the tester: departures compared with the schedule, by load, with and without
-- bursts; and the host's share in their lateness.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"

local C = api.C

local M = {}

local SHARES = { 0.01, 0.1, 0.5, 1 } -- of the load the tester carries
local BURST, BURST_SHARE = 32, 0.1

M.STALL_CLASSES = { "1 us", "10 us", "100 us", "1 ms", "10 ms" }

local function created(create, ctype, free, ...)
   local err, out = api.error(), ffi.new(ctype .. " *[1]")
   local arguments = { ... }
   arguments[#arguments + 1], arguments[#arguments + 2] = out, err
   api.check(create(unpack(arguments)), err)
   return ffi.gc(out[0], free)
end

-- The two ports of a direction, by number.
local function ends(tester, direction)
   local from, to = direction:match "^(.-)%->(.+)$"
   return tester:port_index(from), tester:port_index(to)
end

-- The traffic, and the intended times between its frames.
local function patterns(load_fps)
   local list = {}
   for i, share in ipairs(SHARES) do
      list[i] = {
         pattern = "constant", share = share, fps = share * load_fps,
         times = { between_ns = 1e9 / (share * load_fps) },
      }
   end
   local every, frame_ns = BURST / BURST_SHARE, 1e9 / load_fps
   list[#list + 1] = {
      pattern = ("bursts of %d"):format(BURST), share = BURST_SHARE, fps = BURST_SHARE * load_fps,
      burst = { frames = BURST, interval_frames = every },
      times = { burst = BURST, within_ns = frame_ns, between_ns = (every - BURST + 1) * frame_ns },
   }
   return list
end

local function row_of(one, departures, direction)
   local seen = ffi.new "struct fg_departures_result"
   C.fg_departures_read(departures, seen)
   return api.numbers(seen, {
      "min_ns", "p50_ns", "p99_ns", "max_ns", "error_p50_ns", "error_p99_ns", "error_p999_ns", "error_max_ns",
   }, {
      pattern = one.pattern, percent = 100 * one.share, fps = one.fps, late = direction.late,
      intended_ns = one.times.between_ns, count = tonumber(seen.count), mean_ns = seen.mean_ns,
   })
end

--- Departures of a direction, as its receiver reads them from the frames.
-- @param tester    looped to itself
-- @param o.direction  "east->west"
-- @param o.frame_size, o.load_fps, o.seconds  of each trial
-- @return list of { pattern =, percent = of load_fps, fps =, late = frames not sent, intended_ns =,
-- count =, min_ns =, p50_ns =, p99_ns =, max_ns =, mean_ns = between two departures, and error_p50_ns =,
-- error_p99_ns =, error_p999_ns =, error_max_ns = by how much that was not as intended, either way }
function M.departures(tester, o)
   local _, receiver = ends(tester, o.direction)
   local rows = {}
   for i, one in ipairs(patterns(o.load_fps)) do
      local times = ffi.new("struct fg_departures_config", one.times)
      local departures = created(C.fg_departures_create, "struct fg_departures", C.fg_departures_free, times)
      local before = tester:tap(receiver, C.fg_departures_tap(departures))
      local raw = tester:trial {
         frame_size = o.frame_size, directions = { o.direction }, fps = one.fps, burst = one.burst,
         duration = o.seconds,
      }
      tester:tap(receiver, before)
      rows[i] = row_of(one, departures, raw.directions[1])
   end
   return rows
end

--- Delay of a direction by the ports' own IEEE 1588 stamps (fg_probe.h), a thousand times a second.
-- @return { source = "ieee1588", sent =, unstamped =, count =, min_ns =, mean_ns =, max_ns =,
-- error_bound_ns = }; nil where a port takes no such stamps
function M.probe(tester, direction, seconds)
   local from, to = ends(tester, direction)
   local ports = tester.handles
   if ports[from].timesync == nil or ports[to].timesync == nil then
      return nil
   end
   local config = ffi.new("struct fg_probe_config", {
      from = ports[from], to = ports[to], hz = C.fg_engine_hz(tester.engine), interval_ns = 1e6,
      most = math.min(65536, math.ceil(seconds * 1e3)),
   })
   ffi.copy(config.src, octets.mac(tester.ports[from].mac), 6)
   ffi.copy(config.dst, octets.mac(tester.ports[to].mac), 6)
   local probe = created(C.fg_probe_create, "struct fg_probe", C.fg_probe_free, config)
   local trial = ffi.new("struct fg_trial_config", { traffic_ns = seconds * 1e9, tasks = 1 })
   local task = ffi.new("struct fg_trial_task[1]", { { task = C.fg_probe_task(probe), port = from - 1 } })
   trial.task, trial.sink[to - 1] = task, C.fg_probe_sink(probe)
   tester:start(trial)
   tester:await()
   local err, seen = api.error(), ffi.new "struct fg_probe_result"
   api.check(C.fg_probe_read(probe, seen, err), err)
   return api.numbers(seen, { "sent", "unstamped", "count", "min_ns", "max_ns", "error_bound_ns" },
      { source = "ieee1588", mean_ns = seen.mean_ns })
end

--- How long the lcore that sends from the first port is interrupted while idle. This is meaningful on real
-- ports only: the wire's time stands still meanwhile.
-- @return { seconds =, rounds =, longest_ns =, away_ppm = of the time, stalls = list of how many by
-- STALL_CLASSES }
function M.host(tester, seconds)
   local hz = C.fg_engine_hz(tester.engine)
   local stalls = created(C.fg_stalls_create, "struct fg_stalls", C.fg_stalls_free, hz)
   local task = ffi.new("struct fg_trial_task[1]", { { task = C.fg_stalls_task(stalls) } })
   tester:start(ffi.new("struct fg_trial_config", { tasks = 1, task = task, traffic_ns = seconds * 1e9 }))
   tester:await()
   local seen = ffi.new "struct fg_stalls_result"
   C.fg_stalls_read(stalls, seen)
   local counts = {}
   for i = 1, #M.STALL_CLASSES do
      counts[i] = tonumber(seen.stalls[i - 1])
   end
   return {
      seconds = tonumber(seen.duration_ns) / 1e9, rounds = tonumber(seen.rounds),
      longest_ns = tonumber(seen.longest_ns), stalls = counts,
      away_ppm = tonumber(seen.away_ns) / math.max(1, tonumber(seen.duration_ns)) * 1e6,
   }
end

return M
