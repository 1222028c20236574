-- SPDX-License-Identifier: BSD-3-Clause

--- Requests and responses over TCP, and connections without either, by the names of netperf.
local theory = require "framegauge.l4.theory"

local SIZES = { { "request", "request" }, { "response", "response" } }

return {
   {
      name = "TCP_RR", help = "requests and responses", figure = "transactions_per_s", theory = theory.rr,
      short = true, campaigns = { ["transaction-rate"] = true, concurrency = true }, parameters = SIZES,
   },
   {
      name = "TCP_CRR", help = "a connection for each", figure = "transactions_per_s", theory = theory.crr,
      short = true, campaigns = { ["connection-rate"] = true }, parameters = SIZES,
   },
   {
      name = "TCP_CC", help = "only connect and close", figure = "connections_per_s", theory = theory.cc,
      short = true, campaigns = { ["connection-rate"] = true }, peers = { discard = true },
   },
}
