-- SPDX-License-Identifier: BSD-3-Clause

--- Capture files: frames with the times they left at.
local ffi = require "ffi"

local M = {}

local NANOSECONDS, ETHERNET, LONGEST = 0xa1b23c4d, 1, 65535

local Writer = {}
Writer.__index = Writer

-- In the machine's byte order, which a reader knows from the first word.
local function words(a, b, c, d)
   return ffi.string(ffi.new("uint32_t[4]", a, b, c, d), 16)
end

--- Begin a file.
-- @return the writer, or nil and a message
-- @usage local file = pcap.create(path)
-- file:add(frame.make(frame.build(64, { { "ethernet" }, { "ipv4" }, { "udp" } }), 1, 0, 0), 1000)
-- return file:close() --> true
function M.create(path)
   local file, message = io.open(path, "wb")
   if not file then
      return nil, message
   end
   file:write(ffi.string(ffi.new("uint32_t[1]", NANOSECONDS), 4),
      ffi.string(ffi.new("uint16_t[2]", 2, 4), 4), words(0, 0, LONGEST, ETHERNET))
   return setmetatable({ file = file }, Writer)
end

-- Add a frame.
-- @param octets   without FCS
-- @param time_ns  since the beginning
function Writer:add(octets, time_ns)
   self.file:write(words(math.floor(time_ns / 1e9), time_ns % 1e9, #octets, #octets), octets)
end

-- End the file. @return true, or nil and a message
function Writer:close()
   return self.file:close()
end

return M
