-- SPDX-License-Identifier: BSD-3-Clause

--- Which latency a device has (RFC 1242, 3.8): one that stores and forwards from the last bit in to the first
-- bit out (LIFO), one that forwards bits, as one that cuts through does, from first bit to first bit (FIFO).
--
-- The tester measures from first bit to first bit. A frame that comes out before its last bit was in tells
-- that the device cuts through.
local M = {}

local STAMPS_NS = 2 -- two stamps of the wire, 1 ns each

local IT_CUTS_THROUGH = "frames left before all of the frame had come in: the device cuts through, and its latency is from first bit to first bit (RFC 1242, 3.8)"

--- The definition of a latency.
-- @param wanted    "lifo" or "fifo" as the plan has it; nil: by the device's kind
-- @param frame_ns  what a frame takes on the line in; nil: not known, or of several sizes
-- @param latency   from first bit to first bit: min_ns, error_bound_ns; or nil
-- @param key       of the plan, which names the definition
-- @return "lifo" or "fifo", ns that it takes off the latency, and a remark or nil
-- @usage definition.of(nil, 5120, { min_ns = 25120 }) --> lifo 5120
-- @usage definition.of(nil, 121440, { min_ns = 3120 }) --> fifo 0
function M.of(wanted, frame_ns, latency, key)
   local error_ns = latency and math.max(STAMPS_NS, latency.error_bound_ns or 0)
   local cuts = frame_ns and latency and latency.min_ns < frame_ns - error_ns
   local is = frame_ns and (wanted or not cuts and "lifo") or "fifo"
   local remark = cuts and wanted ~= "fifo" and IT_CUTS_THROUGH .. (wanted and "; take %s: fifo"
      or "; with %s: fifo all frame sizes have that"):format(key) or nil
   return is, is == "lifo" and frame_ns or 0, remark
end

return M
