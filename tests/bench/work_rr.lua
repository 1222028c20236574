-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("rr", "request and response, both ends and the wire on one lcore",
   l4.wire, "TCP_RR", nil)
