-- SPDX-License-Identifier: BSD-3-Clause

--- The record of a trial, and its verdict.
--
-- The tester returns bare counts. Here they become one flat record: the same object that a method decides on,
-- trials.jsonl keeps and result.json repeats. Each record carries a verdict:
--
--    valid           the load was offered as intended and every lost frame is the device's
--    tester-limited  the tester fell short: neither loss nor its absence says anything about the device
--    invalid         the counts are meaningless, and the trial should be repeated
--
-- and the reasons. Refused frames, which are sent a moment later, are shown but do not affect the verdict.
--
-- A sender that was held up sends the overdue frames at once. If a queue or a policer loses some of them, the
-- tester may be the cause. Moving one frame in time changes either loss by at most one frame. So the device
-- has a share in any loss above the number of frames off schedule, and a smaller loss proves nothing, unless
-- the device has held as many frames at once before. It did so at a lower load, with an emptier queue: such
-- frames may make the loss begin that many frames early, so they must be few among the frames of the trial.
-- The amount of loss is the device's figure only if hardly any frame left off schedule. A receiver held up
-- for longer than its ring lasts makes the device or the port lose frames, often uncounted.
local altered = require "framegauge.tester.altered"
local delays = require "framegauge.tester.delays"
local drain = require "framegauge.trial.drain"
local flow_control = require "framegauge.trial.flow_control"
local tester_counts = require "framegauge.tester.counts"
local format = require "framegauge.text.format"
local loss_interval = require "framegauge.trial.loss_interval"
local offered = require "framegauge.trial.offered"
local shortfalls = require "framegauge.trial.shortfalls"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local count, plural = format.count, format.plural

local M = {}

--- How many of the frames that were to be sent may be missing, in seconds of the load.
M.MISSING_TOLERANCE = offered.MISSING_TOLERANCE

--- The share of frames that may leave off schedule where the amount of loss, or the delay, matters.
M.OFF_SCHEDULE_TOLERANCE = 1e-3

--- The share by which the load may be too low although all frames were sent: each within its allowed lag, but
-- over a longer time.
M.STRETCH_TOLERANCE = offered.STRETCH_TOLERANCE

local function sum(list, key)
   local total = 0
   for _, item in ipairs(list) do
      total = total + (item[key] or 0)
   end
   return total
end

local function greatest(list, key)
   local most
   for _, item in ipairs(list) do
      local value = item[key]
      if value and (not most or value > most) then
         most = value
      end
   end
   return most
end

local function least(list, key)
   local fewest
   for _, item in ipairs(list) do
      local value = item[key]
      if value and (not fewest or value < fewest) then
         fewest = value
      end
   end
   return fewest
end

local function loss_ratio(lost, tx)
   return tx > 0 and lost / tx or 0
end

-- @param own_load  whether each has a load of its own
local function of_direction(raw, ask, own_load)
   local ordered = not raw.unordered -- several queues received it: the order is unknown
   local measured = raw.tx - (raw.wrong_tx or 0) -- frames with errors on purpose may be lost
   local lost = math.max(0, measured - raw.rx)
   local lost_min, duplicates, stale = loss_interval.of(raw, lost)
   return {
      direction = raw.name,
      share = raw.share,
      intended_fps = own_load and raw.intended_fps or nil,
      intended_frames = raw.intended_frames,
      offered_fps = offered.fps(raw, ask),
      tx = raw.tx,
      rx = raw.rx,
      lost = lost,
      lost_min = lost_min,
      loss_ratio = loss_ratio(lost, measured),
      wrong_tx = own_load and raw.wrong_tx or nil,
      wrong_rx = own_load and raw.wrong_rx or nil,
      errors = raw.errors,
      expired = own_load and raw.expired or nil,
      duplicates = duplicates,
      reordered = ordered and (raw.reordered or 0) or nil,
      reordering_extent_max_frames = ordered and (raw.reordering_extent_max_frames or 0) or nil,
      reordering_extent_unknown_frames = ordered and (raw.reordering_extent_unknown_frames or 0) > 0
         and raw.reordering_extent_unknown_frames or nil,
      altered = raw.altered,
      payload_checked = raw.payload_checked,
      translated = raw.translated,
      substreams = raw.substreams,
      stale = stale,
      excess = raw.excess or 0,
      loss_bursts = raw.loss_bursts or 0,
      loss_burst_max_frames = raw.loss_burst_max_frames or 0,
      late = raw.late or 0,
      off_schedule = raw.off_schedule or 0,
      unsent = raw.unsent or 0,
      refused = raw.refused or 0,
      no_mbuf = raw.no_mbuf or 0,
      lag_max_ns = raw.lag_max_ns,
      own_queue_max_ns = raw.own_queue_max_ns,
      last_lost_ns = lost > 0 and raw.last_lost_ns or nil,
      rx_duration_ns = ask.gap and raw.rx_duration_ns or nil,
      gap_max_ns = raw.gap_max_ns,
      gap_max_begin_ns = raw.gap_max_begin_ns,
      first_arrival_ns = (own_load or ask.span) and raw.rx > 0 and raw.first_arrival_ns or nil,
      last_arrival_ns = (own_load or ask.span) and raw.rx > 0 and raw.last_arrival_ns or nil,
      latency = raw.latency,
      no_latency = raw.no_latency,
      tags_ns = raw.tags_ns,
      measured = raw.measured,
      marks = raw.marks,
      series = raw.series,
      availability = raw.availability,
      tx_bytes = own_load and raw.tx_bytes or nil,
      rx_bytes = own_load and raw.rx_bytes or nil,
   }
end

--- Latency of several directions as one summary of all their frames. Directions of recorded trials have only
-- figures: there a percentile is the largest of theirs, which the percentile of all frames cannot exceed.
-- @param directions  of tester:trial(), or of records
-- @usage trial.merge_latency({ { latency = { count = 3, min_ns = 5 } } }).min_ns --> 5
function M.merge_latency(directions)
   local list = tables.field(directions, "latency")
   if #list <= 1 then
      return list[1]
   end
   local frames, weighted = sum(list, "count"), 0
   for _, latency in ipairs(list) do
      weighted = weighted + latency.mean_ns * latency.count
   end
   return delays.of_all(directions) or {
      count = frames,
      min_ns = least(list, "min_ns"),
      mean_ns = frames > 0 and weighted / frames or 0,
      p50_ns = greatest(list, "p50_ns"),
      p99_ns = greatest(list, "p99_ns"),
      p999_ns = greatest(list, "p999_ns"),
      max_ns = greatest(list, "max_ns"),
      source = list[1].source,
      error_bound_ns = greatest(list, "error_bound_ns"),
      definition = list[1].definition,
   }
end

-- @return the reasons, and whether a link was absent: then the tester could not have sent
local function invalid_reasons(record, ports, ask)
   local reasons, no_link, nothing = {}, false, offered.is_nothing(record)
   local function add(...)
      reasons[#reasons + 1] = string.format(...)
   end
   for _, d in ipairs(record.directions) do
      -- those that share a load may have had no turn, and others say by themselves that they sent nothing
      if d.intended_frames == 0 and not d.share and not ask.apart then
         add("%s: no frame was due; the trial is too short for this load", d.direction)
      end
      local tx = d.tx - (d.wrong_tx or 0)
      if d.rx > tx then
         add("%s: more frames were received than sent (%s and %s)", d.direction, count(d.rx), count(tx))
      elseif d.excess > 0 then
         add("%s: frames came back that were never sent", d.direction)
      end
   end
   if nothing and ask.apart then
      add("no frame of any stream was due in %s", units.format_time(ask.seconds))
   end
   for _, port in ipairs(ports) do
      local lost = verdict.link_reason(port, ask.link_may_change)
      if lost then
         add("%s", lost)
         no_link = no_link or port.link_down == 1 or port.removed == 1
      end
   end
   return reasons, no_link
end

--- Did hardly any frame leave off schedule?
-- @usage trial.is_on_schedule { tx = 10000, off_schedule = 11 } --> false
function M.is_on_schedule(record)
   return (record.off_schedule or 0) <= M.OFF_SCHEDULE_TOLERANCE * record.tx
end

--- Frames that may have left at once, because the sender was held up.
-- @usage trial.lump { lag_max_ns = 2e6, offered_fps = 5000 } --> 10
function M.lump(record)
   return (record.lag_max_ns or 0) / 1e9 * record.offered_fps
end

-- Could all losses be due to frames that left off schedule? Or some losses, where the amount matters?
-- @param paused  the port that the device paused longest, or nil
local function lost_off_schedule(record, ask, paused, found)
   if ask.any_loss and M.lump(record) <= math.min(ask.held or 0, M.OFF_SCHEDULE_TOLERANCE * record.tx) then
      return -- it held this many without loss, and its queue was hardly fuller
   end
   local counts = not ask.any_loss and not M.is_on_schedule(record)
   for _, d in ipairs(record.directions) do
      if d.lost > 0 and (counts or d.lost <= record.off_schedule) then
         found:add("directions lost", d.lost, "%s: %s lost, but %s left off schedule, %s", d.direction,
            plural(d.lost, "frame"), plural(record.off_schedule, "frame"),
            paused and "because " .. flow_control.cause(paused)
               or ("up to %s ms late and close together"):format(format.decimal((record.lag_max_ns or 0) / 1e6, 1)))
      end
   end
end

-- Or due to a receiver that did not fetch frames? Or some losses, where the amount matters?
local function lost_unfetched(record, ports, lcores, ask, found)
   local gap = greatest(lcores, "poll_gap_max_ns") or 0
   local arriving = math.floor(sum(record.directions, "offered_fps") * gap / 1e9)
   local few = ask.any_loss and math.huge or M.OFF_SCHEDULE_TOLERANCE * record.tx
   for _, port in ipairs(ports) do
      local too_many = arriving - (port.rx_ring or math.huge)
      if too_many > 0 and (record.lost <= arriving or too_many > few) then
         found:add("ports unfetched", -port.rx_ring, "%s: the tester fetched nothing for %s ms, in which up to %s arrive; its ring holds %s", port.name, format.decimal(gap / 1e6, 1),
            plural(arriving, "frame"), count(port.rx_ring))
      end
   end
end

-- How the tester lost received frames: { a port's counter, what happened to them }.
local DROPS = {
   { "rx_missed", "%s: the tester dropped %s that arrived (receive ring full)" },
   { "rx_no_mbuf", "%s: the tester dropped %s that arrived (no buffer left)" },
   { "rx_overflow", "%s: %s arrived over another queue than the one whose lcore measures the stream, and had no room on the way to it" },
   { "tx_errors", "%s: the port failed to send %s" },
}

local function tester_reasons(record, raw, ask, held_back)
   local ports, lcores, found = raw.ports, raw.lcores or {}, shortfalls.new()
   local paused = flow_control.longest(held_back)
   for i, d in ipairs(record.directions) do
      offered.judge(d, raw.directions[i], ask, found, flow_control.sender(raw.directions[i], held_back))
      loss_interval.judge(d, ask, found)
      if d.no_mbuf > 0 then
         found:add("directions no_mbuf", d.no_mbuf, "%s: the tester ran out of frame buffers %s", d.direction,
            plural(d.no_mbuf, "time"))
      end
   end
   for _, port in ipairs(ports) do
      if (port.rx_unstamped or 0) > 0 then
         found:add("ports unstamped", port.rx_unstamped, "%s: %s had no stamp of the card that could be",
            port.name, plural(port.rx_unstamped, "frame"))
      end
      if (port.rx_stamp_jumps or 0) > 0 then
         found:add("ports jumps", port.rx_stamp_jumps, "%s: the clock of the card was set %s", port.name,
            plural(port.rx_stamp_jumps, "time"))
      end
   end
   for _, port in ipairs(raw.time and raw.time ~= "tsc" and ports or {}) do -- or its copies
      if (port.rx_no_mbuf or 0) > 0 then
         found:add("ports uncopied", port.rx_no_mbuf, "%s: the reference device had no buffer for %s on the way to it: it holds too many at once", port.name, plural(port.rx_no_mbuf, "frame"))
      end
   end
   drain.overrun(raw, found)
   if record.lost == 0 then
      return found:sentences()
   end
   if not (paused and (ask.patient or found.n > 0)) then -- other frames have another cause of loss
      lost_off_schedule(record, ask, paused, found)
   end
   lost_unfetched(record, ports, lcores, ask, found)
   for _, lcore in ipairs(lcores) do
      if (lcore.late_ns or 0) > 0 then -- the frames before went by it
         found:add("lcores late", lcore.late_ns, "lcore %d began %s us after the traffic: the host had it elsewhere", lcore.id, format.decimal(lcore.late_ns / 1e3, 0))
      end
   end
   for _, port in ipairs(ports) do
      for _, drop in ipairs(DROPS) do
         local of_device = drop[1] == "rx_no_mbuf" and raw.time and raw.time ~= "tsc"
         local n = not of_device and port[drop[1]] or 0
         if n > 0 then
            found:add("ports " .. drop[1], n, drop[2], port.name, plural(n, "frame"))
         end
      end
   end
   return found:sentences()
end

-- Received frames of all directions that differ from the sent frame.
local function altered_of(directions)
   local list = tables.field(directions, "altered")
   return altered.sum(list)
end

-- The frames that a modifier had the tester send to the device, and the results; nil without such frames.
local function said(modifier, ports)
   if modifier == "management-frames" then
      return { queries = sum(ports, "queries"), replies = sum(ports, "replies") }
   end
   return nil, modifier == "routing-updates" and sum(ports, "updates") or nil
end

-- @param raw  the tester's counts; `invalid` in it are the tester's own objections to the trial
-- @param held_back  ports that the device paused
local function judge(record, raw, ask, held_back)
   local reasons, no_link = invalid_reasons(record, raw.ports, ask)
   local tester = no_link and {} or tester_reasons(record, raw, ask, held_back)
   local invalid = tables.joined(raw.invalid or {}, reasons, verdict.card_reasons(raw.ports, record.lost > 0))
   return verdict.settle(record, invalid, tester)
end

-- Is the order of all frames known?
local function ordered(directions)
   for _, direction in ipairs(directions) do
      if not direction.reordered then
         return false
      end
   end
   return true
end

--- Make the record of a trial from the tester's counts.
-- @param raw  what tester:trial returned
-- @param ask  the request: number, test, phase, frame_size, direction, fps, seconds, line_fps where known;
--             loads, burst, outage, streams, span, any_loss, held = frames that the device is known to hold
--             when they come at once, link_may_change and apart (framegauge.trial.session)
-- @return the record. Rates are frames per second of one direction, counts are summed over the directions.
-- @usage local raw = tester:trial {
--    frame_size = 64, fps = 1000, duration = 1, directions = { "east->west" },
-- }
-- local record = trial.record(raw, { test = "mine", frame_size = 64, fps = 1000, seconds = 1 })
-- return record.validity, record.tx, record.lost --> valid 1000 0
function M.record(raw, ask)
   local held_back = flow_control.held_back(raw.ports)
   raw = setmetatable({ directions = flow_control.left(raw, held_back) }, { __index = raw })
   local directions = tables.map(raw.directions, function(direction)
      return of_direction(direction, ask, ask.streams ~= nil)
   end)
   local tx, lost = sum(directions, "tx"), sum(directions, "lost")
   local management, updates = said(ask.modifier, raw.ports)
   return judge({
      trial = ask.number,
      test = ask.test,
      phase = ask.phase,
      frame_size = ask.frame_size,
      direction = ask.direction,
      duration_s = ask.seconds,
      time = raw.time,
      intended_fps = ask.fps,
      intended_percent = ask.line_fps and ask.fps / ask.line_fps * 100,
      offered_fps = least(directions, "offered_fps"),
      tx = tx,
      rx = sum(directions, "rx"),
      lost = lost,
      lost_min = loss_interval.least(directions),
      loss_ratio = loss_ratio(lost, tx - sum(directions, "wrong_tx")),
      duplicates = sum(directions, "duplicates"),
      reordered = ordered(directions) and sum(directions, "reordered") or nil,
      late = sum(directions, "late"),
      off_schedule = sum(directions, "off_schedule"),
      refused = sum(directions, "refused"),
      tester_drops = sum(raw.ports, "rx_missed") + sum(raw.ports, "rx_no_mbuf")
         + sum(raw.ports, "rx_overflow"),
      rx_errors = sum(raw.ports, "rx_errors"),
      misdirected = sum(raw.ports, "misdirected"),
      unsolicited = sum(raw.ports, "unsolicited"),
      altered = altered_of(directions),
      payload_checked = sum(directions, "payload_checked"),
      lag_max_ns = greatest(directions, "lag_max_ns"),
      poll_gap_max_ns = greatest(raw.lcores or {}, "poll_gap_max_ns"),
      start_skew_ns = raw.start_skew_ns,
      latency = M.merge_latency(raw.directions),
      pauses = flow_control.pauses(raw.ports, raw.directions),
      directions = directions,
      loads = ask.loads,
      burst = ask.burst,
      outage = ask.outage,
      modifier = ask.modifier,
      setting = ask.setting,
      tunnelled = ask.tunnelled or nil,
      management = management,
      routing_updates = updates,
      reset = raw.reset,
      members = raw.members,
      queues = raw.queues,
      cards = tester_counts.cards(raw.ports),
   }, raw, ask, held_back)
end

return M
