-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("cc", "connect and close; the same",
   l4.wire, "TCP_CC", nil)
