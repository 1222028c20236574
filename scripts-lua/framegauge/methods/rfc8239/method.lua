-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239, benchmarking of data centre switches: its tests as a method of plans.
local buffer = require "framegauge.methods.rfc8239.buffer"
local head_of_line = require "framegauge.methods.rfc8239.head_of_line"
local incast = require "framegauge.methods.rfc8239.incast"
local line_rate = require "framegauge.methods.rfc8239.line_rate"
local microburst = require "framegauge.methods.rfc8239.microburst"
local outlook = require "framegauge.methods.common.outlook"
local stateful_incast = require "framegauge.methods.rfc8239.stateful_incast"
local suite = require "framegauge.methods.common.suite"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local RECOMMENDED_LINE, MOST_LINE = 0.9998, 0.9999

local M = suite.method {
   key = "rfc8239", title = "RFC 8239",
   modules = { line_rate, buffer, microburst, head_of_line, incast, stateful_incast },
   lines = function(_, waits)
      return { waits,
         "A buffer that does not fill makes its trials longer; bursts end where the device loses." }
   end,
}

--- What criteria can be about: how the ports of the buffer test are arranged, and its frame size.
function M.subjects(plan)
   local of_buffer = plan.rfc8239.buffer
   return { { key = "procedure", values = of_buffer.procedures },
      { key = "frame_size", values = { of_buffer.frame_size }, read = tonumber } }
end

function M.check(_, tester)
   return outlook.unlike_lines(tester, "rfc8239", "bursts and line rate need equal lines")
      or outlook.unknown_line(tester, "rfc8239")
end

function M.conformance(plan)
   local o = plan.rfc8239
   return suite.conformance("RFC 8239", function(note)
      note(o.definition ~= "filo", "latency is not first bit in to last bit out (FILO)")
      note(o.line < RECOMMENDED_LINE, "line rate is %.6g %%, not 99.98 %%", o.line * 100)
      note(o.line > MOST_LINE, "line rate is %.6g %%: more than a line whose clock is slow may carry",
         o.line * 100)
      note(o.iterations < 2, "one iteration says nothing of repeatability")
      note(tables.contains(o.tests, "incast") and not tables.contains(o.tests, "stateful_incast"),
         "incast without TCP senders")
      note(o.trial < 1, "trials of %s", units.format_time(o.trial))
   end)
end

return M
