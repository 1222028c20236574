-- SPDX-License-Identifier: BSD-3-Clause

-- A capture to replay: framegauge script generate.lua FILE MEGABYTES FRAMES-PER-SECOND
--
-- Frames of 60 to 1514 bytes, no two alike, at uneven times; always the same.
local pcap = require "framegauge.text.pcap"

local path, megabytes, fps = arg[1], tonumber(arg[2]), tonumber(arg[3])
local file = assert(pcap.create(path))
local state, time, octets, number = 1, 0, 0, 0
local filling = {}

local function random(n)
   state = state * 16807 % 2147483647
   return state % n
end

while octets < megabytes * 1e6 do
   local size = 60 + random(1455)
   number = number + 1
   filling[size] = filling[size] or ("\165"):rep(size - 26)
   file:add(("\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5%012d"):format(number) .. filling[size], time)
   time = time + math.floor(1e9 / fps * (0.5 + random(1000) / 1000))
   octets = octets + 16 + size
end
assert(file:close())
print(("%d frames, %d octets"):format(number, octets))
