-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of the group `traffic`, in the notation of plan/rows.lua.
local phases = require "framegauge.plan.phase_rows"

return {
   key = "traffic", type = "group",
   help = "all streams of the plan at once, for a time",
   fields = {
      { key = "duration", type = "time", default = "10s", min = "1ms", max = "240h",
        help = "how long they are sent" },
      { key = "t_max", type = "time", default = "3s", min = "1us", max = "1h",
        help = "a frame that arrives so long after it was sent is lost (the waiting time T_max, RFC 7680)" },
      phases.learning_wait "1s", phases.drain "1s", phases.settle "0s", phases.retries,
   },
}
