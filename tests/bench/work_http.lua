-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("http", "HTTP GET of 64 bytes, connections kept; the same",
   l4.wire, "HTTP", "http")
