-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 sections 5.7 and 5.8: how many addresses a switch remembers, and how fast it learns them.
--
-- Three ports: test, learning and monitoring. Each trial waits until the table is empty, teaches the test
-- port's address by a broadcast, sends frames from N addresses from the learning port to the test port, and
-- then one frame to each of these addresses from the test port. It passes if none of these comes out at the
-- monitoring port, and all at the learning port. No other port sends, so the table holds N addresses and the
-- test port's.
--
-- Trial N uses the first N addresses of one fixed sequence. So with a hashed table, too, a failure with N
-- addresses implies a failure with more.
--
-- A trial that passes is proof, however late the tester was. But a failed trial shows something of the switch
-- only if the tester sent all frames on time: a switch that learns slowly may miss addresses that come close
-- together.
local format = require "framegauge.text.format"
local frames = require "framegauge.methods.rfc2889.frames"
local octets = require "framegauge.core.octets"
local random = require "framegauge.core.random"
local search = require "framegauge.search"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.trial"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = { "address_caching", "learning_rate" }

local FIRST = 0x020000100000ULL -- 02:00:00:10:00:00
local SIZE = 64 -- bytes with FCS
local PAUSE = 0.1 -- seconds between the broadcast, the learning and the test
local FORGET = 1.1 -- of the ageing time
local ATTEMPTS = 3 -- at a number of addresses, while the tester is the reason of the failure

--- The first addresses of a sequence: `sequential` from 02:00:00:10:00:00 on, or `random`: 02 and 40 random
-- bits, no address twice.
-- @return list of six bytes each
-- @usage octets.mac_text(caching.addresses("random", 3, 1)[1]) --> 02:ec:89:02:5c:c1
function M.addresses(order, n, seed)
   local list, seen, draw = {}, {}, random.sequence(seed)
   while #list < n do
      local number = FIRST + #list
      if order == "random" then
         number = bit.bor(bit.band(draw(), 0xffffffffffULL), 0x020000000000ULL)
      end
      local mac = octets.of_number(tonumber(number), 6)
      if not seen[mac] then
         list[#list + 1], seen[mac] = mac, true
      end
   end
   return list
end

-- The ports by their roles: in the order of the plan.
local function roles(tester)
   return { test = 1, learning = 2, monitoring = 3 }, tester.ports
end

--- Streams of a trial, one after the other.
-- @param parts  list of { name =, from =, to = numbers of ports, how = as frames.template() takes it, fps =,
--               count = frames, wait = seconds before it, unmeasured = whether it comes out everywhere }
-- @return the streams, and the seconds of all
function M.streams(tester, parts)
   local list, at = {}, 0
   for i, part in ipairs(parts) do
      at = at + part.wait
      list[i] = {
         name = part.name, from = tester.ports[part.from].name, to = tester.ports[part.to].name, delay = at,
         measure = {}, unmeasured = part.unmeasured,
         loads = { { fps = part.fps, seconds = part.count / part.fps } },
         frame = frames.template(tester, part.from, part.to,
            frames.size(tester.plan, part.from, part.to, SIZE), part.how),
      }
      at = at + part.count / part.fps
   end
   return list, at
end

local function streams_of(tester, o, macs, learning_fps)
   local is = roles(tester)
   return M.streams(tester, {
      { name = "announcement", from = is.test, to = is.learning, how = { broadcast = true }, fps = 1 / PAUSE,
         count = 1, wait = FORGET * o.ageing, unmeasured = true },
      { name = "learning", from = is.learning, to = is.test, how = { sources = macs }, fps = learning_fps,
         count = #macs, wait = PAUSE },
      { name = "test", from = is.test, to = is.learning, how = { destinations = macs }, fps = o.test_rate,
         count = #macs, wait = PAUSE },
   })
end

local function at(direction, port)
   return direction.measured.misdirected and direction.measured.misdirected[port.name] or 0
end

-- Results of a trial, and the counts of its frames to learn from.
local function read(c, n, learning_fps, record)
   local monitoring = c.tester.ports[roles(c.tester).monitoring]
   local learning, test = record.directions[1], record.directions[2]
   local flood = at(test, monitoring)
   return {
      addresses = n, intended_fps = learning_fps, tested = test.tx, flood_monitor = flood,
      correct_learning = test.rx, learning_received = learning.rx,
      passed = flood == 0 and test.rx == n and learning.rx == n, trial = record.trial,
   }, learning
end

-- Whether a failed trial is evidence about the switch.
-- @return validity, and sentences for why it is not valid
local function failed(c, one, record, learning)
   local reasons = tables.joined({}, record.reasons)
   if record.validity ~= "valid" then
      return record.validity, reasons
   elseif learning.tx < one.addresses or one.tested < one.addresses then
      reasons[1] = ("%s and %s of %d frames were sent to learn from and to test"):format(
         format.count(learning.tx), format.count(one.tested), one.addresses)
   elseif learning.off_schedule >= one.flood_monitor and one.flood_monitor > 0
      and trials.lump(learning) > c.held then
      reasons[1] = ("%s flooded, but %s to learn from left off schedule, up to %s ms late and close together")
         :format(format.plural(one.flood_monitor, "frame"), format.count(learning.off_schedule),
            format.decimal(learning.lag_max_ns / 1e6, 1))
   end
   return reasons[1] and "tester-limited" or "valid", reasons
end

-- One trial. @return its result, and the same as a record for a search
local function try(c, n, learning_fps)
   local macs = {}
   for i = 1, n do
      macs[i] = c.macs[i]
   end
   local streams, seconds = streams_of(c.tester, c.o, macs, learning_fps)
   local record = c.session:trial {
      test = "rfc2889." .. c.key, phase = "search", frame_size = SIZE, direction = c.order,
      fps = learning_fps, seconds = seconds, streams = streams, silent = true, any_loss = true,
      outcome = function(record)
         local one = read(c, n, learning_fps, record)
         return ("%s %s: %s"):format(format.count(n), c.order, one.passed and "all known"
            or format.count(one.flood_monitor) .. " flooded")
      end,
   }
   local one, learning = read(c, n, learning_fps, record)
   local judged = { tx = n, lost = 0 }
   if one.passed then
      c.held = math.max(c.held, trials.lump(learning))
   else
      judged.lost = math.max(1, n - one.correct_learning, one.flood_monitor)
      judged.validity, judged.reasons = failed(c, one, record, learning)
   end
   c.iterations[#c.iterations + 1], c.by_number[n], c.by_trial[one.trial] = one, one, one
   return one, setmetatable(judged, { __index = record })
end

-- Why the search ended, from the trial above its result.
local function limit_of(c, result)
   if result.limited_by ~= "loss" then
      return result.limited_by
   end
   local one = c.by_trial[result.upper_trial.trial]
   return one.learning_received < one.addresses and "learning" or one.flood_monitor > 0 and "flood" or "loss"
end

local function capacity_goal(o, max_trials)
   return search.goal({ search_trial = 1, trial = 1, max_trials = max_trials }, {
      min = 0, max = o.max, initial = o.initial, resolution = 1, step = 1,
   })
end

local function rate_goal(o, max_trials, n, most)
   return search.goal({ search_trial = 1, trial = 1, max_trials = max_trials }, {
      min = n / o.ageing, max = most, resolution = o.resolution, relative = true,
   })
end

-- The loop of the RFC, which never tries the maximum itself: it is tried at the end.
-- @return result of the search, and how many addresses of the maximum were learned, nil if nobody knows
local function find_capacity(c)
   local goal = capacity_goal(c.o, c.max_trials)
   function goal.trial(n)
      local one, record
      for _ = 1, ATTEMPTS do
         one, record = try(c, n, c.o.learning_rate)
         if one.passed or record.validity == "valid" then
            break
         end
      end
      if one.passed and record.validity == "tester-limited" then
         record.validity = "valid"
      end
      return record
   end
   local result, full = search.run("binary", goal), c.by_number[c.o.max]
   full = full or try(c, c.o.max, c.o.learning_rate)
   local known = full.learning_received == c.o.max and full.tested == c.o.max
   return result, known and c.o.max - full.flood_monitor or nil
end

local function find_rate(c, n, most)
   local goal = rate_goal(c.o, c.max_trials, n, most)
   function goal.trial(fps)
      return select(2, try(c, n, fps))
   end
   return search.run("binary", goal)
end

local function context(plan, tester, session, key, order)
   local o = plan.rfc2889.address_table
   return {
      tester = tester, session = session, key = key, order = order, o = o,
      max_trials = plan.rfc2889.max_trials,
      macs = M.addresses(order, o.max, o.seed), iterations = {}, by_number = {}, by_trial = {},
      held = 0, -- addresses that were learned although they came close together
   }
end

local function row_of(c, result, values)
   local limit = limit_of(c, result)
   local validity = verdict.of_search(limit)
   local reasons = validity ~= "valid" and result.upper_trial and result.upper_trial.reasons or {}
   if limit == "learning" then
      validity, reasons = "invalid", { "learning frames were lost on the way: the load was too much for the switch, which says nothing of its table; lower rfc2889.address_table.learning_rate" }
   end
   values.test, values.order, values.iterations, values.trials = c.key, c.order, c.iterations, #c.iterations
   values.ageing_s, values.limited_by, values.validity, values.reasons = c.o.ageing, limit, validity, reasons
   return values
end

-- The result of the table test, if it was made.
local function found_capacity(results, order)
   return (tables.find(results or {}, "order", order) or {}).addresses
end

--- Measure with addresses in each order.
-- @param rows   takes the rows as they are found
-- @param found  results of the tests before
function M.run(plan, tester, session, key, rows, found)
   for _, order in ipairs(plan.rfc2889.address_table.order) do
      local c = context(plan, tester, session, key, order)
      if key == "address_caching" then
         local result, learned = find_capacity(c)
         local n = result.load or 0
         rows[#rows + 1] = row_of(c, result, { addresses = n, with_own = n + 1, learned_at_max = learned,
            intended_fps = c.o.learning_rate })
      else
         local n = c.o.addresses or found_capacity(found.address_caching, order)
         local result = find_rate(c, n, tester:max_fps(SIZE))
         rows[#rows + 1] = row_of(c, result, { addresses = n, learning_fps = result.load,
            upper_fps = result.upper })
      end
   end
end

-- The trials that a reference switch takes: what its table holds, and how fast it learns.
-- @return list of { n = addresses, fps = at which they are learned }
local function rehearse(plan, key, most)
   local o, t, list = plan.rfc2889.address_table, plan.reference_switch.mac_table, {}
   local held = key == "address_caching" and t.size - 1 or o.addresses or math.min(t.size - 1, o.max)
   local goal, limit = capacity_goal(o, plan.rfc2889.max_trials), held
   if key == "learning_rate" then
      goal = rate_goal(o, plan.rfc2889.max_trials, held, most)
      limit = (t.learning_rate or math.huge) / math.max(0, 1 - t.learning_queue / (held - 1))
   end
   function goal.trial(load)
      list[#list + 1] = key == "learning_rate" and { n = held, fps = load }
         or { n = load, fps = o.learning_rate }
      return { validity = "valid", reasons = {}, tx = 2, lost = load > limit and 1 or 0 }
   end
   search.run("binary", goal)
   if key == "address_caching" and not tables.find(list, "n", o.max) then
      list[#list + 1] = { n = o.max, fps = o.learning_rate }
   end
   return list
end

-- The most trials of an unknown device.
local function most_of(o, key)
   local list = {}
   for i = 1, math.ceil(key == "address_caching" and math.log(o.max) / math.log(2) + 2
      or math.log(1e9 / o.resolution) / math.log(2)) do
      list[i] = { n = o.max, fps = o.learning_rate }
   end
   return list
end

--- The trials to come: as mesh.parts().
function M.parts(plan, key, tester)
   local o, seconds, frames_sent = plan.rfc2889.address_table, 0, 0
   local list = plan.reference_switch and rehearse(plan, key, tester:max_fps(SIZE)) or most_of(o, key)
   for _, one in ipairs(list) do
      frames_sent = frames_sent + 2 * one.n
      seconds = seconds + FORGET * o.ageing + one.n / one.fps + one.n / o.test_rate + 3 * PAUSE
         + plan.rfc2889.learning_wait + plan.rfc2889.drain + plan.rfc2889.settle
   end
   return tables.map(o.order, function()
      return { test = "rfc2889." .. key, frame_size = SIZE, trials = #list, frames = frames_sent,
         seconds = seconds }
   end)
end

return M
