-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889, benchmarking of LAN switching devices: its tests as a method of plans.
local caching = require "framegauge.methods.rfc2889.caching"
local congestion = require "framegauge.methods.rfc2889.congestion"
local errored = require "framegauge.methods.rfc2889.errored"
local mesh = require "framegauge.methods.rfc2889.mesh"
local outlook = require "framegauge.methods.common.outlook"
local pressure = require "framegauge.methods.rfc2889.pressure"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local SHORTEST_TRIAL, FEWEST_SIZES = 30, 5

-- The trials to come follow from the keys of a reference switch; for other devices they are a bound. Once
-- tests of addresses are made, the table of the switch is full, and it floods the frames of all others.
local M = suite.method {
   key = "rfc2889", title = "RFC 2889", modules = { mesh, caching, congestion, errored, pressure },
   last = caching,
   bound = function(plan) return plan.reference_switch and outlook.ABOUT or outlook.AT_MOST end,
}

function M.check(plan, tester)
   return outlook.unknown_line(tester, "rfc2889")
      or tables.contains(plan.rfc2889.tests, "congestion_control") and outlook.unlike_lines(tester,
         "rfc2889.congestion_control", "the test offers an egress one and a half times its line, which needs equal lines") or nil
end

function M.conformance(plan)
   local o = plan.rfc2889
   return suite.conformance("RFC 2889", function(note)
      note(o.trial < SHORTEST_TRIAL, "trials of %s: the RFC recommends %d s", units.format_time(o.trial),
         SHORTEST_TRIAL)
      note(#o.frame_sizes < FEWEST_SIZES, "fewer than five frame sizes (%d)", #o.frame_sizes)
      note(o.max < 1, "the maximum offered load is %.4g %% of the line", o.max * 100)
   end)
end

return M
