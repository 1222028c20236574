-- SPDX-License-Identifier: BSD-3-Clause

--- The program that makes a result, and what it stands on.
local build = require "framegauge.build"

local M = {}

--- Name and versions, as result.json has them.
function M.of()
   return { name = "framegauge", version = build.version, dpdk = build.dpdk, luajit = build.luajit }
end

return M
