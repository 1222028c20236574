-- SPDX-License-Identifier: BSD-3-Clause

--- The latency definition of a device (RFC 1242, 3.8). Store and forward: from the last bit in to the first
-- bit out (LIFO). Bit forwarding, including cut-through: from first bit to first bit (FIFO).
--
-- The tester measures from first bit to first bit. A frame that comes out before its last bit was in proves
-- that the device cuts through; long frames can prove it, short ones may not.
local M = {}

local STAMPS_NS = 2 -- two stamps of the wire, 1 ns each

local IT_CUTS_THROUGH = "frames left before all of the frame had come in: the device cuts through, and its latency is from first bit to first bit (RFC 1242, 3.8); take %s: fifo"
local ALL_ARE_FIFO = "frames of %d bytes left before all of the frame had come in: the device cuts through, and the latency of every frame size is from first bit to first bit (RFC 1242, 3.8)"

--- The definition of a latency.
-- @param wanted    "lifo" or "fifo" as the plan has it; nil: by the device's kind
-- @param frame_ns  a frame's time on the input line; nil: not known, or of several sizes
-- @param latency   from first bit to first bit: min_ns, error_bound_ns; or nil
-- @param key       of the plan, which names the definition
-- @param size      bytes of the frame
-- @return "lifo" or "fifo", ns to subtract from the latency, and a remark or nil
-- @usage definition.of(nil, 5120, { min_ns = 25120 }) --> lifo 5120
-- @usage definition.of(nil, 121440, { min_ns = 3120 }) --> fifo 0
function M.of(wanted, frame_ns, latency, key, size)
   local error_ns = latency and math.max(STAMPS_NS, latency.error_bound_ns or 0)
   local cuts = frame_ns and latency and latency.min_ns < frame_ns - error_ns
   local is = frame_ns and (wanted or not cuts and "lifo") or "fifo"
   local remark = cuts and wanted ~= "fifo" and (wanted and IT_CUTS_THROUGH:format(key)
      or ALL_ARE_FIFO:format(size)) or nil
   return is, is == "lifo" and frame_ns or 0, remark
end

--- Put figures into rows where the plan names no definition. A device has one kind, so all rows of a run have
-- one definition: once a size shows that the device cuts through, the earlier rows are updated.
-- @param run     a table that lasts as long as the run
-- @param remark  evidence that the device cuts through, by of(), or nil
-- @param put     function(remark): puts the figures of some rows; with the remark from first bit to first bit
function M.of_run(run, remark, put)
   local first = remark and not run.cuts_through
   run.cuts_through, run.defined = run.cuts_through or remark, run.defined or {}
   table.insert(run.defined, put)
   for _, each in ipairs(first and run.defined or { put }) do
      each(run.cuts_through)
   end
end

return M
