-- SPDX-License-Identifier: BSD-3-Clause

local l4 = require "l4"

return l4.work("http_memif", "the same with a process and an lcore for each end, over memif",
   l4.memif, "HTTP", "http")
