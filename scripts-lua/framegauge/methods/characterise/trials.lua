-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of a characterisation, and what each shows, in the terms of identify.lua.
--
-- Two overloads of different length for each frame size, and a low load of each; for the smallest size a
-- third overload, half of the capacity after an overload, and both directions at once.
local binomial = require "framegauge.core.binomial"
local loads = require "framegauge.traffic.loads"
local parameters = require "framegauge.methods.characterise.parameters"
local tables = require "framegauge.core.tables"

local M = {}

-- Further overloads, as shares of the one that lost frames: shorter ones first. If these lose nothing, longer
-- ones follow, as far as the plan allows; if it allows none, slightly shorter ones.
local SHORTER, LONGEST, HARDLY_SHORTER = { 0.25, 0.5 }, { 2, 4 }, { 0.75, 0.9 }
local REST, RELIEF = 0.1, 0.5 -- of the capacity: a low load, and what follows an overload
local GROWS = 20 -- frame times: a delay that grows by more under load comes from a queue
local GROWN = 0.25 -- of the longest wait: the mean of a queue that grew
local LONGER = 4 -- a queue that grows and does not overflow gets LONGER times the time

-- A trial at rest is made longer until it has this many frames.
local ENOUGH = 1000

-- Frames that may not overtake wait for the one before: delays at rest must differ by less than this share of
-- the time between two frames.
local APART = 0.5

-- Number of times that a trial in which the tester fell short is made again: a stall need not recur.
local AGAIN = 2

-- Standard deviations by which a loss must exceed chance.
local SIGMAS = 5

-- Coverage of the interval for losses at rest, which must not be taken for an overload.
local SURE = 0.9999

--- How the trials of one direction are made, and the trials made so far.
-- @param direction  "from->to"
function M.new(plan, tester, session, direction)
   local c = { plan = plan, direction = direction, trials = {}, rests = { tx = 0, lost = 0,
      loss_bursts = 0 } }
   for _, port in ipairs(tester.ports) do
      c.line_bps = math.min(c.line_bps or math.huge, port.line_rate)
   end
   -- of an overload
   function c.max_fps(frame_size)
      local line_fps = tester:max_fps(frame_size)
      return math.min(line_fps, loads.of_rate(plan.characterise.max, frame_size, line_fps))
   end
   -- Is that less than the line rate?
   function c.below_line(frame_size)
      return c.max_fps(frame_size) < tester:max_fps(frame_size)
   end
   --- @param o  seconds and fps, or loads; directions where it is not this one
   function c.make(phase, frame_size, o)
      local frames, seconds, record = nil, o.seconds, nil
      if o.loads then
         frames, seconds = loads.whole(o.loads)
      end
      for _ = 0, AGAIN do
         record = session:trial {
            test = "characterise", phase = phase, frame_size = frame_size, direction = o.name or direction,
            directions = o.directions or { direction }, loads = o.loads, seconds = seconds,
            fps = o.fps or frames / seconds, line_fps = tester:max_fps(frame_size),
         }
         if record.validity ~= "tester-limited" then
            break
         end
      end
      c.trials[#c.trials + 1] = record
      return record
   end
   return c
end

-- Frames by which a count may be off: frames that left late, and random losses hidden at both ends.
local function slack(counts, rate, loss_ratio)
   return 0.01 + (counts.lag_max_ns or 0) / 1e9 * rate + 2 * parameters.in_a_row(loss_ratio)
end

local function counts_of(record, direction)
   return tables.find(record.directions, "direction", direction)
end

local function length(counts)
   return (counts.tx - 1) / counts.offered_fps
end

-- If a queue grows until it is full or the trial ends, the mean delay is at least half of the longest. A
-- device or a tester that stalled for a moment has a long delay, too, but a short mean.
local function delay_grew(c, counts, frame_size, rest)
   local l = counts.latency
   local spread = l and l.max_ns - l.min_ns or 0
   return spread > GROWS * 1e9 / c.max_fps(frame_size) + 2 * (rest.max_ns - rest.min_ns)
      and l.mean_ns - l.min_ns > GROWN * spread
end

-- A trial at rest: its counts.
local function at_rest(c, frame_size, fps)
   local o, all = c.plan.characterise, c.rests
   local seconds = math.min(math.max(o.rest, ENOUGH / fps), o.longest)
   local counts = counts_of(c.make("rest", frame_size, { fps = fps, seconds = seconds }), c.direction)
   all.tx, all.lost, all.loss_bursts = all.tx + counts.tx, all.lost + counts.lost,
      all.loss_bursts + counts.loss_bursts
   return counts
end

--- A low load: delays, and losses that no load causes.
-- @return { min_ns =, max_ns =, mean_ns =, p50_ns =, p99_ns =, error_ns =, jitter_error_ns =,
--         mean_error_ns =, has_end =, tx =, lost =, loss_bursts = }, or nil: nothing came
function M.rest(c, frame_size, fps)
   fps = REST * fps
   local counts = at_rest(c, frame_size, fps)
   local l = counts.latency
   local slower = l and math.max(APART * 1e9 / (l.p99_ns - l.min_ns), ENOUGH / c.plan.characterise.longest)
   if slower and slower < fps then
      fps, counts = slower, at_rest(c, frame_size, slower)
      l = counts.latency
   end
   if not l then
      return nil
   end
   local rest = {
      min_ns = l.min_ns, max_ns = l.max_ns, mean_ns = l.mean_ns, p50_ns = l.p50_ns, p99_ns = l.p99_ns,
      error_ns = 1 + (l.error_bound_ns or 0), tx = counts.tx, lost = counts.lost,
   }
   rest.jitter_error_ns, rest.has_end = parameters.shortest_error(rest)
   rest.has_end = rest.has_end and rest.p99_ns - rest.min_ns < 1e9 / fps
   rest.mean_error_ns = parameters.mean_error(rest)
   return rest
end

local function overload(c, frame_size, seconds)
   c.longest = math.max(c.longest or 0, seconds)
   return counts_of(c.make("overload", frame_size, { fps = c.max_fps(frame_size), seconds = seconds }),
      c.direction)
end

-- The longest wait of a load in seconds, and its error.
local function longest_wait(counts, rest)
   return (counts.latency.max_ns - rest.min_ns) / 1e9, (rest.max_ns - rest.min_ns + 2 * rest.error_ns) / 1e9
end

-- What a load shows of the server whose queue grew in it: by this time it was empty again, and had forwarded
-- all received frames.
local function drained(counts, rest, overflowed)
   local waited, error = longest_wait(counts, rest)
   local seconds = length(counts) + waited
   return {
      seconds = seconds, error = error, rx = counts.rx, slack = 1, overflowed = overflowed,
      queued = { min = math.floor((waited - error) * counts.rx / seconds) - 1,
         max = math.ceil((waited + error) * counts.rx / seconds) + 1 },
   }
end

-- Is more lost than without load? Yes if the loss exceeds chance for losses that come in bursts, or, for a
-- device that loses nothing at rest, if any frame is lost while its queue grows.
local function overloads(c, counts, frame_size, rest)
   local all = c.rests
   if not rest or all.lost == 0 and counts.lost > 0 and delay_grew(c, counts, frame_size, rest) then
      return counts.lost > 0
   end
   local per_burst = all.lost > 0 and all.lost / all.loss_bursts or 1
   local _, p = binomial.interval(math.floor(all.lost / per_burst + 0.5), math.floor(all.tx / per_burst),
      SURE)
   return counts.loss_ratio > p + SIGMAS * math.sqrt(per_burst * p / counts.tx) + 2 / counts.tx
end

-- The least rate that it forwards, frames per second: all received frames less those it may still have held.
local function carried(counts, rest)
   local seconds, held = length(counts), 0
   if rest then
      local waited, error = longest_wait(counts, rest)
      held = (waited + error) * counts.rx / seconds
   end
   return math.max(0, counts.rx - 1 - held) / seconds
end

-- Keep the longest delay of the overload that shows it best: late frames may have made it longer by their
-- lateness.
local function keep_delay(size, counts)
   local l = counts.latency
   local error = l and (l.error_bound_ns or 0)
   if l and error < (size.overload_error_ns or math.huge) then
      size.overload_delay_ns, size.overload_error_ns = l.max_ns, error
   end
end

-- Keep an overload if its load caused losses.
local function keep(c, size, counts, rate)
   if overloads(c, counts, size.frame_size, size.rest) then
      local loss = c.rests.tx > 0 and c.rests.lost / c.rests.tx or 0
      keep_delay(size, counts)
      c.loss_interval = math.max(c.loss_interval or 0, length(counts) / counts.lost)
      size.overloads[#size.overloads + 1] = {
         seconds = length(counts), rx = counts.rx, slack = slack(counts, rate, loss),
      }
   end
end

-- What a size shows by several overloads of different lengths that lost frames: two give its rate.
local function overloaded(c, size, counts, seconds, rate)
   local longest = c.plan.characterise.longest
   local function more(shares)
      for _, share in ipairs(shares) do
         if share <= 1 or seconds * share <= longest then
            keep(c, size, overload(c, size.frame_size, seconds * share), rate)
         end
      end
   end
   size.drained = size.drained and drained(counts, size.rest, true)
   keep(c, size, counts, rate)
   more(SHORTER)
   if not size.overloads[2] and not size.drained then
      more(2 * seconds <= longest and LONGEST or HARDLY_SHORTER)
   end
end

-- What an overload shows of a size: its server, if the queue grew, and the loss, if frames were lost.
local function seen_in(c, size, counts, seconds, grew)
   keep_delay(size, counts)
   size.drained = grew and drained(counts, size.rest) or nil
   if overloads(c, counts, size.frame_size, size.rest) then
      size.carried_fps = nil
      overloaded(c, size, counts, seconds, math.max(1, counts.rx / seconds))
   else
      size.carried_fps = carried(counts, size.rest)
   end
   return size
end

local function grew(c, size, counts)
   return size.rest and counts.latency and delay_grew(c, counts, size.frame_size, size.rest)
end

--- What a frame size shows, in the form of identify.lua.
function M.size(c, frame_size)
   local o, size = c.plan.characterise, { frame_size = frame_size, overloads = {} }
   local seconds, counts = o.trial, overload(c, frame_size, o.trial)
   size.rest = M.rest(c, frame_size, math.max(1, counts.rx / seconds))
   while grew(c, size, counts) and not overloads(c, counts, frame_size, size.rest)
      and seconds * LONGER <= o.longest do
      seconds = seconds * LONGER
      counts = overload(c, frame_size, seconds)
   end
   return seen_in(c, size, counts, seconds, grew(c, size, counts))
end

--- The longest overload, for a size whose frames all passed at once: a bucket of tokens lets frames pass
-- without delay until it is empty.
-- @param size  of M.size(); gets what is seen
-- @return whether it lost frames
function M.empty_bucket(c, size)
   local seconds = c.plan.characterise.longest
   if size.overloads[1] or size.drained or seconds <= c.plan.characterise.trial then
      return size.overloads[1] ~= nil
   end
   local counts = overload(c, size.frame_size, seconds)
   seen_in(c, size, counts, seconds, grew(c, size, counts))
   return size.overloads[1] ~= nil
end

--- An overload, then half of the capacity, both twice: random losses then fall at other times.
-- @return list of { since_ns = from the end of the overload to when the last lost frame was due, interval_ns
--         = between two frames, error_ns = by which that may be too short, watched_ns = }, empty where
--         nothing was lost
function M.recovery(c, frame_size, rate)
   local o, line_fps, list = c.plan.characterise, c.max_fps(frame_size), {}
   local steps = { { fps = line_fps, seconds = o.trial / 2 }, { fps = RELIEF * rate, seconds = o.watch } }
   local switch = math.floor(steps[1].fps * steps[1].seconds + 0.5) / steps[1].fps
   for _ = 1, 2 do
      local counts = counts_of(c.make("recovery", frame_size, { loads = steps }), c.direction)
      list[#list + 1] = counts.last_lost_ns and {
         since_ns = math.max(0, counts.last_lost_ns - switch * 1e9), interval_ns = 1e9 / steps[2].fps,
         -- the last lost frame of the overload left this long before its end
         watched_ns = o.watch * 1e9, error_ns = 2e9 / line_fps + 1e9 / math.max(1, line_fps - rate),
      } or nil
   end
   return list
end

--- Overload of all directions at once.
-- @return the counts by direction
function M.together(c, frame_size, directions)
   local record = c.make("both-ways", frame_size, {
      fps = c.max_fps(frame_size), seconds = c.plan.characterise.trial, directions = directions,
      name = table.concat(directions, ", "),
   })
   local out = {}
   for _, direction in ipairs(directions) do
      local counts = counts_of(record, direction)
      out[direction] = { seconds = length(counts), rx = counts.rx, tx = counts.tx,
         slack = slack(counts, counts.rx / c.plan.characterise.trial, 0) }
   end
   return out
end

--- Trials that no parameter was fitted to: their counts.
-- @param steps  the loads: list of { fps =, seconds = }
function M.held_out(c, frame_size, steps)
   local record = c.make("held-out", frame_size, { loads = steps })
   return counts_of(record, c.direction), record
end

return M
