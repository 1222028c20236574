-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("tls_stream", "a stream over TLS 1.3, records of 16 KiB; by processor time",
   l4.busy_wire, "TLS_MAERTS", "plain_stream")
