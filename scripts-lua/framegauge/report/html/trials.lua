-- SPDX-License-Identifier: BSD-3-Clause

--- The appendix: every trial in the order they were made, those that did not count too.
local formatters = require "framegauge.report.html.formatters"
local tables = require "framegauge.report.html.tables"
local trial = require "framegauge.trial.result"

--- The section.
-- @param trials   of a result
-- @param columns  where they are not of frames: those of their table
return function(trials, columns)
   local out = {}
   for i, group in ipairs(formatters.grouped(trials, "test")) do
      local of_frames = group.rows[1].directions
      out[i] = (of_frames and tables.of or tables.build) {
         trial.TRIAL, "trials", group.rows, rows = group.rows, columns = columns,
         caption = ("%s: %s"):format(group.name, formatters.plural(#group.rows, "trial")), class = "small",
         below = tables.reasons,
      }
   end
   return out
end
