-- SPDX-License-Identifier: BSD-3-Clause

--- What the tests of RFC 8239 have in common: streams at line rate, latency and jitter as RFC 8238 defines
-- them, and figures of several iterations.
local flow_control = require "framegauge.trial.flow_control"
local stack = require "framegauge.traffic.stack"
local stats = require "framegauge.trial.stats"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"

local M = {}

local NS = 1e9
local DEFINITIONS = { filo = "first bit in to last bit out (FILO)", fifo = "first bit in to first bit out (FIFO)" }

--- The trials that a test will make.
-- @param trials  how many with each frame size
-- @param load_s  seconds of load of each
-- @param sizes   frame sizes, where they are not the plan's; false: not known yet
function M.parts(plan, test, trials, load_s, sizes)
   local o = plan.rfc8239
   return tables.map(sizes or o.frame_sizes, function(frame_size)
      return { test = test, frame_size = frame_size or nil, trials = trials,
         seconds = trials * (load_s + o.learning_wait + o.drain + o.settle) }
   end)
end

--- Line rate: frames per second of the slowest line, and what the plan makes of it.
-- @return as the plan has it, and all of the line
function M.line_fps(plan, tester, frame_size)
   local whole = tester:max_fps(frame_size)
   return whole * plan.rfc8239.line, whole
end

--- A stream from one port to another.
-- @param o.name   in the counts (default: "from->to")
-- @param o.fps, o.seconds  its load; or o.load, as framegauge.tester.streams has it
-- @param o.phase  where its first frame leaves, in times between two frames
-- @param o.dscp   code point, or nil; o.over_time as framegauge.tester.streams
function M.stream(plan, tester, from, to, frame_size, o)
   local version = plan.ports[tables.index_of(plan.ports, from.name)].ipv4 and 4 or 6
   local ip = { protocol = "ipv" .. version, fields = {} }
   if o.dscp and o.dscp > 0 then
      ip.fields[1] = { name = "dscp", value = o.dscp }
   end
   local frame = { { protocol = "ethernet", fields = {} }, ip, { protocol = "udp", fields = {} } }
   local name = o.name or from.name .. "->" .. to.name
   return {
      name = name, from = from.name, to = to.name, phase = o.phase, measure = {}, over_time = o.over_time,
      frame = stack.template(plan.ports, { name = name, from = from.name, to = to.name, frame = frame },
         stack.known(tester), frame_size),
      loads = { o.load or { fps = o.fps, mean_fps = o.fps, seconds = o.seconds, max_lag = o.max_lag } },
   }
end

local KEYS = { "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns" }

--- A latency from first bit to first bit as the plan's definition has it, less what the cables take.
-- @param latency  of a trial; may be nil
-- @usage common.latency({ rfc8239 = { definition = "filo", cable = 0 } }, { min_ns = 20512, max_ns = 20512,
--    mean_ns = 20512 }, 64, 1e9).min_ns --> 21024
function M.latency(plan, latency, frame_size, line_bps)
   if not latency then
      return nil
   end
   local o, copy = plan.rfc8239, {}
   for key, value in pairs(latency) do
      copy[key] = value
   end
   local definition = line_bps and o.definition or "fifo"
   local more = (definition == "filo" and 8 * frame_size / line_bps * NS or 0) - 2 * o.cable * NS
   for _, key in ipairs(KEYS) do
      copy[key] = latency[key] and math.max(0, latency[key] + more)
   end
   copy.definition = DEFINITIONS[definition]
   return copy
end

--- Jitter: the delay less the least one (RFC 8238, 3.2; PDV of RFC 5481). Its range and the 99th percentile.
-- @usage common.jitter { min_ns = 100, p99_ns = 130, max_ns = 150 } --> {range_ns=50, p99_ns=30}
function M.jitter(latency)
   return latency and {
      range_ns = latency.max_ns - latency.min_ns, p99_ns = latency.p99_ns and latency.p99_ns - latency.min_ns,
   }
end

--- Percentage variance of consecutive results (RFC 8239, 1.3.4): the greatest, with its sign.
-- @usage common.pv { 100, 103, 99 } --> -3.8835
function M.pv(list)
   local most
   for i = 2, #list do
      local pv = list[i - 1] ~= 0 and (list[i] - list[i - 1]) / list[i - 1] * 100 or 0
      most = (not most or math.abs(pv) > math.abs(most)) and pv or most
   end
   return most
end

--- Figures of several iterations.
-- @param row   gets iterations, pv_percent, rsd_percent and, where the latter is too much, a reason
-- @param list  of the figure of each
function M.repeated(plan, row, list)
   row.iterations = #list
   if not list[2] then
      return
   end
   local mean = stats.mean(list)
   row.pv_percent = M.pv(list)
   row.rsd_percent = mean ~= 0 and stats.stddev(list) / math.abs(mean) * 100 or 0
   if row.rsd_percent > plan.rfc8239.max_rsd * 100 then
      row.repeatable = false
      row.reasons[#row.reasons + 1] = ("unrepeatable: the relative standard deviation of %d iterations is %.3g %%")
         :format(#list, row.rsd_percent)
   else
      row.repeatable = true
   end
end

--- A row from its trials: validity and reasons.
function M.row(records, values)
   values.validity, values.reasons = suite.unflooded(records)
   values.trials, values.first_trial = #records, records[1].trial
   values.pause_received, values.paused_ns = flow_control.figures(records)
   return values
end

--- An outcome, where the row is valid.
function M.judge(row, passes, why)
   if row.validity == "valid" then
      row.outcome = passes and "pass" or "fail"
      row.reasons[#row.reasons + 1] = not passes and why or nil
   end
end

--- The names of ports, joined.
function M.names(ports)
   return table.concat(tables.field(ports, "name"), " ")
end

return M
