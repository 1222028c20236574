-- SPDX-License-Identifier: BSD-3-Clause

--- The clocks of two testers: how far they may differ.

local M = {}

--- How far two clocks may differ, nanoseconds; nil: unknown, with the reason.
function M.bound(here, there)
   local sum = here.error_ns + there.error_ns
   if here.reference == there.reference then
      return sum
   end
   for _, one in ipairs { here, there } do
      if one.reference and not one.reference_error_ns then
         return nil, ("they follow different references, and grandmaster %s does not tell its accuracy"):format(one.reference)
      end
      sum = sum + (one.reference and one.reference_error_ns or 0)
   end
   return sum
end

return M
