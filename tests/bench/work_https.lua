-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("https", "HTTP over TLS 1.3, GET of 64 bytes, connections kept; by processor time",
   l4.busy_wire, "HTTPS", "https")
