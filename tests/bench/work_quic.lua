-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("quic", "a stream of QUIC from the server; by processor time",
   l4.busy_wire, "QUIC_MAERTS", "quic")
