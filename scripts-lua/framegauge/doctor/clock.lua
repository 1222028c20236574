-- SPDX-License-Identifier: BSD-3-Clause

--- Doctor: the sources of a common time for one-way delays, and the bound of each (framegauge.clock).
local finding = require "framegauge.doctor.finding"
local Clock = require "framegauge.clock"
local format = require "framegauge.text.format"
local job = require "framegauge.core.job"

local M = {}

local function row_of(found, is_chosen)
   local state, topic = found.state, "clock: " .. found.source.name
   if not state.synchronised then
      return finding.warning(topic, state.finding, "it cannot give the common time of one-way delays",
         state.fix)
   end
   return finding.ok(topic,
      ("within %s of %s when it was asked%s"):format(format.nanoseconds(state.error_ns),
         state.reference and "grandmaster " .. state.reference or "UTC", is_chosen and "; clock.source: auto takes it" or ""))
end

--- Look at all sources.
-- @param machine  what is asked; nil: this machine
-- @return list of rows, as framegauge.doctor has them
function M.examine(machine)
   local clock, rows, chosen = Clock.new { machine = machine }, {}, nil
   local list = job.wait(function(wake)
      clock:ask_all(wake)
   end)
   for i, found in ipairs(list) do
      local takes = not chosen and found.state.synchronised
      rows[i], chosen = row_of(found, takes), chosen or takes
   end
   return rows
end

return M
