-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("http2", "HTTP/2 over TLS, 32 requests at a time; by processor time",
   l4.busy_wire, "HTTPS2", "http2")
