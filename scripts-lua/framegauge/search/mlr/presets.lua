-- SPDX-License-Identifier: BSD-3-Clause

--- Goals by the names people know them by.
--
-- A preset is a function of the parameters that all searches share, so that `trial: 10s` shortens the trials
-- of every goal alike. `ndr` and `pdr` are the searches of FD.io CSIT (many short trials), `tst009` is the
-- search of that name with two trials a load as a goal; any other name is a goal like `rfc2544`.
local M = {}

local CSIT_TRIALS, CSIT_WIDTH = 21, 0.005

local function csit(loss_ratio)
   return function(o)
      return {
         final_trial = o.search_trial, initial_trial = o.search_trial, trials = CSIT_TRIALS,
         loss_ratio = loss_ratio, exceed_ratio = 0.5, width = CSIT_WIDTH,
      }
   end
end

local function long(trials, exceed_ratio)
   return function(o)
      return {
         final_trial = o.trial, initial_trial = o.search_trial, trials = trials,
         loss_ratio = o.loss_tolerance, exceed_ratio = exceed_ratio,
      }
   end
end

local PRESETS = { rfc2544 = long(1, 0), tst009 = long(2, 0.5), ndr = csit(0), pdr = csit(0.005) }

-- The goal of a search that was given none.
M.DEFAULT = { name = "rfc2544" }

--- Fill in what a goal leaves out.
-- @param goal  name =, and any of loss_ratio, exceed_ratio, duration_sum, final_trial, initial_trial, width
-- @param o     trial =, search_trial = (seconds), loss_tolerance =
-- @return a new goal; its width is nil where that is the search's resolution
function M.complete(goal, o)
   local preset = (PRESETS[goal.name] or PRESETS.rfc2544)(o)
   local final = goal.final_trial or preset.final_trial
   return {
      name = goal.name,
      loss_ratio = goal.loss_ratio or preset.loss_ratio,
      exceed_ratio = goal.exceed_ratio or preset.exceed_ratio,
      duration_sum = goal.duration_sum or preset.trials * final,
      final_trial = final,
      initial_trial = goal.initial_trial or math.min(final, preset.initial_trial),
      width = goal.width or preset.width,
   }
end

return M
