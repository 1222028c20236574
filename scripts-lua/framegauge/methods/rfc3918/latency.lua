-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 sections 5.1 and 5.2: how long a multicast frame takes to each receiver, and how far apart its
-- copies are.
--
-- In the middle of a stream one frame is tagged. Its latency at a receiver is from its last bit in to the
-- first bit of the copy out. The spread is that of the copies of one and the same frame.
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.rfc3918.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = { "latency" }

-- Share of the frames that may be missing (RFC 3918, 5.1: intended, offered and forwarded load are the same).
local FORWARDED = 1e-3

-- The delays of the tagged frame of a trial by receiver, ns; nil where one did not come.
local function tagged(c, record)
   local store = trials.frame_ns(c, c.source, c.frame_size)
   return tables.map(trials.at_receivers(c, record, "load"), function(direction)
      return direction.tags_ns and direction.tags_ns[1] and direction.tags_ns[1] - store or false
   end)
end

-- A figure of a sample; nil of none.
local function figure(of, list)
   return list[1] and of(list) or nil
end

local function spread_of(delays)
   local earliest, latest = 1, 1
   for k, delay in ipairs(delays) do
      earliest = delay < delays[earliest] and k or earliest
      latest = delay > delays[latest] and k or latest
   end
   return delays[latest] - delays[earliest], earliest, latest
end

local function measure(c, found)
   local fps, of = trials.load_of(c, found, c.o.latency_load)
   local records, delays, spreads, earliest, latest = {}, {}, {}, nil, nil
   for i = 1, c.o.latency_repetitions do
      local record = trials.of_copies(c, trials.make(c, {
         n = c.o.groups, fps = fps, seconds = c.o.latency_trial, phase = "latency", tag = true,
      }), c.o.groups)
      local ones = tagged(c, record)
      if record.loss_ratio > FORWARDED then
         record.validity = "invalid"
         table.insert(record.reasons, 1, ("%.3g %% of the frames were lost: what was forwarded is not "
            .. "what was "
            .. "offered"):format(record.loss_ratio * 100))
      elseif tables.contains(ones, false) then
         record.validity = "invalid"
         table.insert(record.reasons, 1, "the tagged frame did not reach all receivers")
      else
         spreads[#spreads + 1], earliest, latest = spread_of(ones)
      end
      records[i] = record
      for k, delay in ipairs(ones) do
         delays[k] = delays[k] or {}
         delays[k][#delays[k] + 1] = delay or nil
      end
   end
   local validity, reasons = verdict.merge(records)
   local row = {
      test = c.key, frame_size = c.frame_size, version = c.version, groups = c.o.groups,
      receivers = #c.receivers, monitor = c.monitor, offered_fps = fps, load_of = of,
      trial_s = c.o.latency_trial, repetitions = c.o.latency_repetitions,
      trials = #c.session.trials - c.before, validity = validity, reasons = reasons,
   }
   if spreads[1] then
      row.spread_mean_ns, row.spread_max_ns = stats.mean(spreads), stats.max(spreads)
      row.earliest_port, row.latest_port = c.receivers[earliest], c.receivers[latest]
   end
   row.egress = tables.map(c.receivers, function(port, k)
      local list = delays[k] or {}
      for _, delay in ipairs(list) do
         row.latency_min_ns = math.min(row.latency_min_ns or delay, delay)
         row.latency_max_ns = math.max(row.latency_max_ns or delay, delay)
      end
      return {
         port = port, tagged_frames = #list, latency_min_ns = figure(stats.min, list),
         latency_mean_ns = figure(stats.mean, list), latency_max_ns = figure(stats.max, list),
         every_frame_latency = records[#records].egress[k].latency,
      }
   end)
   return row
end

--- Measure at every frame size.
function M.run(plan, bench, session, key, rows, found)
   for _, frame_size in ipairs(plan.rfc3918.frame_sizes) do
      rows[#rows + 1] = measure(trials.context(plan, bench, session, key, frame_size), found)
   end
end

--- What lies ahead, at most.
function M.parts(plan, key)
   local o = plan.rfc3918
   return tables.map(o.frame_sizes, function(frame_size)
      return {
         test = "rfc3918." .. key, frame_size = frame_size, trials = o.latency_repetitions,
         seconds = o.latency_repetitions * trials.seconds(plan, o.groups, o.latency_trial),
      }
   end)
end

return M
