-- SPDX-License-Identifier: BSD-3-Clause

--- Frames of 64 bytes through a kernel interface as we open it, beside trafgen through the same. Both are
-- counted by their own processor time, which other programs take no part of; what the other end of a veth
-- does with a frame is in it, for it does so within the system call that sends.
local kernel_port = require "kernel_port"

local M = { name = "kernel_frames", what = "64-byte frames through a veth, of a CPU's time", unit = "frames" }

function M.start(machine)
   local kernel, why = kernel_port.start()
   if not kernel then
      return nil, why
   end
   return {
      ours = function()
         return kernel_port.ours(kernel, machine, "frames", "", machine.seconds)
      end,
      peers = { { name = "trafgen (AF_PACKET)", aim = 1.5, measure = kernel_port.trafgen(kernel, machine) } },
      close = kernel.close,
   }
end

return M
