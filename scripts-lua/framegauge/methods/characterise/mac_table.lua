-- SPDX-License-Identifier: BSD-3-Clause

--- What table of addresses a switch has: when it forgets one, how fast it learns them, and how many it holds.
--
-- Three ports as in RFC 2889, 5.7 and 5.8, whose searches wait before each trial until all is forgotten:
-- test, learning and monitoring. Frames from addresses behind the learning port teach them, frames to them
-- from the test port query them, and frames out of the monitoring port go to unknown addresses. A query
-- teaches nothing, so one trial can query addresses of many ages, and trials with growing numbers of
-- addresses of one sequence continue where the last one ended.
--
-- Learning is modelled as a server (as in identify.lua): until time t it has learned floor(r t) + 1 addresses
-- and as many as may wait. So two trials in which it was too slow give rate and queue. Where several
-- explanations fit, the parameter stays unknown.
--
-- All of it ends after characterise.limit of load, including the trials of the directions. Measuring the age
-- at which an address is forgotten takes that age once; a closer measurement takes it again, so it is the
-- last. What there is no time for is skipped, with a remark.
local caching = require "framegauge.methods.rfc2889.caching"
local format = require "framegauge.text.format"
local octets = require "framegauge.core.octets"
local parameters = require "framegauge.methods.characterise.parameters"
local queue = require "framegauge.methods.characterise.queue"
local ranges = require "framegauge.methods.characterise.ranges"
local tables = require "framegauge.core.tables"
local verdict = require "framegauge.text.verdict"

local M = {}

local TEST, LEARNING, MONITORING = 1, 2, 3
local OWN = 3 -- addresses of these ports, which announce themselves
local SIZE, SEED = 64, 1 -- bytes with FCS; of the addresses
local PAUSE = 0.05 -- seconds between one part of a trial and the next
local SLOW = 1000 -- frames per second that any switch learns from, for the ages
local SLOWEST = 100 -- addresses per second that any switch with room learns
local AGES = 200 -- addresses of different ages in a trial
local FEW, MANY = { 64, 256 }, { 256, 1024 } -- addresses that are new, of trials of the rate of learning
local FIRST, FACTOR, PASSES = 256, 4, 4 -- numbers of addresses that are tried, and how often one is taught
local LONGEST = 20 -- seconds of a trial of how many it holds
local IN_TIME = 0.8 -- of the age at which they are forgotten: for all of a trial

local function tell(c, ...)
   c.row.remarks[#c.row.remarks + 1] = string.format(...)
end

-- Is there time for these seconds of load? If not, note what stays unknown.
local function affords(c, seconds, what)
   local left = c.limit
   for _, record in ipairs(c.session.trials) do
      left = left - record.duration_s
   end
   if seconds > left then
      tell(c, "%s: %.3g s more of load were not tried; raise characterise.limit (%g s)", what, seconds,
         c.limit)
   end
   return seconds <= left
end

-- Addresses from one number of the sequence to another.
local function macs(c, from, to)
   local list = {}
   for i = from, math.min(to, #c.macs) do
      list[#list + 1] = c.macs[i]
   end
   return list
end

-- One trial. @param parts  list of { name =, macs =, fps =, wait = }: "learn" and "more" teach, others ask
-- @param wait  seconds before it; nil: none
-- @return by name, but for "third", which asks from the second port for the third: { known =, lag_s = }; of
-- "learn" `known` are frames when the test port's own address was. nil where the tester or the way to learn
-- from fell short
local function try(c, phase, parts, wait)
   wait = wait or 0
   local list = {}
   for port = TEST, MONITORING do
      list[port] = { name = "announcement " .. port, from = port, to = port % 3 + 1, fps = 1 / PAUSE,
         count = 1, wait = port == TEST and wait or 0, how = { broadcast = true }, unmeasured = true }
   end
   for _, part in ipairs(parts) do
      local learns = part.name == "learn" or part.name == "more" or part.name == "third"
      list[#list + 1] = { name = part.name, fps = part.fps, count = #part.macs, wait = part.wait or PAUSE,
         from = learns and LEARNING or TEST, to = learns and TEST or LEARNING,
         how = learns and part.name ~= "third" and { sources = part.macs } or { destinations = part.macs } }
   end
   local streams, seconds = caching.streams(c.tester, list)
   local record = c.session:trial {
      test = "characterise", phase = phase, frame_size = SIZE, direction = "addresses",
      fps = parts[1].fps, seconds = seconds, streams = streams, silent = true, any_loss = true,
      outcome = function(record)
         local test = record.directions[#record.directions]
         return ("asked for %s addresses"):format(format.count(test.tx))
      end,
   }
   c.trials[#c.trials + 1] = record
   local out = record.validity == "valid" and {} or nil
   for i, part in ipairs(parts) do
      local one = record.directions[i]
      local floods = one.measured.misdirected or {}
      local flooded = floods[c.tester.ports[MONITORING].name] or 0
      if part.name == "third" and out then -- what goes to the third port comes out at the first if flooded
         out.third = { known = flooded == 1 and one.rx == 0 and 1 or 0 }
      elseif one.tx < #part.macs or one.rx < one.tx then
         return nil
      elseif out then
         out[part.name] = { known = one.tx - flooded, lag_s = (one.lag_max_ns or 0) / 1e9 }
      end
   end
   return out
end

-- When an address is forgotten: all are taught, queried at once, and then each queried at another age.
-- @return range of seconds, or nil
local function ages(c, low, high, n)
   local each = 1 / SLOW + (high - low) / n -- the ages are this less 1 / SLOW apart
   local list = macs(c, 1, n)
   -- the control takes the rest of the time until the first address is queried again
   local seen = try(c, "ageing", {
      { name = "learn", macs = list, fps = SLOW }, { name = "control", macs = list, fps = c.test_fps },
      { name = "ages", macs = list, fps = 1 / each,
         wait = math.max(0, low - n / SLOW - PAUSE - n / c.test_fps) },
   })
   if not seen or seen.control.known < n then
      return nil
   end
   local first = math.max(low, n / SLOW + PAUSE + n / c.test_fps)
   -- a switch that learns SLOW addresses a second takes up to 1 / SLOW for one
   local k, step, error = seen.ages.known, each - 1 / SLOW, seen.learn.lag_s + seen.ages.lag_s + 1 / SLOW
   return { min = k > 0 and first + (k - 1) * step - error or 0, max = k < n and first + k * step + error
      or math.huge }
end

-- The number of addresses whose ages can be tested at once: half of what a small table holds.
local function countable(c)
   local list = macs(c, 1, AGES)
   local seen = try(c, "ageing", {
      { name = "learn", macs = list, fps = SLOW }, { name = "known", macs = list, fps = c.test_fps },
   })
   if not seen then
      tell(c, "addresses: the tester or the way to learn from fell short")
      return nil
   end
   local known = seen.known.known
   c.row.learns = known > 0
   if known == 0 then
      tell(c, "it knew none of %d addresses that it had heard: it does not learn", AGES)
   end
   return known == AGES and AGES or math.floor(known / 2)
end

local function find_ageing(c)
   local count = countable(c)
   local in_time = count and affords(c, c.o.ageing + 1, "when it forgets an address")
   local found = in_time and count > 1 and ages(c, 0, c.o.ageing, count)
   if not found then
      if c.row.learns and in_time then
         tell(c, "it did not know %d addresses at once: when it forgets one is not told", count)
      end
      return nil
   end
   if found.max == math.huge then
      tell(c, "no address was forgotten within %g s: raise characterise.addresses.ageing", c.o.ageing)
   end
   return found, count
end

-- The same once more, closer. @param count  of addresses that it knows at once
local function look_closer(c, found, count)
   local n = math.min(count, math.floor(found.min * SLOW / 2))
   local closer = found.max < math.huge and n > 1
      and affords(c, found.max + PAUSE, "a closer look at the age") and ages(c, found.min, found.max, n)
   return closer and ranges.common { found, closer } or found
end

-- Teach new addresses, and query them; no more trials if it learned none of the new addresses.
-- @return points { n =, fps =, known =, upto = }
local function teach_new(c, fps, sizes, points)
   for _, n in ipairs(sizes) do
      local list, last = macs(c, c.taught + 1, c.taught + n), points[#points]
      local seen = #list == n and not (last and last.known == 0)
         and affords(c, n / fps + n / c.test_fps + 3 * PAUSE, "learning") and try(c, "learning", {
         { name = "learn", macs = list, fps = fps }, { name = "known", macs = list, fps = c.test_fps },
      })
      if seen then
         c.taught = c.taught + n
         points[#points + 1] = { n = n, fps = fps, known = seen.known.known, upto = c.taught,
            x = (n - 1) / fps, min = seen.known.known - 1 - seen.learn.lag_s * fps,
            max = seen.known.known + seen.learn.lag_s * fps }
      end
   end
end

-- Trials in which it was too slow.
local function slow(points, room)
   return tables.map(points, function(one)
      return one.known < one.n and one.upto <= room and one or nil
   end)
end

local function find_learning(c)
   local points = {}
   teach_new(c, c.fps, FEW, points)
   local late = slow(points, math.huge)
   if late[2] then
      local most = (late[2].max - late[1].min) / (late[2].x - late[1].x)
      teach_new(c, math.min(c.fps, math.max(SLOWEST, 2 * most)), MANY, points)
   else
      teach_new(c, c.fps, { MANY[2] }, points)
      teach_new(c, c.fps, slow(points, math.huge)[1] and { 2 * MANY[2] } or {}, points)
   end
   return points
end

-- Rate and queue by the trials in which it was too slow; nil: unknown. Without a queue an address that
-- arrives while it learns another is missed, so it learns each m-th one, each in (m - 1) / R to m / R.
local function learned(late)
   local rate, waiting = ranges.line(late)
   if not late[2] or not rate or rate.min <= 0 then
      return nil
   end
   waiting = { min = math.max(0, math.ceil(waiting.min - 1e-6)),
      max = math.max(0, math.floor(waiting.max + 1e-6)) }
   if waiting.min == 0 then
      local times = ranges.common(tables.map(late, function(one)
         local m = math.ceil((one.n - 1) / math.max(1, one.known))
         return { min = (m - 1) / one.fps, max = m / one.fps }
      end))
      local high = times and times.min > 0 and 1 / times.min or math.huge
      rate = ranges.hull { rate, times and { min = 1 / times.max, max = high } or rate }
   end
   return rate, waiting
end

-- Seconds in which n addresses are taught and queried.
local function seconds_of(c, fps, n)
   return n / fps + n / c.test_fps + 6 * PAUSE
end

-- Teach the first n addresses until it knows no more of them than before.
-- @return how many, and how many of the ports' own; nil: not told
local function teach(c, fps, n, wait)
   local known, more
   for pass = 1, PASSES do
      local list = macs(c, 1, n)
      local seen = (pass <= 2 or affords(c, seconds_of(c, fps, n), "teaching once more"))
         and try(c, "addresses", {
         { name = "learn", macs = list, fps = fps }, { name = "known", macs = list, fps = c.test_fps },
         { name = "own", macs = { octets.mac(c.tester.ports[LEARNING].mac) }, fps = c.test_fps },
         { name = "third", macs = { octets.mac(c.tester.ports[MONITORING].mac) }, fps = c.test_fps },
      }, pass == 1 and wait or nil)
      if not seen then
         return nil
      end
      more = seen.known.known
      if more == n or known and more <= known then
         return more, (seen.learn.known == n and 1 or 0) + seen.own.known + seen.third.known
      end
      known = more
   end
   return nil
end

-- What happens to new addresses where it knew only a part of n.
-- @return when_full, how many it learned, and whether those it knew are the first ones: a table that hashes
-- has missed some of these, and found room for later ones
local function when_full(c, fps, n, known, ageing)
   local room = ageing and (IN_TIME * ageing.min - 7 * PAUSE) / (1 / fps + 1 / c.test_fps) - 2 * n or n
   local list, before = macs(c, n + 1, n + math.max(FEW[1], math.min(n, fps > SLOWEST and math.floor(room)
      or FEW[2]))), macs(c, 1, n)
   local seconds = (n + #list) / fps + (n + #list + known) / c.test_fps + 7 * PAUSE
   local seen = list[1] and affords(c, seconds, "whether there is room for more") and try(c, "addresses", {
      { name = "learn", macs = before, fps = fps }, { name = "more", macs = list, fps = fps },
      { name = "new", macs = list, fps = c.test_fps }, { name = "before", macs = before, fps = c.test_fps },
      { name = "first", macs = macs(c, 1, math.max(1, known)), fps = c.test_fps },
   })
   if not seen then
      return "unclear", 0
   elseif seen.new.known == 0 then
      return "keeps", 0, seen.first.known == known
   end
   -- it learned all, and forgot as many, but for some of the ports' own
   local evicts = seen.new.known == #list and math.abs(known - seen.before.known - #list) <= OWN
   return evicts and "evicts" or "unclear", seen.new.known
end

-- The capacity of a table that knew only a part of n addresses.
-- @param o  how = when_full, in_order, n, known, own = of the ports' own, more = of others that it learned
local function room_of(c, o)
   if o.how == "keeps" and o.in_order then
      return { min = o.known + o.own, max = o.known + o.own }
   elseif o.how == "evicts" then
      return { min = o.known, max = o.known + OWN }
   end
   tell(c, "of %d addresses it knows %d, and of others it learns %d: whether there is room for more, as in a table that hashes, is not told", o.n, o.known, o.more)
   return { min = o.known, max = math.huge }
end

-- @return range of how many it holds, and how many of the first ones it certainly has room for; nil: not told
local function find_capacity(c, fps, ageing)
   -- what was taught before is still in the table, or the next trial waits until it is forgotten
   local n, known, wait, emptied = math.min(math.max(FIRST, c.taught), c.o.most), nil, nil, false
   if ageing and seconds_of(c, fps, n) > IN_TIME * ageing.min and ageing.max < math.huge then
      n, wait = FIRST, 1.1 * ageing.max
   end
   while true do
      local seconds = seconds_of(c, fps, n)
      local forgotten = ageing and seconds > IN_TIME * ageing.min
      if not affords(c, (wait or 0) + 2 * seconds, ("%d addresses"):format(n)) then
         break
      elseif forgotten or seconds > LONGEST then
         tell(c, "%d addresses take %.3g s to teach and to ask for%s: no more were tried", n, seconds,
            forgotten and ", and are forgotten before" or "")
         break
      end
      local now, own = teach(c, fps, n, wait)
      if not now then
         tell(c, "%d addresses: the tester fell short, or more of them are known each time", n)
         break
      elseif now < n then
         local how, more, in_order = when_full(c, fps, n, now, ageing)
         if how == "keeps" and not in_order and not emptied and ageing and ageing.max < math.huge then
            emptied, wait = true, 1.1 * ageing.max -- once more: it may have missed some before
         else
            c.row.when_full = how
            return room_of(c, { how = how, in_order = in_order, n = n, known = now, own = own, more = more }),
               in_order and now or known
         end
      elseif n >= c.o.most then
         tell(c, "all of %d addresses are known: raise characterise.addresses.most", n)
         return { min = n, max = math.huge }, n
      else
         known, wait, n = n, nil, math.min(c.o.most, n * FACTOR)
      end
   end
   return known and { min = known, max = math.huge }, known
end

-- Frames per second of the smallest size that the ways there and back carry.
local function carried(rows, tester)
   local fps = tester:max_fps(SIZE)
   for _, row in ipairs(rows) do
      fps = math.min(fps, row.cir and queue.rate(parameters.model(row, math.huge), SIZE)
         or row.capacity and row.capacity.min_fps or fps)
   end
   return fps
end

--- Trials, at most, of a switch that is not too slow; and the seconds of their load.
-- @param o  the group characterise
M.TRIALS = 24

function M.seconds(o)
   return math.min(o.limit, 2 * o.addresses.ageing + 4 * LONGEST)
end

--- Measure.
-- @param rows  of the directions, which come before
-- @return the row of the table
function M.measure(plan, tester, session, rows)
   local o, fps = plan.characterise.addresses, carried(rows, tester)
   local c = { tester = tester, session = session, o = o, limit = plan.characterise.limit, trials = {},
      taught = AGES, fps = 0.5 * fps, test_fps = 0.1 * fps,
      macs = caching.addresses("sequential", 2 * o.most, SEED),
      row = { ports = table.concat(tables.field(tester.ports, "name"), " "), remarks = {} } }
   local row, ageing, count = c.row, find_ageing(c)
   if row.learns then
      local points = find_learning(c)
      local rate = learned(slow(points, math.huge))
      local fill_fps = rate and math.min(c.fps, math.max(SLOWEST, 0.5 * rate.min))
         or slow(points, math.huge)[1] and SLOWEST or c.fps
      local found, room = find_capacity(c, fill_fps, ageing)
      row.addresses = parameters.estimate(found, "addresses")
      local waiting
      rate, waiting = learned(slow(points, room or 0))
      if rate then
         row.learning = parameters.estimate(rate, "fps")
         row.learning_queue = parameters.estimate(waiting, "addresses")
      elseif not slow(points, math.huge)[1] and points[1] then
         tell(c, "it learned all of %d addresses that came at %s frames/s: how fast it learns more is not told", points[#points].n, format.count(points[#points].fps))
      else
         tell(c, "how fast it learns is not told: too few trials in which there was room for all")
      end
      row.ageing = ageing and parameters.estimate(look_closer(c, ageing, count), "ns", 1e9)
   end
   row.trials = #c.trials
   row.validity, row.reasons = verdict.merge(c.trials)
   return row
end

return M
