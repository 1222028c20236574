-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of the group `traffic`, in the notation of plan/rows.lua.
return {
   key = "traffic", type = "group",
   help = "all streams of the plan at once, for a time",
   fields = {
      { key = "duration", type = "time", default = "10s", min = "1ms", max = "240h",
        help = "how long they are sent" },
      { key = "learning_wait", type = "time", default = "1s", max = "10min",
        help = "between the learning frames and the streams" },
      { key = "drain", type = "time", default = "1s", max = "10min",
        help = "how long frames may still arrive after that" },
      { key = "settle", type = "time", default = "0s", max = "10min",
        help = "rest for the device before the next trial" },
      { key = "retries", type = "integer", default = "2", min = "0", max = "100",
        help = "how often an invalid trial is repeated" },
   },
}
