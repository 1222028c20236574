-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918 sections 5.1, 5.2 and 8.1: how long a multicast frame takes to each receiver, how far apart its
-- copies are, and how much longer it takes while other ports send to each other.
--
-- In the middle of a stream one frame is tagged. Its latency at a receiver is from its last bit in to the
-- first bit of the copy out, or of devices that cut through from first bit to first bit (RFC 1242, 3.8). The
-- spread is between the copies of one and the same frame.
local stats = require "framegauge.trial.stats"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.rfc3918.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

M.KEYS = { "latency", "burdened_latency" }

-- Share of the frames that may be missing (RFC 3918, 5.1: intended, offered and forwarded load are the same).
local FORWARDED = 1e-3

-- The delays of a trial's tagged frame by receiver, from first bit to first bit, ns; false where the frame
-- did not arrive.
local function tagged(c, record)
   return tables.map(trials.at_receivers(c, record, "load"), function(direction)
      return direction.tags_ns and direction.tags_ns[1] or false
   end)
end

local function spread_of(delays)
   local earliest, latest = 1, 1
   for k, delay in ipairs(delays) do
      earliest = delay < delays[earliest] and k or earliest
      latest = delay > delays[latest] and k or latest
   end
   return delays[latest] - delays[earliest], earliest, latest
end

-- Why the delays of a trial do not count; nil: they do.
local function problem_of(record, delays)
   if record.loss_ratio > FORWARDED then
      return ("%.3g %% of the frames were lost: what was forwarded is not what was offered"):format(
         record.loss_ratio * 100)
   elseif tables.contains(delays, false) then
      return "the tagged frame did not reach all receivers"
   end
end

-- The trials.
-- @return their records; the delays of the tagged frames, a list for each receiver; { earliest copy to latest
-- of each, and the numbers of the receivers of these two copies of the last one }
local function repeat_trials(c, fps)
   local records, spread = {}, {}
   local delays = tables.map(c.receivers, function() return {} end)
   for i = 1, c.o.latency_repetitions do
      local record = trials.verified(c, {
         n = c.o.groups, fps = fps, seconds = c.o.latency_trial, tag = true,
         phase = c.is_burdened and "burdened" or "latency",
      })
      local ones = tagged(c, record)
      local problem = problem_of(record, ones)
      if problem then
         record.validity = "invalid"
         table.insert(record.reasons, 1, problem)
      else
         spread[#spread + 1], spread.earliest, spread.latest = spread_of(ones)
      end
      records[i] = record
      for k, delay in ipairs(ones) do
         delays[k][#delays[k] + 1] = delay or nil
      end
   end
   return records, delays, spread
end

-- Put the latencies of all copies into a row, by their definition.
-- @param delays  lists, from first bit to first bit
-- @param egress  of a trial
local function define(c, row, delays, egress)
   local all, latency = tables.joined(unpack(delays)), egress[1].latency
   local least, _, greatest = trials.range(all)
   row.samples = #all
   trials.define(c, row, least and { min_ns = least, error_bound_ns = latency and latency.error_bound_ns },
      function(store)
         row.latency_min_ns, row.latency_max_ns = least and least - store, greatest and greatest - store
         row.egress = tables.map(c.receivers, function(port, k)
            local one = { port = port, tagged_frames = #delays[k], every_frame_latency = egress[k].latency }
            one.latency_min_ns, one.latency_mean_ns, one.latency_max_ns = trials.range(tables.map(delays[k],
               function(delay) return delay - store end))
            return one
         end)
      end)
end

-- @return the row, and the records of its trials
local function measure(c, found)
   local fps, of = trials.load_of(c, found, c.o.latency_load)
   local records, delays, spread = repeat_trials(c, fps)
   local validity, reasons = verdict.merge(records)
   local row = {
      test = c.key, frame_size = c.frame_size, version = c.version, groups = c.o.groups,
      source = c.source, receivers = #c.receivers, monitor = c.monitor, offered_fps = fps, load_of = of,
      trial_s = c.o.latency_trial, repetitions = c.o.latency_repetitions,
      trials = #c.session.trials - c.before, validity = validity, reasons = reasons,
      earliest_port = c.receivers[spread.earliest], latest_port = c.receivers[spread.latest],
   }
   row.spread_mean_ns, row.spread_max_ns = select(2, trials.range(spread))
   row.spread_samples = #spread
   define(c, row, delays, records[#records].egress)
   return row, records
end

local function mean_of(list, key)
   return (select(2, trials.range(tables.field(list, key))))
end

local function put_both(row, baseline, burdened)
   row.baseline_latency_max_ns, row.burdened_latency_max_ns = baseline.latency_max_ns, burdened.latency_max_ns
   row.egress = tables.map(burdened.egress, function(after, k)
      local before = baseline.egress[k]
      local every, every_before = after.every_frame_latency, before.every_frame_latency
      return {
         port = after.port, baseline_latency_mean_ns = before.latency_mean_ns,
         burdened_latency_mean_ns = after.latency_mean_ns, added_ns = after.latency_mean_ns
            and before.latency_mean_ns and after.latency_mean_ns - before.latency_mean_ns,
         every_frame_added_ns = every and every_before and every.mean_ns - every_before.mean_ns,
         baseline_every_frame_latency = every_before, burdened_every_frame_latency = every,
      }
   end)
   row.baseline_latency_mean_ns = mean_of(row.egress, "baseline_latency_mean_ns")
   row.burdened_latency_mean_ns = mean_of(row.egress, "burdened_latency_mean_ns")
   row.added_mean_ns = mean_of(row.egress, "added_ns")
   row.every_frame_samples = stats.sum(tables.field(row.egress, "burdened_every_frame_latency"), "count")
   row.every_frame_added_mean_ns = mean_of(row.egress, "every_frame_added_ns")
end

-- Without the burden and with it.
local function compare(c, found)
   local row, baseline, burdened = trials.beside_burden(c, function() return measure(c, found) end)
   row.groups, row.monitor, row.load_of = c.o.groups, c.monitor, burdened.load_of
   row.trial_s = c.o.latency_trial
   trials.define(c, row, nil, function() put_both(row, baseline, burdened) end)
   return row
end

local OF = { latency = measure, burdened_latency = compare }

--- Measure at every frame size.
function M.run(plan, tester, session, key, rows, found)
   for _, frame_size in ipairs(plan.rfc3918.frame_sizes) do
      rows[#rows + 1] = OF[key](trials.context(plan, tester, session, key, frame_size), found)
   end
end

--- The trials to come, at most.
function M.parts(plan, key)
   local o = plan.rfc3918
   local count = o.latency_repetitions * (key == "burdened_latency" and 2 or 1)
   return tables.map(o.frame_sizes, function(frame_size)
      return {
         test = "rfc3918." .. key, frame_size = frame_size, trials = count,
         seconds = count * trials.seconds(plan, o.groups, o.latency_trial),
      }
   end)
end

return M
