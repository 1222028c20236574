-- SPDX-License-Identifier: BSD-3-Clause

--- Experiments of RFC 9693 (4.5 to 4.8). Each begins with an empty table of the device and has two phases. In
-- the first only the Initiator sends, every frame with another four tuple: each makes an entry in the device
-- and in the Responder's state table. The second uses these connections only. Both phases are one trial of
-- the session, because the second has no meaning without the first.
local api = require "framegauge.core.api"
local command = require "framegauge.core.command"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"
local plans = require "framegauge.methods.rfc9693.plan"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local tuples = require "framegauge.methods.rfc9693.tuples"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local FORGET = 1.1 -- of the timeout
local PATIENCE_MS = 600000 -- for the command that clears
local FAILED = 4 -- exit status
local INITIATOR, RESPONDER = 1, 2

local function names(c)
   local a, b = c.plan.ports[INITIATOR].name, c.plan.ports[RESPONDER].name
   return a .. "->" .. b, b .. "->" .. a
end

-- --- the table of the device is emptied

local function run_command(argv)
   local text, why = job.wait(function(wake)
      command.run(argv, wake, PATIENCE_MS)
   end)
   if not text then
      user_error.raise("run", FAILED, "rfc9693.clear: %s", why)
   end
end

-- @return seconds that it took, by the clock of the tester
local function clear(c)
   local tester = c.tester
   if tester.wires then
      local before = api.C.fg_engine_now_ns(tester.engine)
      local seconds = tester.wires:clear_nat(before)
      if seconds > 0 then
         tester:pause(seconds)
      end
      return seconds > 0 and tonumber(api.C.fg_engine_now_ns(tester.engine) - before) / 1e9 or 0
   end
   local before = uv.hrtime()
   run_command(c.o.clear)
   return (uv.hrtime() - before) / 1e9
end

-- Before an experiment.
local function begin(c)
   if c.tester.wires then
      c.tester.wires:reset()
   elseif c.o.clear then
      clear(c)
   else
      job.sleep(FORGET * c.o.timeout)
   end
end

-- --- the phases

-- The orders in which n connections are enumerated and read: the same in every experiment.
local function orders_of(c, n)
   if not c.orders or c.orders.n ~= n then
      c.orders = { n = n, sent = tuples.order(n, c.o.order, c.o.seed),
         read = tuples.order(n, c.o.order, c.o.seed + 1) }
   end
   return c.orders
end

local function send(c, streams, more)
   local o = c.o
   return c.tester:trial {
      streams = streams, taps = more.taps, learning_wait = more.wait or o.learning_wait,
      drain = o.drain, settle = more.settle, continues = more.continues, tags = more.tags,
      patient = more.patient, addresses = { o.addresses.source, o.addresses.destination },
   }
end

-- The first phase. @return its counts, and the state table
-- @param patient  whether late frames are sent nevertheless: where only their arrival matters
local function establish(c, n, fps, patient)
   local known, to = tuples.table(n), names(c)
   local order = orders_of(c, n).sent
   local raw = send(c, { {
      name = to, from = c.plan.ports[INITIATOR].name, to = c.plan.ports[RESPONDER].name, measure = {},
      frame = tuples.initiator(c.tester, plans.FRAME, n, order), loads = { { fps = fps, seconds = n / fps } },
   } }, { taps = { [RESPONDER] = known.tap }, patient = patient })
   return raw, known, order
end

-- Streams of the second phase: of the Responder, and where there is a load both ways of the Initiator, too.
local function streams_of(c, known, o)
   local to, back = names(c)
   local a, b = c.plan.ports[INITIATOR].name, c.plan.ports[RESPONDER].name
   local read = orders_of(c, known.n).read
   local list = { {
      name = back, from = b, to = a, measure = {}, tags = o.tags,
      frame = known:responder(c.tester, o.frame_size, read), loads = { { fps = o.fps, seconds = o.seconds } },
   } }
   if o.both then
      table.insert(list, 1, { name = to, from = a, to = b, measure = {}, tags = o.tags, loads = list[1].loads,
         frame = tuples.initiator(c.tester, o.frame_size, known.n, read) })
   end
   return list
end

local function use(c, known, o)
   return send(c, streams_of(c, known, o), { wait = c.o.gap, settle = c.o.settle, continues = true,
      tags = o.tags, patient = o.patient })
end

-- --- records

local function of_both(first, second)
   return {
      time = first.time, directions = tables.joined(first.directions, second.directions),
      ports = tables.joined(first.ports, second.ports), lcores = tables.joined(first.lcores, second.lcores),
   }
end

local function invalid(record, ...)
   record.validity = "invalid"
   table.insert(record.reasons, string.format(...))
end

-- The tester's lateness does not matter.
local function in_any_time(record)
   if record.validity == "tester-limited" then
      record.validity, record.reasons = "valid", {}
   end
end

-- What the state table shows, where every frame was sent and has arrived.
local function note_translation(c, record, known, order)
   local entries = known:known()
   if record.rx > entries then
      invalid(record, "%s of %d frames arrived otherwise than as UDP over IPv4",
         format.count(record.rx - entries), known.n)
   end
   if entries < known.n then
      return
   end
   record.translation = known:translation(c.plan, order)
   if record.translation.collisions > 0 then
      invalid(record, "%s arrived with the four tuple of another",
         format.plural(record.translation.collisions, "connection"))
   end
end

-- The first phase by itself. @return its record, counts, state table and whether the second may follow
local function first_phase(c, ask, n, fps, patient)
   begin(c)
   local raw, known, order = establish(c, n, fps, patient)
   local record = trial.record(raw, setmetatable({ fps = fps, seconds = n / fps, streams = {} },
      { __index = ask }))
   if record.lost > 0 then
      record.failed_because = "not forwarded"
   else
      note_translation(c, record, known, order)
   end
   return record, raw, known, record.validity ~= "invalid" and record.translation ~= nil
end

-- --- what the tests ask for

local function connections(n)
   return format.plural(n, "connection")
end

local function ask_for(c, o)
   o.test, o.direction, o.streams, o.any_loss = "rfc9693." .. c.key, "both", {}, true
   o.frame_size = o.frame_size or plans.FRAME
   o.takes = o.takes + c.o.learning_wait + c.o.gap + 2 * c.o.drain + c.o.settle
      + (c.tester.wires and 0 or c.o.clear and 0 or FORGET * c.o.timeout)
   return c.session:trial(o)
end

--- Establish n connections, and validate them (RFC 9693, 4.5 and 4.6).
-- @param alpha     rate of the Responder, as a share of fps
-- @param any_rate  whether the number established is enough, however late the tester was
-- @return its record; what was lost of either phase fails it
function M.elementary(c, n, fps, alpha, phase, any_rate)
   local validated = c.o.validate
   local function make(ask)
      local record, raw, known, established = first_phase(c, ask, n, fps, any_rate)
      if established and validated then
         local first = record
         record = trial.record(of_both(raw, use(c, known, { frame_size = plans.FRAME, fps = alpha * fps,
            seconds = n / (alpha * fps), patient = any_rate })), ask)
         record.translation, record.offered_fps = first.translation, first.offered_fps
         record.failed_because = record.lost > 0 and "not established" or nil
         if record.directions[2].rx == n and record.validity == "tester-limited" then -- at whatever rate
            record.validity, record.reasons = first.validity, first.reasons
         end
      end
      if any_rate and record.rx == n * (validated and 2 or 1) then
         in_any_time(record)
      end
      record.setting = ask.setting
      return record
   end
   return ask_for(c, {
      phase = phase, fps = fps, seconds = n / fps, setting = { connections = n, alpha = alpha }, make = make,
      title = ("%s, %s at %s/s"):format(c.key:gsub("_", " "), connections(n), format.count(fps)),
      takes = n / fps * (1 + (validated and 1 / alpha or 0)),
      outcome = function(record)
         return record.failed_because or record.lost == 0 and "all established" or "lost"
      end,
   })
end

--- Establish n connections, and load them both ways.
-- @param o  establishment_fps, frame_size, fps, seconds, tags or nil, line_fps, phase
-- @return record of the second phase
function M.load(c, n, o)
   local function make(ask)
      local first, _, known, established = first_phase(c, ask, n, o.establishment_fps, true)
      local record = first
      if established then
         record = trial.record(use(c, known, { frame_size = o.frame_size, fps = o.fps, seconds = o.seconds,
            tags = o.tags, both = true }), ask)
      else
         record.intended_fps, record.duration_s, record.frame_size = o.fps, o.seconds, o.frame_size
         if record.validity == "valid" then
            invalid(record, "%s of %d connections were not established", format.count(first.lost), n)
         end
      end
      record.setting = ask.setting
      return record
   end
   return ask_for(c, {
      phase = o.phase, fps = o.fps, seconds = o.seconds, frame_size = o.frame_size, line_fps = o.line_fps,
      setting = { connections = n, establishment_fps = o.establishment_fps }, make = make,
      takes = n / o.establishment_fps + o.seconds,
   })
end

--- Establish n connections, and have them removed (4.8); none may be left.
-- @return record with `teardown`
function M.teardown(c, n, fps)
   local function make(ask)
      begin(c)
      local empty = clear(c)
      local record, raw, known, established = first_phase(c, ask, n, fps, true)
      if established then
         local seconds = clear(c)
         local second = use(c, known, { frame_size = plans.FRAME, fps = fps, seconds = n / fps,
            patient = true })
         local back = second.directions[1]
         record.directions = trial.record(of_both(raw, second), ask).directions
         if back.tx == n then
            in_any_time(record)
         end
         record.teardown = { connections = n, seconds = seconds, empty_s = empty, left = back.rx }
         if back.rx > 0 then
            invalid(record, "%s of %d connections were left", format.count(back.rx), n)
         end
      elseif record.validity == "valid" then
         invalid(record, "%s of %d connections were not established", format.count(record.lost), n)
      end
      record.setting = ask.setting
      return record
   end
   return ask_for(c, {
      phase = "measure", fps = fps, seconds = n / fps, setting = { connections = n }, make = make,
      title = ("teardown of %s"):format(connections(n)), takes = 2 * n / fps,
   })
end

return M
