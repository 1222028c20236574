-- SPDX-License-Identifier: BSD-3-Clause

--- Options of runs that several specs read (fixture.lua): all that a plan has, in few frames.
local M = {}

M.RFC2544 = table.concat({ -- of rfc2544-full, on a line of a hundredth of its speed
   "--quick", "--set 'rfc2544.frame_sizes=[64, 1518]'", "--set rfc2544.back_to_back.repetitions=1",
   "--set 'rfc2544.bursty_traffic.burst_frames=[16, 128]'", "--set reference_device.rate=10Mbps",
   "--set reference_device.capacity=9kfps", "--set reference_device.buffer=51",
   "--set reference_device.reverse.capacity=7kfps", "--set reference_device.reverse.buffer=25",
   "--set reference_device.loss_random=10ppm", "--expect 'throughput>=1%@64'",
}, " ")

M.RFC8239 = table.concat({
   "--quick", "--set 'ports={p1: {device: wire0}, p2: {device: wire1}, p3: {device: wire2}, p4: {device: wire3}}'",
   "--set 'rfc8239.frame_sizes=[1518]'", "--set 'rfc8239.microburst.ingresses=[3]'",
   "--set 'rfc8239.buffer.procedures=[efficiency, port]'",
   "--expect 'buffer>=130000@port'", "--expect 'loss<=0%@line_rate'",
}, " ")

M.RFC9693 = table.concat({
   "--quick", "--set 'rfc9693.connections=[2000]'", "--set 'rfc9693.frame_sizes=[64]'",
   "--set rfc9693.capacity.start=1000", "--set reference_device.nat.sessions=3000",
   "--set rfc9693.resolution=10%", "--set rfc9693.capacity.error=10%", "--expect 'capacity>=2700'",
   "--expect 'connections>=15000@connection_rate'", "--expect 'throughput>=300kfps@64'",
}, " ")

-- The plan of a method, where it is not named after it.
local PLANS = { rfc2544 = "rfc2544-full", y1564 = "y1564-one-service", l4 = "l4-battery" }

-- Rows of one frame size show as much as rows of three, rows of a slow line as much as a fast one's,
-- and rows of a small table as much as a large one's.
local OPTIONS = {
   rfc2544 = M.RFC2544,
   rfc2889 = "--quick --set rfc2889.frame_sizes=[1518] --set rfc2889.trial=100ms --set rfc2889.search_trial=20ms --set reference_switch.rate=100Mbps --set reference_switch.capacity=800kfps",
   rfc3918 = "--quick --set rfc3918.frame_sizes=[1518] --set reference_switch.rate=100Mbps",
   mesh = "--quick --set reference_switch.rate=100Mbps",
   rfc8239 = M.RFC8239,
   rfc9411 = "--quick --set rfc9411.objects=[1KiB] --set rfc9411.sustain=500ms --set 'reference_device.firewall={sessions: 500, setup_rate: 500, inspect: 500us}' --set 'rfc9411.target={connections: 2000, transactions: 10000, concurrent: 1000}'",
   rfc9693 = M.RFC9693,
}

--- The run of a method in which all its tests and tables are.
-- @return plan and options, as fixture.run takes them
function M.of(method)
   return PLANS[method] or method, OPTIONS[method] or "--quick"
end

return M
