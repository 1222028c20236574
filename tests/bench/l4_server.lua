-- SPDX-License-Identifier: BSD-3-Clause

-- The server of a measurement over memif, in a process of its own; see l4.lua.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local job = require "framegauge.core.job"
local l4 = require "l4"

local test, socket, main, worker = ...

job.run(function()
   l4.serve(test, socket, tonumber(main), tonumber(worker))
end)
