-- SPDX-License-Identifier: BSD-3-Clause

--- Rows of `framegauge doctor`: what was found, its effect, the command that fixes it, and how to name a card
-- in a plan; the last three may be nil.
local M = {}

for _, state in ipairs { "ok", "warning", "problem" } do
   M[state] = function(topic, finding, effect, fix, use)
      return { state = state, topic = topic, finding = finding, effect = effect, fix = fix, use = use }
   end
end

return M
