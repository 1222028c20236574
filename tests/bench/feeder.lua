-- SPDX-License-Identifier: BSD-3-Clause

--- The other end of work_rx.lua, in a process of its own: sends test frames into a memif socket as fast as
-- they are taken, until its time is over or it is stopped.
--
--    framegauge script feeder.lua SOCKET CPU SECONDS
local tester = require "tester"

local socket, cpu, seconds = arg[1], tonumber(arg[2]), tonumber(arg[3])
local PLAN = [[
test: rfc2544
ports:
  east: {device: "memif:%s,server", line_rate: 100Gbps}
  west: {device: "vdev:net_null_west,no-rx=1", line_rate: 100Gbps}
rfc2544: {frame_sizes: [64]}
]]

tester.with(tester.open({ main = cpu, worker = cpu }, PLAN:format(socket)), function(bench)
   print("ready")
   io.stdout:flush()
   tester.trial(bench, { fps = 1e9, duration = seconds, directions = { "east->west" } })
end)
