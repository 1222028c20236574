-- SPDX-License-Identifier: BSD-3-Clause

--- Binary search for the highest load a device carries: one trial decides on a load.
--
-- This is what RFC 2544 describes. One moment of bad luck at a load is taken for the truth about it; the
-- other searches ask again.
local bisection = require "framegauge.search.bisection"

local M = {}

local function one_trial(once)
   return once()
end

--- Search; see framegauge.search for the goal and the result, bisection.lua for what else a goal
-- may have.
function M.run(goal)
   return bisection.run(goal, one_trial)
end

return M
