-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("tls_crr", "connect, TLS handshake, GET, close; by processor time",
   l4.busy_wire, "HTTPS_close", "https_close")
