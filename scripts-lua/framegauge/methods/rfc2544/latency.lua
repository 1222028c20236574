-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 section 26.2: how long a frame takes through the device at its throughput.
--
-- The RFC tags one frame in the middle of a long stream, in twenty trials; the mean of these tags is
-- `latency_mean_ns`. RFC 8219 tags 500 frames of each stream, takes their median and 99.9th percentile, and
-- the median over all streams. Since every frame is stamped anyway, `every_frame_latency` has the
-- distribution of all frames, which twenty frames cannot show.
--
-- The tester measures from first bit to first bit. RFC 1242 defines the latency of a device that stores and
-- forwards from the last bit in to the first bit out, which is shorter by the frame's time on the line. For a
-- device that cuts through it is from first bit to first bit (framegauge.trial.definition).
local common = require "framegauge.methods.rfc2544.common"
local definition = require "framegauge.trial.definition"
local format = require "framegauge.text.format"
local mixes = require "framegauge.core.mixes"
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"
local verdict = require "framegauge.text.verdict"

local M = {}

M.NAME, M.KEY = "rfc2544.latency", "latency"

local TAGS_OF_RFC8219 = 500

local DEFINITION = {
   fifo = "first bit to first bit (FIFO)",
   lifo = "last bit in to first bit out (LIFO)",
}

function M.check(plan, tester)
   local directions = common.directions(plan)
   if plan.rfc2544.latency.definition == "lifo" and not common.frame_ns(tester, directions[1], 64, true) then
      return "the line rate of these ports is not known, so rfc2544.latency.definition cannot be lifo; give the ports' line_rate, or take fifo"
   end
   return common.check_rate(plan, tester, M.KEY)
end

local function make_trials(plan, session, frame_size, line_fps, fps)
   local o, records = plan.rfc2544.latency, {}
   local directions, name = common.directions(plan)
   for i = 1, o.repetitions do
      records[i] = session:trial {
         test = M.NAME, phase = "measure", frame_size = frame_size, direction = name, directions = directions,
         fps = fps, seconds = o.trial, line_fps = line_fps,
         -- with a mix each repetition tags the next frame, so that the tags have all its sizes
         tags = {
            first = o.tag_after + (i - 1) % #mixes.cycle(frame_size) / fps,
            every = (o.trial - o.tag_after) / o.tags, count = o.tags,
         },
      }
   end
   return records
end

-- Subtract the frame's time on the line from every figure of a distribution.
local function redefined(latency, offset, is)
   if not latency then
      return nil
   end
   local copy = {}
   for key, value in pairs(latency) do
      copy[key] = key:find "^[%w]+_ns$" and value - offset or value
   end
   copy.error_bound_ns, copy.definition = latency.error_bound_ns, DEFINITION[is]
   return copy
end

-- The delays of tagged frames, by stream and all together.
local function tags_of(records, direction, offset)
   local streams, all = {}, {}
   for i, record in ipairs(records) do
      streams[i] = {}
      for j, delay in ipairs(common.counts(record, direction).tags_ns or {}) do
         streams[i][j] = delay - offset
         all[#all + 1] = delay - offset
      end
   end
   return streams, all
end

-- The mean of each stream whose tagged frames came back.
local function means(streams)
   return tables.map(streams, function(tags)
      return tags[1] and stats.mean(tags)
   end)
end

-- Median and 99.9th percentile of each stream's tags, of all streams the median (RFC 8219, 7.2).
local function typical(streams)
   local middle, worst = {}, {}
   for i, tags in ipairs(streams) do
      if #tags < TAGS_OF_RFC8219 then
         return nil
      end
      middle[i], worst[i] = stats.median(tags), stats.percentile(tags, 0.999)
   end
   return stats.median(middle), stats.median(worst)
end

-- Frames that leave late and close together wait for each other in the device: their delay is not the delay
-- at the load.
local function note_off_schedule(row, records)
   for _, record in ipairs(records) do
      if not trial.is_on_schedule(record) then
         row.validity = verdict.worse(row.validity, "tester-limited")
         table.insert(row.reasons,
            ("%s of %s left off schedule, close together: their delay is not the load's"):format(format.count(record.off_schedule), format.plural(record.tx, "frame")))
         return
      end
   end
end

local function of_direction(records, direction)
   return tables.map(records, function(record) return common.counts(record, direction) end)
end

-- Evidence against the plan's definition, or against store and forward, from frames of a size; or nil.
local function remark_of(plan, tester, records, frame_size)
   local wanted, remark = plan.rfc2544.latency.definition, nil
   for _, direction in ipairs(mixes.CYCLES[frame_size] and {} or common.directions(plan)) do
      remark = remark or select(3, definition.of(wanted, common.frame_ns(tester, direction, frame_size,
         wanted == "lifo"), trial.merge_latency(of_direction(records, direction)),
         "rfc2544.latency.definition", frame_size))
   end
   return remark
end

-- @param is, offset  the definition, and its offset from a measured delay
local function put_figures(row, records, is, offset)
   local streams, tags = tags_of(records, row.direction, offset)
   row.every_frame_latency = redefined(trial.merge_latency(of_direction(records, row.direction)), offset, is)
   row.definition, row.tagged_frames = is, #tags
   if tags[1] and row.every_frame_latency then
      row.latency_mean_ns = stats.mean(tags)
      row.latency_min_ns, row.latency_max_ns = stats.min(tags), stats.max(tags)
      row.latency_stddev_ns = stats.stddev(means(streams))
      row.latency_typical_ns, row.latency_worst_case_ns = typical(streams)
      row.source, row.error_bound_ns = row.every_frame_latency.source, row.every_frame_latency.error_bound_ns
   end
end

-- @param remark  of frames of this size
local function add_figures(row, records, plan, tester, session, remark)
   local wanted, mix = plan.rfc2544.latency.definition, mixes.CYCLES[row.frame_size]
   local function put(found)
      local as = wanted or found and "fifo"
      local frame_ns = (as or not mix)
         and common.frame_ns(tester, row.direction, row.frame_size, wanted == "lifo") or nil
      put_figures(row, records, definition.of(as, frame_ns))
      row.reasons[#row.reasons + 1] = found
   end
   row.lost = stats.sum(of_direction(records, row.direction), "lost")
   note_off_schedule(row, records)
   definition.of_run(wanted and {} or session, remark, put) -- the plan's own definition stays
   if not row.latency_mean_ns then
      row.validity = "invalid"
      table.insert(row.reasons, "no tagged frame came back")
   end
end

local function new_row(plan, frame_size, direction, line_fps, rate)
   local o = plan.rfc2544.latency
   return {
      frame_size = frame_size, direction = direction, theoretical_fps = line_fps, rate_fps = rate.fps,
      rate_percent = common.percent(rate.fps, line_fps), rate_source = rate.source, trial_s = o.trial,
      tag_after_s = o.tag_after, repetitions = o.repetitions, lost = 0, trials = 0, tagged_frames = 0,
   }
end

--- Measure one frame size.
function M.measure(plan, tester, session, frame_size, rows)
   local line_fps = tester:max_fps(frame_size)
   local rate = common.rate(plan, session, M.KEY, frame_size, line_fps)
   local before = #session.trials
   local records = rate.fps and make_trials(plan, session, frame_size, line_fps, rate.fps) or {}
   local remark = remark_of(plan, tester, records, frame_size)
   for _, direction in ipairs(common.directions(plan)) do
      local row = new_row(plan, frame_size, direction, line_fps, rate)
      row.trials = #session.trials - before
      row.validity, row.reasons = verdict.merge { rate, unpack(records) }
      if rate.fps then
         add_figures(row, records, plan, tester, session, remark)
      else
         row.validity, row.reasons = common.without_rate(rate)
      end
      rows[#rows + 1] = row
   end
end

return M
