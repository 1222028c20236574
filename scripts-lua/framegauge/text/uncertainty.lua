-- SPDX-License-Identifier: BSD-3-Clause

--- How far from a figure the truth may be, as rows of a result and in words. framegauge.trial.components says
-- what contributes to it, framegauge.trial.uncertainty puts the contributions together.
local rows = require "framegauge.text.rows"

local M = {}

--- What contributes, in words.
M.NAMES = {
   search = "search", buffer = "buffer", clock = "clock", stamp = "stamps", poll_gap = "poll gap",
   calibration = "calibration", sample = "sample", resolution = "resolution", between_runs = "between runs",
}

local NAMES = {
   "search", "buffer", "clock", "stamp", "poll_gap", "calibration", "sample", "resolution", "between_runs",
}

M.COMPONENT = rows.record("uncertainty_component", "what contributes to an uncertainty, in the unit of the figure: a standard uncertainty, or bounds", {
   { "name", NAMES, "name of the component" },
   { "type", { "A", "B" }, "`A`: by statistics of what was measured; `B`: by other knowledge (GUM 4.2 and 4.3)" },
   { "standard", "number", "standard uncertainty", optional = true },
   { "below", "number", "how far below the figure the truth may be because of it", optional = true },
   { "above", "number", "how far above it", optional = true },
   { "source", "text", "where it comes from" },
})

M.RECORD = rows.record("uncertainty", "how far from a figure the truth may be", {
   { "kind", { "interval", "normal" }, "`interval`: bounds that follow from the method, added; `normal`: standard uncertainties, combined (GUM 5.1.2), beyond what bounds there are" },
   { "low", "signed", "the truth is not below it; null: there is no such bound", null = true },
   { "high", "signed", "the truth is not above it; null: there is no such bound", null = true },
   { "expanded", "number", "the greater of the two distances from the figure; null where one is not known",
      null = true },
   { "coverage", "ratio", "how often such an interval holds the truth, at least" },
   { "k", "positive", "with `normal`: the coverage factor, Student's for the effective degrees of freedom and 2 at least", optional = true },
   { "components", rows.list(M.COMPONENT), "what contributes" },
})

--- What contributes, in one line, the largest first: "search, buffer".
function M.components_in_words(uncertainty)
   local list, names = {}, {}
   for i, one in ipairs(uncertainty.components) do
      list[i] = { one, math.max(one.standard or 0, one.below or 0, one.above or 0), i }
   end
   table.sort(list, function(a, b)
      if a[2] ~= b[2] then
         return a[2] > b[2]
      end
      return a[3] < b[3]
   end)
   for i, one in ipairs(list) do
      names[i] = M.NAMES[one[1].name]
   end
   return table.concat(names, ", ")
end

return M
