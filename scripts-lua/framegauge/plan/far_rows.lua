-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a far tester, in the notation of plan/rows.lua.
return {
   key = "far", type = "group",
   help = "a tester at the far end, which does what another one says (framegauge far); its port's addresses "
      .. "are those that the other one's plan has for it",
   fields = {
      { key = "listen", type = "string", longest = 107, default = "127.0.0.1:5564",
        help = "loopback address and port, or the path of a socket, where the near tester connects; from "
           .. "another machine through ssh -L" },
   },
}
