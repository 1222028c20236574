-- SPDX-License-Identifier: BSD-3-Clause

--- Binary search for the highest load a device carries: one trial decides on a load.
--
-- This is what RFC 2544 describes. One moment of bad luck at a load is taken for the truth about it; the
-- other searches ask again.
local halving = require "framegauge.search.halving"

local M = {}

local function one_trial(once)
   return once()
end

--- Search; see framegauge.search for the goal and the result, framegauge.search.halving for what else a goal
-- may have.
function M.run(goal)
   return halving.run(goal, one_trial)
end

return M
