-- SPDX-License-Identifier: BSD-3-Clause

--- The steps of the service configuration test, for one service one way.
--
-- A step is { step = "A.2", name = in words, load = (loads.lua), judge = function(v, row)
-- }, or has `untestable`, a sentence, in place of load and judge. A row has `green` and `yellow`, and `burst`
-- where there was one.
local criteria = require "framegauge.methods.y1564.criteria"
local ethernet = require "framegauge.core.ethernet"
local loads = require "framegauge.methods.y1564.loads"
local paths = require "framegauge.methods.y1564.plan.paths"
local units = require "framegauge.text.units"

local M = {}

local FEW_EXCESS = 0.2 -- of CIR; below this the policing load exceeds by a quarter of CIR, else of EIR

-- Criteria that several steps share.
local function conforming(path, o)
   return function(v, row)
      criteria.conforms(v, row, path.acceptance, o.ftd_statistic)
   end
end

local function simple(path, o)
   return path.cir == 0 and {} or {
      {
         step = "A.1", name = "CIR", load = loads.constant(path, path.cir, nil, o.configuration.trial),
         judge = conforming(path, o),
      },
   }
end

local function step_load(path, o)
   local list = {}
   for i, share in ipairs(path.cir > 0 and o.configuration.steps or {}) do
      list[i] = {
         step = "A.2", name = ("CIR, %s"):format(units.format_ratio(share)),
         load = loads.constant(path, share * path.cir, nil, o.configuration.trial),
         judge = conforming(path, o),
      }
   end
   return list
end

local function excess(path, o)
   local seconds = o.configuration.trial
   if path.eir == 0 then
      return {}
   elseif path.aware then
      return { {
         step = "B.1", name = "EIR, colour-aware", load = loads.constant(path, path.cir, path.eir, seconds),
         judge = conforming(path, o),
      } }
   end
   local least = path.cir * (1 - path.acceptance.flr)
   local most = path.cir + path.eir + paths.rounding(path, seconds)
   return { {
      step = "B.2", name = "EIR", load = loads.constant(path, path.cir + path.eir, nil, seconds),
      limits = { ir_min_bps = least, ir_max_bps = most },
      judge = function(v, row)
         criteria.rate_at_least(v, row, least)
         criteria.rate_at_most(v, row, most)
      end,
   } }
end

--- Load of the policing test, bit/s: all of it, and the part of it beyond CIR.
function M.policing_load(cir, eir)
   local beyond = eir >= FEW_EXCESS * cir and 1.25 * eir or 0.25 * cir + eir
   return cir + beyond, beyond
end

-- What may pass in the policing test, bit/s.
local function band(path, o)
   local flr, agreed = path.acceptance.flr, path.cir + path.eir
   local c = o.configuration
   if c.margin_mode == "percent" then
      return path.cir * (1 - flr) * (1 - c.margin), agreed * (1 + c.margin)
   end
   return path.cir * (1 - flr), agreed + 8 * (path.cbs + path.ebs) / c.trial + paths.rounding(path, c.trial)
end

local function policing(path, o)
   local all, beyond = M.policing_load(path.cir, path.eir)
   local least, most = band(path, o)
   local limits = { ir_min_bps = not path.aware and least or nil, ir_max_bps = most }
   if path.aware then
      return { {
         step = "C.1", name = "policing, colour-aware", limits = limits,
         load = loads.constant(path, path.cir, beyond, o.configuration.trial),
         judge = function(v, row)
            criteria.conforms(v, row, path.acceptance, o.ftd_statistic)
            criteria.rate_at_most(v, row, most)
         end,
      } }
   end
   return { {
      step = "C.2", name = "policing", limits = limits,
      load = loads.constant(path, all, nil, o.configuration.trial),
      judge = function(v, row)
         criteria.rate_at_least(v, row, least)
         criteria.rate_at_most(v, row, most)
         criteria.not_shaped(v, row, path.acceptance, o.ftd_statistic)
      end,
   } }
end

-- The burst tests of one bucket, or of both together.
-- @param b.step, b.name
-- @param b.size     bytes that the burst is to find
-- @param b.frames   frames that a full bucket is sure to pass
-- @param b.colour   of the burst
-- @param b.group    information rate between the bursts
-- @param b.inflow   bit/s that flow into the bucket
-- @param b.spilt    bits of the inflow that find it full while a burst lasts; nil: none
-- @param b.buckets  how many there are
local function bursts(path, o, b)
   local f, c, list, fps = path.acceptance.flr, o.configuration, {}, path.line_fps
   if not fps then
      return { { step = b.step, name = b.name, untestable = "the rate of the line is not known" } }
   end
   local function add(suffix, n, words, judge)
      local load = loads.bursts(path, {
         group = b.group, burst = n, colour = b.colour, fps = fps, cycles = c.burst_cycles,
      })
      list[#list + 1] = {
         step = b.step .. suffix, name = b.name .. words, load = load,
         judge = function(v, row)
            if not criteria.keeps_rate(row.burst, f) then
               criteria.rate_too_low(v, row.burst)
            else
               judge(v, row)
            end
         end,
      }
      return list[#list]
   end
   local cautious = math.ceil(1.1 * b.size / path.frame_size)
   add("", cautious, ", 110 %", function(v, row)
      local burst = row.burst
      local sure = burst.group + (b.colour == "green" and b.frames or 0)
      criteria.frames_at_least(v, row.green.rx, criteria.sure_share(f) * burst.cycles * sure, "green")
   end)
   if b.frames == 0 then
      list[2] = {
         step = b.step .. " exact", name = b.name .. ", exactly",
         untestable = "the bucket does not hold a whole cycle of sizes",
      }
   else
      add(" exact", b.frames, ", exactly", function(v, row)
         criteria.conforms(v, row.yellow or row.green, path.acceptance, o.ftd_statistic)
         if row.yellow then
            criteria.loss(v, row.green, path.acceptance)
         end
      end)
   end
   local over = c.over_burst and loads.over_burst(path, b.size, b.inflow, fps)
   if over then
      add(" over", over, ", beyond", function(v, row)
         local burst = row.burst
         criteria.burst_is_policed(v, burst.lost)
         if burst.lost > 0 then
            criteria.bucket_is_agreed(v, burst.inferred, b.size)
         end
      end).infer = { inflow = b.inflow, spilt = b.spilt or 0, buckets = b.buckets or 1 }
   end
   return list
end

local function committed_burst(path, o)
   local step = path.aware and "D.1" or "D.2"
   if path.cir == 0 then
      return {}
   elseif path.eir > 0 then
      return { {
         step = step, name = "CBS",
         untestable = "what exceeds CBS passes as excess traffic; E tests both buckets",
      } }
   end
   return bursts(path, o, {
      step = step, name = "CBS", size = path.cbs, frames = loads.within(path, path.cbs),
      colour = "green", group = path.cir, inflow = path.cir,
   })
end

local function excess_burst(path, o)
   if path.eir == 0 then
      return {}
   elseif path.aware then
      return bursts(path, o, {
         step = "E.1", name = "EBS, colour-aware", size = path.ebs,
         frames = loads.within(path, path.ebs), colour = "yellow", group = path.cir,
         inflow = path.eir + (path.service.coupling and path.cir or 0),
      })
   end
   -- the committed bucket is drained first; meanwhile the other one stays full
   local arriving = ethernet.l2_bps(path.line_fps or 0, path.frame_size)
   return bursts(path, o, {
      spilt = path.eir * 8 * path.cbs / (arriving - path.cir), buckets = 2,
      step = "E.2", name = "CBS and EBS", size = path.cbs + path.ebs,
      frames = loads.within(path, path.cbs) + loads.within(path, path.ebs),
      colour = "green", group = path.cir + path.eir, inflow = path.cir + path.eir,
   })
end

local TESTS = {
   { "cir", simple }, { "step-load", step_load }, { "eir", excess }, { "policing", policing },
   { "cbs", committed_burst }, { "ebs", excess_burst },
}

-- Bits per second of a load at its highest, of all its streams together.
local function peak_ulr(step, path)
   local peak = 0
   for _, part in ipairs { "green", "yellow", "green_bursts" } do
      local most = 0
      for _, load in ipairs(step.load[part] or {}) do
         most = math.max(most, load.fps)
      end
      -- bursts are in the gaps of the others
      peak = step.load.burst and math.max(peak, most) or peak + most
   end
   return ethernet.l1_bps(peak, path.frame_size)
end

-- A load that the line cannot carry says nothing of the service.
local function check_line(step, path)
   if step.load and path.line_rate and peak_ulr(step, path) > path.line_rate * (1 + 1e-9) then
      step.untestable = ("the load takes %s of a line of %s"):format(
         units.format_bits(peak_ulr(step, path), 1), units.format_bits(path.line_rate))
      step.load, step.judge, step.limits = nil, nil, nil
   end
   return step
end

--- The steps a plan wants.
-- @param path  with line_rate and line_fps of its line (see M.on_line); bursts need them
-- @param o     y1564 of the plan
function M.of(path, o)
   local wanted, list = {}, {}
   for _, test in ipairs(o.configuration.tests) do
      wanted[test] = true
   end
   for _, test in ipairs(TESTS) do
      for _, step in ipairs(wanted[test[1]] and test[2](path, o) or {}) do
         list[#list + 1] = check_line(step, path)
      end
   end
   return list
end

--- All paths of a plan, with what the lines of a tester carry.
function M.on_line(plan, tester)
   local list = paths.of(plan)
   for _, path in ipairs(list) do
      path.line_rate = tester.ports[path.from].line_rate
      path.serial_rate = tester.ports[path.from].serial_rate
      path.line_fps = path.line_rate and ethernet.max_fps(path.line_rate, path.frame_size)
   end
   return list
end

return M
