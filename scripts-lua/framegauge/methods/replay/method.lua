-- SPDX-License-Identifier: BSD-3-Clause

--- A capture of the plan, sent again as often as the plan says, and its arrival; docs/how-to/captures.md.
--
-- A trial is one replay (tester.replay). It is valid if the schedule was kept and the comparison could
-- follow. The row's verdict says whether the device passed all frames, unchanged and in order.
local api = require "framegauge.core.api"
local counts = require "framegauge.tester.counts"
local differences = require "framegauge.tester.replay.differences"
local flow_control = require "framegauge.trial.flow_control"
local format = require "framegauge.text.format"
local named_file = require "framegauge.core.named_file"
local outlook = require "framegauge.methods.common.outlook"
local pace = require "framegauge.tester.replay.pace"
local remarks = require "framegauge.tester.replay.remarks"
local replay = require "framegauge.tester.replay"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

M.TITLE = "Replay"

-- Shares of the frames at which the distribution of the timing error is recorded.
local SHARES = {
   min_ns = 0, p01_ns = 0.01, p10_ns = 0.1, p25_ns = 0.25, p50_ns = 0.5, p75_ns = 0.75, p90_ns = 0.9,
   p99_ns = 0.99,
   p999_ns = 0.999, p9999_ns = 0.9999, max_ns = 1,
}

local plural = format.plural

function M.heading(plan)
   return "of " .. (plan.replay.file:match "[^/]+$" or plan.replay.file)
end

function M.scope(plan)
   return plural(plan.replay.repetitions, "time")
end

-- A relative path starts at the plan's folder.
local function path_of(plan)
   local folder = plan.file and plan.file:match "^(.*/)"
   return plan.replay.file:sub(1, 1) ~= "/" and folder and folder .. plan.replay.file or plan.replay.file
end

local function ends(plan)
   local from = plan.replay.from and assert(tables.index_of(plan.ports, plan.replay.from)) or 1
   return from, from % 2 == 1 and from + 1 or from - 1
end

function M.directions(plan)
   local from, to = ends(plan)
   return { plan.ports[from].name .. "->" .. plan.ports[to].name }
end

-- A dry run has no open ports to open a file on.
local function is_dry(tester)
   return not tester.engine
end

local function open(plan, tester)
   local o = plan.replay
   local from, to = ends(plan)
   return replay.open(tester, {
      port = tester.ports[from].name, file = path_of(plan), speed = o.speed, rate = o.rate and o.rate.text,
      loops = o.loops, duration = o.duration, memory = o.memory, fcs = o.fcs, rewrite = o.rewrite,
      verify = o.verify and not is_dry(tester) and tester.ports[to].name or nil,
   })
end

--- What keeps a plan from being run on a tester, such as a file that is not a capture, or nil.
function M.check(plan, tester)
   local problem = named_file.problem(path_of(plan))
   if problem then
      return "replay.file: " .. problem
   end
   local ok, one = pcall(open, plan, tester)
   if not ok then
      api.raise_refused(one)
      return tostring(one)
   end
   one:close()
   return nil
end

local function seconds_of(plan, one)
   local o = plan.replay
   return o.learning_wait + one:seconds() + o.drain + o.settle
end

--- The trials to come: the file decides how long they take.
function M.parts(plan, tester)
   local one, n = open(plan, tester), plan.replay.repetitions
   local seconds = seconds_of(plan, one)
   one:close()
   return outlook.bounded({ { test = "replay", trials = n, seconds = n * seconds } }, outlook.EXACTLY)
end

function M.outlook(plan, _, notes)
   local o = plan.replay
   local words = o.rate and "at " .. o.rate.text or o.speed or "as recorded"
   return outlook.text({ ("%s, %s"):format(o.file, words) }, notes)
end

-- Reasons of each kind.
local function reasons_of(result, ports, whole)
   local invalid, limited = {}, {}
   local function add(list, ...)
      list[#list + 1] = string.format(...)
   end
   for _, port in ipairs(ports) do
      local lost = verdict.link_reason(port)
      if lost then
         add(invalid, "%s", lost)
      end
      for _, reason in ipairs(whole and {} or select(2, verdict.dropped(port))) do
         add(limited, "%s", reason)
      end
   end
   for _, reason in ipairs(verdict.card_reasons(ports, not whole)) do
      add(invalid, "%s", reason)
   end
   local paused = flow_control.longest(flow_control.held_back(ports))
   if paused then
      add(limited, "frames left later than they were to, because %s", flow_control.cause(paused))
   end
   if result.slips > 0 then
      add(limited, "the schedule slipped %s, by %s in all", plural(result.slips, "time"),
         units.format_time(result.slipped_ns / 1e9))
   end
   if result.verified and result.verified.unchecked > 0 then
      add(limited, "the comparison fell behind: %s unchecked", plural(result.verified.unchecked, "frame"))
   end
   return invalid, limited
end

local function judge(record, result)
   local invalid, limited = reasons_of(result, result.ports, result.verified and result.verified.whole)
   verdict.settle(record, invalid, limited)
end

local SENT = {
   "frames", "octets", "last_octets", "oversize", "truncated", "refused", "no_mbuf", "starved", "slips",
   "slipped_ns",
}

-- The record of a trial: frames sent, their lateness, and frames received.
local function record_of(ask, tester, one, result, to)
   local record = {
      trial = ask.number, test = ask.test, title = ask.title, phase = ask.phase, direction = ask.direction,
      duration_s = ask.seconds, time = tester.clock, setting = ask.setting, sent = {}, behind = {},
      tester_drops = 0, cards = counts.cards(result.ports),
   }
   for _, key in ipairs(SENT) do
      record.sent[key] = result[key]
   end
   record.sent.span_ns = math.max(0, result.last_ns - result.first_ns)
   for key, share in pairs(SHARES) do
      record.behind[key] = one:behind(share)
   end
   if result.verified then
      record.verified = result.verified
      record.verified.sent = nil
   end
   local port = result.ports[to]
   record.received, record.rx_errors = port.unsolicited + port.misdirected, port.rx_errors
   for _, each in ipairs(result.ports) do
      record.tester_drops = record.tester_drops + verdict.dropped(each)
   end
   judge(record, result)
   return record
end

local function measure(plan, tester, ask)
   local one, _, to = open(plan, tester), ends(plan)
   local ok, result = pcall(one.run, one, { drain = plan.replay.drain })
   local record = ok and record_of(ask, tester, one, result, to)
   one:close()
   return record or error(result, 0)
end

--- The result of a trial, in a few words.
local function outcome(record)
   local v = record.verified
   local sent = plural(record.sent.frames, "frame") .. " sent"
   return v and sent .. (v.whole and ", all arrived as they were sent" or ": " .. differences.of(v)) or sent
end

local function settings(plan, one)
   local o = plan.replay
   return {
      pace = one.words, loops = o.loops, rewrite = {
         source_mac = o.rewrite.source_mac, destination_mac = o.rewrite.destination_mac,
         vlan = o.rewrite.vlan, networks = o.rewrite.networks,
      },
   }
end

-- The row of a trial, made from its record alone.
local function row_of(record, facts, max_frame, setting)
   local v, sent, span = record.verified, record.sent, record.sent.span_ns / 1e9
   local fps, _, l1_bps = pace.rates(sent, span)
   local row = {
      direction = record.direction, trial = record.trial, duration_s = span, frames = sent.frames,
      bytes = sent.octets, received = record.received, recorded_s = facts.duration_ns / 1e9,
      streamed = facts.streams, setting = setting, behind = record.behind, slips = sent.slips,
      slipped_ns = sent.slipped_ns, oversize = facts.oversize, truncated = facts.truncated,
      too_short = facts.too_short, wrong_length = facts.wrong_length, fcs_removed = facts.fcs_removed,
      unmoved = facts.unmoved,
      times_back = facts.times_back, times_anew = facts.times_anew, recorded_gap_max_ns = facts.gap_max_ns,
      remarks = remarks.of(facts, max_frame),
      sent_fps = fps, sent_l1_mbps = l1_bps and l1_bps / 1e6,
      validity = record.validity, reasons = { unpack(record.reasons) },
   }
   if v then
      row.verified = v
      if record.validity == "valid" then
         row.outcome = v.whole and "pass" or "fail"
         row.reasons[1] = not v.whole and differences.of(v) or nil
      end
   end
   return row
end

--- Send it.
-- @param results  gets the list `replay`, a row for each repetition
function M.run(plan, tester, session, results)
   local one = open(plan, tester)
   local facts, seconds, setting = one.facts, one:seconds(), settings(plan, one)
   one:close()
   results.replay = {}
   for i = 1, plan.replay.repetitions do
      local record = session:trial {
         test = "replay", phase = "measure", seconds = math.max(seconds, 1e-9), title = "replay",
         direction = M.directions(plan)[1], setting = setting,
         make = function(ask)
            return measure(plan, tester, ask)
         end,
         outcome = outcome,
      }
      results.replay[i] = row_of(record, facts, tester.max_frame, setting)
   end
end

return M
