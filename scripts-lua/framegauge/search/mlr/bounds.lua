-- SPDX-License-Identifier: BSD-3-Clause

--- The relevant bounds: what all loads together say to one target (RFC 9971).
--
-- The relevant upper bound is the smallest load that is an upper bound, the relevant lower bound the largest
-- lower bound below it. Where a device loses frames at a load and none at a higher one (loss inversion), the
-- higher one is thereby left out: no lower bound is ever published above a load that failed.
local classification = require "framegauge.search.mlr.classification"

local M = {}

-- Rounding must not cost a trial.
local SLACK = 1 + 1e-9

--- The bounds of a target.
-- @return relevant lower and upper bound; nil for what there is not
function M.of(ledger, target)
   local lower
   for _, load in ipairs(ledger.loads) do
      local class = classification.of(ledger:at(load), target)
      if class == "upper" then
         return lower, load
      elseif class == "lower" then
         lower = load
      end
   end
   return lower, nil
end

--- Whether a result with these bounds is regular: both exist, no further apart than the width.
-- @param width  share of the upper bound
function M.are_regular(lower, upper, width)
   return lower ~= nil and upper ~= nil and (upper - lower) / upper <= width * SLACK
end

return M
