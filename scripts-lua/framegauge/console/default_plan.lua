-- SPDX-License-Identifier: BSD-3-Clause

--- The default plan of the console: the reference device, in real time.
return [[
name: console
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device:
  time: real
  rate: 1Gbps
  capacity: 900kfps
  buffer: 512
  latency: 20us
rfc2544:
  frame_sizes: [64, 512, 1518]
]]
