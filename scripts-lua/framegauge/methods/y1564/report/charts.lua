-- SPDX-License-Identifier: BSD-3-Clause

--- The performance test over time: rate, loss, delay and its variation of each service, a line for each way.
local h = require "framegauge.text.xml"
local over_time = require "framegauge.report.chart.over_time"
local formatters = require "framegauge.report.html.formatters"

local M = {}

local TERMS = { "received IR", "FLR", "delay", "FDV" }

-- The series of a row: that of its stream in its trial.
local function series_of(result, service, row)
   local trial = result.trials[row.trial or 0]
   for _, direction in ipairs(trial and trial.directions or {}) do
      if direction.direction == ("%s %s green"):format(service.name, row.direction) then
         return direction.series
      end
   end
   return nil
end

--- The charts of all services.
function M.of(result)
   local out = {}
   for _, service in ipairs(result.results.y1564.services) do
      local lines = {}
      for i, row in ipairs(service.performance) do
         lines[i] = { name = formatters.direction(row.direction), series = series_of(result, service, row) }
      end
      out[#out + 1] = over_time.of { id = service.name, name = service.name, terms = TERMS, lines = lines }
   end
   return #out > 0 and {
      h.p {
         "Second by second, by the time at which a frame was sent; shaded from the least to the greatest "
            .. "where a point stands for several seconds, and of the delay in any case. Delays are those "
            .. "from first bit to first bit, without the frame's own time.",
      },
      out,
   }
end

return M
