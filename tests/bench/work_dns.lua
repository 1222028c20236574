-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("dns", "DNS over UDP, every answer compared; by processor time",
   l4.busy_wire, "DNS", "dns")
