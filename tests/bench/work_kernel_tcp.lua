-- SPDX-License-Identifier: BSD-3-Clause

--- Four streams of TCP to Linux's iperf3 server through a veth whose ends have offloads, and four of
-- iperf3's own client.
local kernel_port = require "kernel_port"

local M = { name = "kernel_tcp", what = "TCP to iperf3 over a veth with offloads", unit = "bits" }

function M.start(machine)
   local kernel, why = kernel_port.start()
   local theirs = kernel and kernel_port.iperf3(kernel, machine)
   if not theirs then
      if kernel then
         kernel.close()
      end
      return nil, why or "iperf3 is missing"
   end
   local server = kernel_port.serve(kernel, machine)
   return {
      ours = function()
         return kernel_port.ours(kernel, machine, "stream", ",offload", machine.seconds)
      end,
      peers = { { name = "iperf3, Linux to Linux", aim = 0.8, measure = theirs } },
      close = function()
         server:close()
         kernel.close()
      end,
   }
end

return M
