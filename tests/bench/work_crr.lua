-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("crr", "connect, request, response, close; the same",
   l4.wire, "TCP_CRR", "close_each")
