-- SPDX-License-Identifier: BSD-3-Clause

--- Active OAM: sessions of probes to a reflector, one after the other; docs/how-to/oam.md.
--
-- A session is a trial (tester.oam.session). Its figures come from tester.oam.figures. A reply that breaks
-- the standard is the reflector's fault, and decides the row's verdict.
local CommonTime = require "framegauge.tester.oam.common_time"
local counts = require "framegauge.tester.counts"
local ethernet = require "framegauge.core.ethernet"
local figures = require "framegauge.tester.oam.figures"
local format = require "framegauge.text.format"
local octets = require "framegauge.core.octets"
local outlook = require "framegauge.methods.common.outlook"
local session_of = require "framegauge.tester.oam.session"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "OAM"

-- Fields of a reflector's messages: numbers, and an error estimate of its clock.
local FORMAT = {
   stamp = { numbers = "sequence", told = true, udp = true },
   twamp_light = { numbers = "sequence", told = true, udp = true },
   loopback = {}, delay = {}, synthetic_loss = { numbers = "count" }, loss = { service = true },
}
local SKIPPED = 1 -- this number is not sent, so that it shows whether the reflector counts by itself

local function is_peer(o)
   return o.peer.ipv4 or o.peer.ipv6 or o.peer.mac
end

-- Sessions of the plan: list of { test =, frame_size =, from =, to = }.
local function sessions(plan)
   local list = {}
   for _, test in ipairs(plan.oam.tests) do
      for _, size in ipairs(plan.oam.frame_sizes) do
         for from = 1, #plan.ports, 2 do
            list[#list + 1] = { test = test, frame_size = size, from = from,
               to = not is_peer(plan.oam) and from + 1 or nil }
         end
      end
   end
   return list
end

--- What keeps the plan from being run, or nil. Probes that wait for their own line would have that wait in
-- their delays.
function M.check(plan, tester)
   for _, one in ipairs(sessions(plan)) do
      local a, b = tester.ports[one.from].line_rate, one.to and tester.ports[one.to].line_rate
      local frames = one.test == "loss" and plan.oam.between + 1 or 1 -- in an interval
      local least = frames * ethernet.l1_bps(1, one.frame_size) / math.min(a or math.huge, b or math.huge)
      if plan.oam.interval < least * (1 - 1e-9) then
         return ("oam: %s: the line does not carry %s of %d bytes every %s; give at least oam.interval: %s"):format(
            one.test, format.plural(frames, "frame"), one.frame_size, units.format_time(plan.oam.interval),
            units.format_time(math.ceil(least * 1e6 - 1e-6) / 1e6))
      end
   end
end

local function direction_of(plan, one)
   local to, peer = one.to and plan.ports[one.to], plan.oam.peer
   return plan.ports[one.from].name .. "->" .. (to and to.name or peer.ipv4 or peer.ipv6 or peer.mac)
end

function M.directions(plan)
   return tables.map(sessions(plan), function(one) return direction_of(plan, one) end)
end

local function seconds_of(o)
   return o.count * o.interval + o.drain + o.learning_wait + o.settle
end

function M.parts(plan)
   local list = tables.map(sessions(plan), function(one)
      return { test = "oam." .. one.test, frame_size = one.frame_size, total = seconds_of(plan.oam) }
   end)
   return outlook.bounded(outlook.parts(list), outlook.EXACTLY)
end

function M.outlook(plan, _, notes)
   return suite.outlook(M.parts(plan), notes, {
      ("%s a session, %s apart; replies may take %s."):format(format.plural(plan.oam.count, "probe"),
         units.format_time(plan.oam.interval), units.format_time(plan.oam.drain)),
   })
end

-- The reflector's addresses: o.ipv4 or ipv6, and the MAC that probes go to.
local function peer_of(plan, tester, one)
   local p, sender, far = plan.oam.peer, plan.ports[one.from], one.to and plan.ports[one.to] or {}
   local six = p.ipv6 ~= nil or (not p.ipv4 and not sender.ipv4)
   local mac = p.mac and octets.mac(p.mac)
   if FORMAT[one.test].udp then
      mac = mac or tester:gateway_mac(one.from, six and 6 or 4)
   end
   return {
      ipv4 = FORMAT[one.test].udp and not six and (p.ipv4 or far.ipv4) or nil,
      ipv6 = FORMAT[one.test].udp and six and (p.ipv6 or far.ipv6) or nil,
      mac = mac or octets.mac(tester.ports[one.to].mac),
   }
end

-- Frames of the service that were lost in both directions.
local function service_lost(record)
   local service = record.service
   return service and math.max(0, service.forward_lost) + math.max(0, service.backward_lost) or 0
end

-- The losses in words; nil: no loss.
local function losses(record)
   local service, words = service_lost(record), {}
   words[1] = record.lost > 0 and format.plural(record.lost, "probe") or nil
   words[#words + 1] = service > 0 and format.plural(service, "frame") .. " of the service" or nil
   return words[1] and table.concat(words, " and ")
end

--- Could a stall of the tester have caused losses? Overdue probes and replies leave at once, and received
-- frames are not fetched: the device, or the port, may lack the buffer for them.
-- @param record    of the session: sent, lost, service
-- @param evidence  of framegauge.tester.oam.session
-- @return a sentence, or nil
function M.held_up(record, evidence)
   local lost, sent = losses(record), record.sent + (record.service and record.service.forward_sent or 0)
   local lump = math.floor(evidence.gap_max_ns / evidence.step_ns)
   if not lost then
      return nil
   elseif evidence.off_schedule > trial.OFF_SCHEDULE_TOLERANCE * record.sent then
      return ("%s lost, but %s left up to %s ms late and close together"):format(lost,
         format.plural(evidence.off_schedule, "probe"), format.decimal(evidence.lag_max_ns / 1e6, 1))
   elseif lump > math.max(1, trial.OFF_SCHEDULE_TOLERANCE * sent) then
      return ("%s lost, but the tester did not look at its ports for %s ms, in which %s come"):format(lost,
         format.decimal(evidence.gap_max_ns / 1e6, 1), format.plural(lump, "frame"))
   end
end

--- Why a session is not valid.
-- @return lists of sentences: why it is invalid, where the tester fell short
function M.reasons(record, evidence)
   local invalid, limited = verdict.card_reasons(evidence.ports, losses(record) ~= nil), {}
   for _, port in ipairs(evidence.ports) do
      local lost, drops = verdict.link_reason(port), port.rx_missed + port.rx_no_mbuf + port.tx_errors
      record.tester_drops = record.tester_drops + drops
      invalid[#invalid + 1] = lost
      limited[#limited + 1] = drops > 0 and ("port %s: the tester dropped %s"):format(port.name,
         format.plural(drops, "frame")) or nil
   end
   if evidence.refused > 0 then
      limited[#limited + 1] = ("a port did not take a frame at once, %s: its timestamp is too early by the wait"):format(format.plural(evidence.refused, "time"))
   end
   limited[#limited + 1] = M.held_up(record, evidence)
   return invalid, limited
end

-- Number of a session. Reflectors remember sessions for a while, so each run on real ports has its own
-- numbers.
local function number_of(tester, ask)
   return tester.wires and ask.number or (os.time() * 16 + ask.number) % 0x7fffffff
end

-- The arguments of a session. @param n  numbers of probes
local function asked(plan, tester, one, ask, n)
   local o, far = plan.oam, peer_of(plan, tester, one)
   return {
      from = one.from, to = one.to, test = one.test, mac = far.mac, ipv4 = far.ipv4, ipv6 = far.ipv6,
      port = o.port, frame_size = one.frame_size, count = n, interval = o.interval, timeout = o.drain,
      learning_wait = o.learning_wait, settle = o.settle, dscp = o.dscp, ttl = o.ttl, level = o.level,
      mep = o.mep, between = o.between, ptp = o.timestamp == "ptp", number = number_of(tester, ask),
   }
end

local function measure(plan, tester, one, ask, common_time)
   local o, shape = plan.oam, FORMAT[one.test]
   local skip = shape.numbers == "sequence" and SKIPPED or nil
   local n = o.count + (skip and 1 or 0)
   local how = asked(plan, tester, one, ask, n)
   how.skip, how.common_time = skip, common_time
   local record, wrong, evidence = session_of.run(tester, how, function(probes, seen, stamp_ns)
      return figures.of(probes, n, {
         timeout_ns = o.drain * 1e9, duplicates = seen.duplicates, numbers = shape.numbers,
         one_clock = one.to ~= nil, told = shape.told, problem = common_time:problem(),
         own_error_ns = common_time:error(), stamp_ns = stamp_ns, between = shape.service and o.between,
      })
   end)
   for key, value in pairs {
      trial = ask.number, test = ask.test, frame_size = ask.frame_size, title = ask.title, phase = ask.phase,
      direction = ask.direction, duration_s = ask.seconds, time = tester.clock, setting = ask.setting,
      wrong = wrong, tester_drops = 0, refused = evidence.refused, cards = counts.cards(evidence.ports),
   } do
      record[key] = value
   end
   return verdict.settle(record, M.reasons(record, evidence))
end

--- The result of a trial, in a few words.
local function outcome(record)
   return ("%d of %s answered"):format(record.received, format.plural(record.sent, "probe"))
end

local NOT_OF_ROW = { "setting", "cards", "tester_drops", "refused", "title", "phase", "duration_s", "time" }

local function row_of(record, one)
   local row = tables.copy(record)
   for _, key in ipairs(NOT_OF_ROW) do
      row[key] = nil
   end
   row.test, row.frame_size, row.reasons = one.test, one.frame_size, { unpack(record.reasons) }
   if record.validity == "valid" then
      for _, wrong in ipairs(record.wrong) do
         table.insert(row.reasons, ("%s: %s"):format(wrong.what, format.plural(wrong.count, "time")))
      end
      if record.received == 0 then
         table.insert(row.reasons, "no reply came")
      end
      row.outcome = #row.reasons == 0 and "pass" or "fail"
   end
   return row
end

--- Measure.
-- @param results  gets the list `oam`, a row for each session
function M.run(plan, tester, session, results)
   local o = plan.oam
   local common_time = tester.wires and CommonTime.of_wire() or CommonTime.open(plan.clock)
   results.oam = {}
   for i, one in ipairs(sessions(plan)) do
      local direction = direction_of(plan, one)
      local record = session:trial {
         test = "oam." .. one.test, phase = "measure", seconds = o.count * o.interval,
         title = ("%s, %d bytes"):format(suite.words(one.test), one.frame_size), drain = o.drain,
         direction = direction, frame_size = one.frame_size,
         setting = { peer = direction:match "%->(.*)$", count = o.count, interval_s = o.interval },
         make = function(ask)
            return measure(plan, tester, one, ask, common_time)
         end,
         outcome = outcome,
      }
      results.oam[i] = row_of(record, one)
   end
end

return M
