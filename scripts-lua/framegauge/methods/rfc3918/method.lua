-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 3918, benchmarking of IP multicast: its tests as a method of plans.
local capacity = require "framegauge.methods.rfc3918.capacity"
local delay = require "framegauge.methods.rfc3918.delay"
local format = require "framegauge.text.format"
local latency = require "framegauge.methods.rfc3918.latency"
local outlook = require "framegauge.methods.common.outlook"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.rfc3918.throughput"
local trials = require "framegauge.methods.rfc3918.trials"
local units = require "framegauge.text.units"

local SHORTEST_TRIAL, FEWEST_SIZES, LATENCY_TRIAL = 30, 5, 120

local function lines(plan, waits)
   local roles = trials.roles(plan)
   local join = #roles.receivers == 1 and " joins" or " join"
   return {
      ("%s sends; %s by %s%s%s."):format(roles.source, table.concat(roles.receivers, ", ") .. join,
         trials.version(plan), roles.monitor and "; " .. roles.monitor .. " joins nothing" or "",
         roles.burden[1] and "; " .. table.concat(roles.burden, ", ") .. " burden the device" or ""),
      waits,
   }
end

local M = suite.method {
   key = "rfc3918", title = "RFC 3918", modules = { throughput, latency, delay, capacity }, lines = lines,
   bound = function() return outlook.AT_MOST end,
}

function M.scope(plan)
   return ("%s, %s"):format(format.plural(#trials.roles(plan).receivers, "receiver"),
      format.plural(#plan.rfc3918.frame_sizes, "frame size"))
end

local function asks_for(o, ...)
   for _, key in ipairs { ... } do
      if tables.contains(o.tests, key) then
         return true
      end
   end
   return false
end

function M.conformance(plan)
   local o = plan.rfc3918
   local of_latency = asks_for(o, "latency", "burdened_latency")
   local of_capacity = asks_for(o, "group_capacity")
   return suite.conformance("RFC 3918", function(note)
      note(o.trial < SHORTEST_TRIAL and asks_for(o, unpack(throughput.KEYS)),
         "trials of %s: the RFC recommends %d s at least", units.format_time(o.trial), SHORTEST_TRIAL)
      note(#o.frame_sizes < FEWEST_SIZES, "fewer than five frame sizes (%d)", #o.frame_sizes)
      note(of_latency and o.latency_trial < LATENCY_TRIAL, "streams of %s for the latency: the RFC has %d s",
         units.format_time(o.latency_trial), LATENCY_TRIAL)
      note(of_latency and (o.latency_load < 1 or not asks_for(o, "aggregated")),
         "the latency is not measured at the throughput")
      note(of_capacity and o.capacity_search ~= "step",
         "group capacity: found by halving, not by adding a fixed number of groups")
      note(of_capacity and not trials.roles(plan).monitor,
         "group capacity without a port that watches what is flooded")
   end)
end

return M
