-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("crr_memif", "connect, request, response, close, over memif",
   l4.memif, "TCP_CRR", "close_each")
