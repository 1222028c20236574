-- SPDX-License-Identifier: BSD-3-Clause

--- What a path does to frames, from a plan (framegauge.plan.path_rows) to what lib/impair takes.
local api = require "framegauge.api"
local bit = require "bit"

local C = api.C
local M = {}

local JITTER = {
   uniform = C.FG_JITTER_UNIFORM, normal = C.FG_JITTER_NORMAL, exponential = C.FG_JITTER_EXPONENTIAL,
   pareto = C.FG_JITTER_PARETO,
}

local NONE = { every = 0, random = 0 }

local function chance(group)
   return { every = group.every, random = group.random }
end

local function set_pattern(out, pattern)
   out.loss_pattern_length = #pattern
   for i = 1, #pattern do
      if pattern:sub(i, i) == "x" then
         out.loss_pattern = bit.bor(out.loss_pattern, bit.lshift(1ULL, i - 1))
      end
   end
end

local function set_jitter(out, jitter)
   out.jitter = JITTER[jitter.distribution]
   out.jitter_mean_ns = jitter.mean * 1e9
   out.jitter_deviation_ns = (jitter.deviation or jitter.mean / 4) * 1e9
   out.jitter_shape = jitter.shape
   out.jitter_max_ns = (jitter.max or 0) * 1e9
   out.jitter_reorders = jitter.reorders
end

--- Fill in a struct fg_impair_config that is all zero.
-- @param way  the keys of one direction
function M.fill(out, way)
   out.loss = { every = way.loss_every or 0, random = way.loss_random or 0 }
   out.loss_run = way.loss_run or 1
   set_pattern(out, way.loss_pattern or "")
   local bursts = way.loss_bursts
   if bursts then
      out.burst_begin, out.burst_end = bursts.begin, bursts["end"]
      out.burst_loss, out.burst_between = bursts.loss, bursts.between
   end
   if way.jitter then
      set_jitter(out, way.jitter)
   end
   local reorder, duplicate, corrupt = way.reorder or NONE, way.duplicate or NONE, way.corrupt or NONE
   out.reorder, out.duplicate, out.corrupt = chance(reorder), chance(duplicate), chance(corrupt)
   out.reorder_places, out.reorder_ns = reorder.by or 0, (reorder.late or 0) * 1e9
   out.duplicate_ns = (duplicate.late or 0) * 1e9
   out.corrupt_bits, out.corrupt_skip, out.corrupt_spare = corrupt.bits or 0, corrupt.skip or 0,
      corrupt.spare or 0
end

--- How many of so many frames such a path loses: exactly what can be foretold, on average the rest.
function M.lost(way, frames)
   local lost = (way.loss_random or 0) * frames
   if (way.loss_every or 0) > 0 then
      lost = lost + math.floor(frames / way.loss_every) * (way.loss_run or 1)
   end
   if way.loss_pattern then
      local _, of_each = way.loss_pattern:gsub("x", "")
      lost = lost + frames * of_each / #way.loss_pattern
   end
   local bursts = way.loss_bursts
   if bursts then
      local sum = bursts.begin + bursts["end"]
      local bad = sum > 0 and bursts.begin / sum or 0
      lost = lost + frames * (bad * bursts.loss + (1 - bad) * bursts.between)
   end
   return math.min(frames, math.floor(lost + 0.5))
end

return M
