-- SPDX-License-Identifier: BSD-3-Clause

--- The streams of a trial for the engine: the traffic of each port, its receivers, its turns.
local api = require "framegauge.core.api"
local arguments = require "framegauge.plan.arguments"
local ethernet = require "framegauge.core.ethernet"
local ffi = require "ffi"
local frame = require "framegauge.traffic.frame"
local load_rates = require "framegauge.traffic.loads"
local measures = require "framegauge.tester.measures"
local mixes = require "framegauge.core.mixes"
local modifiers = require "framegauge.traffic.modifiers"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local user_error = require "framegauge.core.user_error"

local M = {}

local C = api.C

--- A cycle of sizes, and a frame of each.
-- @param list  bytes with FCS, one frame after the other
-- @param make  function(size) -> template
-- @return struct fg_sizes, array of templates by kind, and a reference to keep as long as both
function M.cycle(list, make)
   local err, out, kept = api.error(), ffi.new("struct fg_sizes *[1]"), {}
   api.check(C.fg_sizes_create(ffi.new("uint16_t[?]", #list, list), #list, out, err), err)
   local sizes = ffi.gc(out[0], C.fg_sizes_free)
   local frames = ffi.new("const struct fg_template *[?]", sizes.kinds)
   for kind = 0, sizes.kinds - 1 do
      kept[kind + 1] = make(sizes.size[kind])
      frames[kind] = kept[kind + 1]
   end
   return sizes, frames, { sizes, frames, kept }
end

local ANNOUNCEMENT_FPS = 10000
local ENDLESS = 0xffffffffffffffffULL -- FG_ENDLESS, which is too large for a constant of the FFI

-- Where the ports of a trial are, by name. A fleet has thousands of them, and more streams that name them.
local function places_of(tester)
   return setmetatable(tables.places(tester.ports), { __index = function(_, name)
      error("no port " .. name)
   end })
end

-- The two ends of "east->west".
local function ends(at, direction)
   local from, to = direction:match("^(.-)%->(.+)$")
   return at[from], at[to]
end

-- The frame of one direction: addressed to the gateway if there is one, else to the other port. In a loopback
-- the gateway is the far end.
local function ingredients(tester, from, to)
   local source, target = tester.plan.ports[from], tester.plan.ports[to]
   local version = source.ipv4 and target.ipv4 and 4 or 6
   local marks = tester.plan.needs.marks or {}
   local address = from == to and source["gateway" .. version] or target["ipv" .. version]
   return {
      version = version,
      src_mac = octets.mac(tester.ports[from].mac),
      dst_mac = tester:gateway_mac(from, version) or octets.mac(tester.ports[to].mac),
      src = octets["ipv" .. version](source["ipv" .. version]),
      dst = octets["ipv" .. version](address),
      vlan = source.vlan, outer_vlan = marks.outer_vlan, pcp = marks.pcp, dei = marks.dei,
      dscp = marks.dscp,
      vary = {},
   }
end

-- An array of streams that is filled one by one, with the frames its elements point to.
local List = {}
List.__index = List

-- @param tester  has `changes_payload` for a device that is known to change payloads
local function new_list(tester, size, loads, n)
   return setmetatable({
      array = ffi.new("struct fg_stream_config[?]", size), count = 0, frames = {}, made = {}, loads = loads,
      n = n, check_payload = tester.changes_payload or false,
   }, List)
end

function List:add(o)
   self.count = self.count + 1
   self.frames[self.count] = o.frame
   self.made[self.count] = { frame = o.frame, sizes = o.sizes, cycle = o.cycle, templates = o.templates,
      kept = o.kept }
   self.array[self.count - 1] = {
      tx_port = o.from - 1, rx_port = o.to - 1, frame = o.frame, sizes = o.sizes, frames = o.frames,
      load = o.loads or self.loads, loads = o.n or self.n, phase = o.phase or 0,
      turn = o.turn and { o.turn.first, o.turn.take, o.turn.every }, idle = o.idle or false,
      unmeasured = o.unmeasured or false,
      measure = (o.over_time and C.FG_MEASURE_SERIES or 0) + (o.marks and C.FG_MEASURE_CODEPOINTS or 0)
         + measures.flags(o.measure or {}),
      latest_ns = api.nanoseconds(o.t_max or 0), faults = o.faults,
      copies_of = o.copies_of or 0, limit = o.limit or 0, check_payload = self.check_payload,
   }
   return self.array[self.count - 1]
end

local SHAPES = {
   bursts = C.FG_LOAD_BURSTS, ramp = C.FG_LOAD_RAMP, poisson = C.FG_LOAD_POISSON,
   scatter = C.FG_LOAD_SCATTER,
}

local function frames_of(load, timed)
   if load.frames then
      return load.frames
   elseif not load.seconds then
      return ENDLESS
   end
   return timed and 0 or math.floor(load.fps * load.seconds + 0.5)
end

-- A load of a number of frames, or of a time where its shape or the next load needs it; or endless.
local function engine_load(load)
   local timed = load.seconds and (load.frames or load.shape or load.timed)
   return {
      fps = load.fps, frames = frames_of(load, timed),
      ns = timed and api.nanoseconds(load.seconds) or 0,
      shape = SHAPES[load.shape] or C.FG_LOAD_CONSTANT, end_fps = load.end_fps or 0, burst = load.burst or 0,
      burst_fps = load.burst_fps or 0, seed = load.seed or 0, by_octets = load.overhead ~= nil,
      overhead = load.overhead or 0, max_lag_ns = math.ceil((load.max_lag or 0) * 1e9),
   }
end

--- Loads one after the other.
-- @param list  of { fps =, seconds = } and, or nil: frames = how many, and then silence for the rest of the
--              time; overhead = of frames of several sizes: what counts of each besides its bytes with FCS,
--              so that bits and not frames are evenly spaced; shape = "bursts" (with burst, burst_fps),
--              "ramp" (end_fps), "poisson" (seed) or "scatter" (seed, burst_fps); max_lag = seconds a frame
--              may be late and still be sent, where that is less than the host's (framegauge.traffic.lag);
--              timed = the next one begins when the seconds are over, not when the frames have gone }. The
--              last one may have no seconds: then it has no end
-- @return the engine's array, how many, and how many seconds they last without that
function M.loads(list)
   local loads, seconds = ffi.new("struct fg_load[?]", #list), 0
   for i, load in ipairs(list) do
      loads[i - 1] = engine_load(load)
      seconds = seconds + (load.seconds or 0)
   end
   return loads, #list, seconds
end

--- The loads of the directions of a trial. Bursts are parts of a load of the whole line. A modifier's own
-- frames take the place of test frames; between bursts there is room for them.
-- @param o  as Tester:trial takes it
-- @return as M.loads, and the share of the load that is test frames
function M.loads_of_trial(o)
   if o.burst then
      local loads, n, seconds = M.loads {
         {
            fps = o.fps * o.burst.interval_frames / o.burst.frames, seconds = o.duration, max_lag = o.max_lag,
         },
      }
      return loads, n, seconds, 1
   end
   local list, given = {}, o.loads or { { fps = o.fps, seconds = o.duration } }
   for i, load in ipairs(given) do
      local said = math.min(modifiers.said_per_second(o.modifier), load.fps / 2)
      list[i] = { fps = load.fps - said, seconds = load.seconds, max_lag = o.max_lag,
         overhead = mixes.CYCLES[o.frame_size] and ethernet.OVERHEAD }
   end
   local loads, n, seconds = M.loads(list)
   return loads, n, seconds, list[1].fps / given[1].fps
end

-- The tagged frames of a stream. The delay of each stays in memory until the trial has ended, so their number
-- is limited, as in a plan.
local TAG_ROWS = {
   { "first", "time", required = true, min = 0 }, { "every", "time", required = true, min = 0 },
   { "count", "integer", required = true, min = 0, max = 10000 },
}

-- @param tags  as Tester:trial takes them
-- @param fps   frames per second of the stream
local function set_tags(stream, tags, fps)
   tags = arguments.read("tags", tags, TAG_ROWS)
   stream.tags = tags.count
   stream.tag_first = math.ceil(tags.first * fps - 1e-6)
   stream.tag_every = math.max(1, math.floor(tags.every * fps))
end

-- Give a stream its test frames, of one size or of a mix in turn.
local function with_frames(stream, size, made)
   local cycle = mixes.CYCLES[size]
   if not cycle then
      stream.frame = frame.rfc2544(size, made)
      return stream
   end
   if stream.turn.every > 1 then
      user_error.raise(nil, 2, "a mix of frame sizes (%s) is sent neither in bursts nor in turn with other streams of its port", size)
   end
   local kept
   stream.turn, stream.sizes, stream.frames, kept = nil, M.cycle(cycle, function(one)
      return frame.rfc2544(one, made)
   end)
   stream.cycle, stream.templates, stream.kept = cycle, kept[3], kept
   return stream
end

--- The streams of a trial: the directions', then the modifier's own frames.
-- @param tester    with plan, ports and gateway_mac
-- @param o         as Tester:trial takes it
-- @param loads, n  as M.loads gave them
-- @return list (array, count, frames: keep it while the trial runs), and the turns of the directions
function M.of_trial(tester, o, loads, n)
   local turns, own = modifiers.turns(o.modifier, o.directions, o.burst)
   local list = new_list(tester, #o.directions + #own, loads, n)
   local places, at = topology.places(#tester.ports, tester.plan.needs.topology), places_of(tester)
   for i, direction in ipairs(o.directions) do
      local from, to = ends(at, direction)
      local made = modifiers.change(ingredients(tester, from, to), o.modifier, places, from, to)
      if o.stations then
         modifiers.between_stations(made, from, to, o.stations.count)
      end
      made = o.broadcast and modifiers.broadcast(made) or made
      local stream = list:add(with_frames({
         from = from, to = to, turn = turns[i], phase = o.stagger and o.stagger[tester.ports[from].name],
      }, o.frame_size, made))
      if o.tags then
         set_tags(stream, o.tags, loads[0].fps * turns[i].share)
      end
   end
   list.own_loads = own.fps and M.loads { { fps = own.fps * o.fps, seconds = o.duration } }
   for _, one in ipairs(own) do
      local from, to = ends(at, one.direction)
      local made = modifiers.broadcast(ingredients(tester, from, to))
      list:add {
         from = from, to = to, turn = one.turn, frame = frame.rfc2544(mixes.cycle(o.frame_size)[1], made),
         unmeasured = true, loads = list.own_loads, n = list.own_loads and 1,
      }
   end
   return list, turns
end

--- Streams made by a method.
-- @param wanted  list of { name = in the counts, from =, to = names of ports, frame = template
--                (framegauge.traffic.frame), loads = as of M.loads, tags = as Tester:trial takes them,
--                unmeasured = or nil, delay = seconds before the first frame, or nil,
--                sizes = of the frames of a cycle, or nil; then frame is a function(size),
--                over_time = seconds of an interval of the series that is kept, with availability, or nil,
--                the same for all; marks = whether to count with which marks its frames arrive,
--                measure = what else (framegauge.tester.measures), or nil,
--                t_max = seconds after which a frame is lost even if it arrives, or nil,
--                faults = errors on purpose (struct fg_stream_faults), or nil; then errors = the same as the
--                plan has it,
--                limit = frames after which it is done, or nil,
--                phase = or a delay that does not count, in times between two frames of its fastest load,
--                copies_of = number of the stream before it in the list whose frames come out at its port,
--                too: it sends nothing, and measures those there; or nil }
-- @return list as of M.of_trial, and how many seconds the longest of them lasts
function M.given(tester, wanted)
   local list, longest, at = new_list(tester, #wanted), 0, places_of(tester)
   list.all_loads, list.kept = {}, {}
   for i, one in ipairs(wanted) do
      local loads, n, seconds = M.loads(one.loads)
      local delay = one.delay or 0
      local sizes, frames, kept = nil, nil, {}
      if one.sizes then
         sizes, frames, kept = M.cycle(one.sizes, one.frame)
         list.kept[#list.kept + 1] = kept
      end
      local stream = list:add {
         from = at[one.from], to = at[one.to],
         frame = not sizes and one.frame or nil, sizes = sizes, frames = frames, cycle = one.sizes,
         templates = kept[3],
         unmeasured = one.unmeasured, loads = loads, n = n,
         phase = one.phase or delay * load_rates.fastest(one.loads), limit = one.limit,
         over_time = one.over_time, idle = one.copies_of ~= nil, copies_of = one.copies_of,
         marks = one.marks, measure = one.measure,
         t_max = one.t_max, faults = one.faults,
      }
      if one.tags then
         set_tags(stream, one.tags, one.loads[1].fps)
      end
      list.all_loads[i], longest = loads, math.max(longest, delay + seconds)
   end
   return list, longest
end

--- Streams that announce the stations behind every port to a bridge, before a trial with many stations.
-- @return list as of M.of_trial, and how many seconds it takes
function M.announcements(tester, o)
   local list, seen = new_list(tester, #tester.ports, ffi.new("struct fg_load[1]"), 1), {}
   local at, stations = places_of(tester), o.stations or { fps = ANNOUNCEMENT_FPS }
   local function add(port, other)
      if seen[port] then
         return
      end
      local made, count = modifiers.announcement(ingredients(tester, port, other), port, stations.count)
      seen[port], list.loads[0] = true, { fps = stations.fps, frames = count }
      list:add { from = port, to = port, frame = frame.rfc2544(mixes.cycle(o.frame_size)[1], made),
         unmeasured = true }
   end
   for _, direction in ipairs(o.directions) do
      local from, to = ends(at, direction)
      add(from, to)
      add(to, from)
   end
   return list, tonumber(list.loads[0].frames) / stations.fps
end

--- Frames per second of a stream over a trial, also of a stream that sends intermittently.
-- @param seconds  of the trial: a ramp may end earlier
function M.mean_fps(loads, seconds)
   local frames = 0
   for _, load in ipairs(loads) do
      frames = frames + (load.frames or (load.mean_fps or load.fps) * load.seconds)
   end
   return (loads[2] or loads[1].shape == "ramp") and frames / seconds or loads[1].mean_fps or loads[1].fps
end

--- Whether a stream sends intermittently, or unevenly.
function M.is_uneven(stream)
   return (stream.loads[2] or stream.loads[1].shape or stream.sizes or stream.limit) ~= nil
end

--- Whether the load of a stream is known by the number of its frames alone.
function M.is_by_count(stream)
   return stream.loads[1].shape == "poisson" or stream.limit ~= nil
end

-- Seconds that the first n frames of a cycle of sizes take where a load is paced by their bytes, or all the
-- same. A part of a cycle may have longer frames than the whole.
local function seconds_of_frames(n, load, cycle)
   if not (load.overhead and cycle) then
      return n / load.fps
   end
   local sums = { [0] = 0 }
   for i, size in ipairs(cycle) do
      sums[i] = sums[i - 1] + size + load.overhead
   end
   local whole = math.floor(n / #cycle)
   return (whole * sums[#cycle] + sums[n - whole * #cycle]) / (sums[#cycle] / #cycle) / load.fps
end

--- Seconds in which a stream must send all its frames; nil where no load says so.
function M.seconds_of(stream)
   local seconds = 0
   for _, load in ipairs(stream.loads) do
      if not load.seconds then
         return nil
      end
      seconds = seconds + load.seconds
   end
   local load = stream.loads[1]
   if stream.loads[2] or load.shape or (load.fps or 0) == 0 then
      return seconds
   end
   local n = math.floor(load.fps * seconds + 0.5)
   if stream.limit then
      return seconds_of_frames(math.min(n, stream.limit), load, stream.sizes)
   end
   return math.max(seconds, seconds_of_frames(n, load, stream.sizes))
end

--- The series' interval in seconds, one for all streams of a trial; a second where no stream has a series.
function M.interval_of(described)
   for _, stream in ipairs(described) do
      if stream.over_time then
         return stream.over_time
      end
   end
   return 1
end

return M
