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
   "--quick", "--set 'ports={p1: {device: wire0}, p2: {device: wire1}, p3: {device: wire2}, "
      .. "p4: {device: wire3}}'",
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

return M
