-- SPDX-License-Identifier: BSD-3-Clause

--- Which trials decided: of each throughput the one that passed and the one above it that failed.
local M = {}

--- List of { frame_size =, role =, trial = }.
function M.of(result)
   local list = {}
   for _, row in ipairs(result.results.throughput or {}) do
      for _, role in ipairs { { "lower_trial", "passed" }, { "upper_trial", "failed" } } do
         local trial = result.trials[row[role[1]] or 0]
         if trial then
            list[#list + 1] = { frame_size = row.frame_size, role = role[2], trial = trial }
         end
      end
   end
   return list
end

return M
