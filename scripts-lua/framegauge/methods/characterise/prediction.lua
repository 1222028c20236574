-- SPDX-License-Identifier: BSD-3-Clause

--- Trials that no parameter was fitted to, and the model's prediction for them.
--
-- The model's least and most come from the two ends of the ranges of its parameters: more capacity and more
-- buffer never forward less. Random losses are in front of the server, as in the reference device, and stay
-- within four standard deviations.
local parameters = require "framegauge.methods.characterise.parameters"
local queue = require "framegauge.methods.characterise.queue"
local tables = require "framegauge.core.tables"
local trials = require "framegauge.methods.characterise.trials"
local verdict = require "framegauge.text.verdict"

local M = {}

local SIGMAS = 4
local BELOW, AROUND = 0.7, 0.5 -- of the capacity: a load that it carries, and that before and after a step
local SHORT = 0.25 -- of the plan's trial
local MOST_OF_BURST = 0.25 -- a step is at most such a share of a trial

--- The frame size whose overload is held out, as long as the longest that the model was fitted to: a shorter
-- one cannot disprove it.
function M.longest_of(plan)
   return math.max(unpack(plan.characterise.held_out))
end

-- The loads of the trials of a frame size: list of { name, loads }.
local function loads_of(c, row, frame_size)
   local model, line = parameters.model(row, c.line_bps), c.max_fps(frame_size)
   local seconds = SHORT * c.plan.characterise.trial
   local rate = math.min(line, queue.rate(model, frame_size))
   local overload = frame_size == M.longest_of(c.plan) and math.max(seconds, c.longest or 0) or seconds
   local list = {
      { "overload", { { fps = line, seconds = overload } } },
      { "below", { { fps = BELOW * rate, seconds = seconds } } },
   }
   local places = queue.places(model, frame_size)
   if rate < line and places < math.huge then -- so long that twice the buffer would be needed
      local step = math.min(MOST_OF_BURST * seconds, 2 * places / (line - rate))
      list[#list + 1] = step * line >= 2 and { "step", {
         { fps = AROUND * rate, seconds = seconds }, { fps = line, seconds = step },
         { fps = AROUND * rate, seconds = seconds },
      } } or nil
   end
   return list
end

-- Seconds for which a device that recovers from overloads may lose all frames after one that found its buffer
-- full; nil: it does not recover. It does not recover between losses as close as in the overloads
-- that the model was fitted to; between rarer losses it may.
local function recovering(row, c, frame_size, loads)
   if not row.recovery or row.recovery.min_ns == 0 then
      return nil
   end
   local lost_fps = math.max(unpack(tables.field(loads, "fps")))
      - queue.rate(parameters.model(row, c.line_bps, "max"), frame_size)
   return lost_fps * c.loss_interval < 1 and row.recovery.max_ns / 1e9 or nil
end

-- What is received, at least or at most.
local function bound(row, c, frame_size, loads, which)
   local model, loss, thinned, sent = parameters.model(row, c.line_bps, which), row.loss, {}, 0
   local p = loss and loss[which == "min" and "max_ratio" or "min_ratio"] or 0
   model.recovery_s = which == "min" and recovering(row, c, frame_size, loads) or nil
   for i, load in ipairs(loads) do
      thinned[i], sent = { fps = load.fps * (1 - p), seconds = load.seconds }, sent + load.fps * load.seconds
   end
   local out = queue.pass(model, frame_size, thinned)
   local chance = SIGMAS * math.sqrt(sent * p * (1 - p))
   if which == "min" and loads[2] and row.recovery then -- how many it loses meanwhile is not known
      local seconds = math.min(loads[3].seconds, (row.recovery.max_ns or math.huge) / 1e9)
      chance = chance + seconds * loads[3].fps
   end
   local slack = 1 + chance -- and a frame that arrives just as another leaves
   return math.max(0, math.floor(out.rx + (which == "min" and -slack or slack)))
end

-- Loads without the frames that are lost before the server, as few or as many as chance allows.
local function thinned_by_chance(loads, loss, which)
   local p = loss and loss[which .. "_ratio"] or 0
   return tables.map(loads, function(load)
      local chance = SIGMAS * math.sqrt(p * (1 - p) / (load.fps * load.seconds))
      local lost = which == "min" and math.max(0, p - chance) or math.min(1, p + chance)
      return { fps = load.fps * (1 - lost), seconds = load.seconds }
   end)
end

-- The longest time that a frame waits, ns, at least or at most. It is longest in a slow server with a large
-- buffer and few random losses.
local function longest_wait(row, c, frame_size, loads, which)
   local other = which == "min" and "max" or "min"
   local model, buffer = parameters.model(row, c.line_bps, other), parameters.model(row, c.line_bps, which)
   model.buffer_frames, model.buffer_bytes = buffer.buffer_frames, buffer.buffer_bytes
   return queue.pass(model, frame_size, thinned_by_chance(loads, row.loss, other)).wait_max_s * 1e9
end

local function delays(row, c, frame_size, loads)
   local low = parameters.transit_ns(row, c.line_bps, frame_size, "min")
   if not low or row.jitter ~= "none" then
      return nil
   end
   -- which frame waited longest is uncertain by one service time, and by losses before the queue
   local missing = 1 + parameters.in_a_row(row.loss and row.loss.max_ratio or 0)
   local service = missing * 1e9 / math.min(queue.rate(parameters.model(row, c.line_bps, "min"), frame_size),
      1 / queue.service(parameters.model(row, c.line_bps, "min"), frame_size))
   return math.max(low, low + longest_wait(row, c, frame_size, loads, "min") - service),
      parameters.transit_ns(row, c.line_bps, frame_size, "max") + longest_wait(row, c, frame_size, loads, "max")
         + service
end

-- Frames that the device may have forwarded less or more because some left the tester late.
local function belated(row, c, frame_size, loads, counts)
   local sent = math.max(unpack(tables.field(loads, "fps")))
   local rate = math.min(sent, queue.rate(parameters.model(row, c.line_bps, "max"), frame_size))
   return math.ceil((counts.lag_max_ns or 0) / 1e9 * rate)
end

-- A valid trial's counts, compared with the prediction.
local function is_as_predicted(out, most, error, lag_ns)
   local delay, low, high = out.delay_max_ns, out.delay_predicted_min_ns, out.delay_predicted_max_ns
   return out.rx >= out.rx_predicted_min and out.rx <= most
      and not (delay and low and (delay < low - error or delay > high + error + lag_ns))
end

local function predict(c, row, frame_size, name, loads)
   local counts, record = trials.held_out(c, frame_size, loads)
   local slack = belated(row, c, frame_size, loads, counts)
   local least = bound(row, c, frame_size, loads, "min")
   local most = bound(row, c, frame_size, loads, "max")
   least, most = math.max(0, least - slack), most + slack
   local latency = counts.latency
   local out = {
      direction = row.direction, frame_size = frame_size, load = name, tx = counts.tx, rx = counts.rx,
      rx_predicted_min = math.min(least, counts.tx), rx_predicted_max = math.min(most, counts.tx),
      delay_max_ns = latency and latency.max_ns, trial = record.trial,
   }
   out.delay_predicted_min_ns, out.delay_predicted_max_ns = delays(row, c, frame_size, loads)
   out.validity, out.reasons = verdict.merge { record }
   if out.validity == "valid" then
      out.holds = is_as_predicted(out, most, latency and latency.error_bound_ns or 0, counts.lag_max_ns or 0)
   end
   return out
end

--- Make the held-out trials of a direction.
-- @param row   of the result
-- @param rows  gets a row for each trial
function M.make(c, row, rows)
   if not parameters.is_whole(row) then
      return
   end
   for _, frame_size in ipairs(c.plan.characterise.held_out) do
      for _, one in ipairs(loads_of(c, row, frame_size)) do
         rows[#rows + 1] = predict(c, row, frame_size, one[1], one[2])
      end
   end
end

--- The least number of frames that an overload in both directions at once would bring if the directions were
-- independent.
function M.least_alone(row, c, frame_size, seconds)
   return bound(row, c, frame_size, { { fps = c.max_fps(frame_size), seconds = seconds } }, "min")
end

return M
