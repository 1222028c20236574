-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a server of iperf3, in the notation of plan/rows.lua.
return {
   key = "iperf3", type = "group",
   help = "a server for ordinary hosts that run `iperf3 -c` (framegauge iperf3), on the one port of the plan",
   fields = {
      { key = "port", type = "integer", default = "5201", min = "1", max = "65535",
        help = "where it listens, TCP and UDP" },
      { key = "mtu", type = "integer", default = "1500", min = "256", max = "9216",
        help = "octets of the largest IP packet" },
      require "framegauge.plan.tcp_rows",
   },
}
