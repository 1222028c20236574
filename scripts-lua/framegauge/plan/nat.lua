-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device as a NAT44 gateway: its keys, and what must hold between them. `into` is the member
-- of struct fg_nat_config.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"

local M = {}

M.row = keys.group("nat", "as a NAT44 gateway: TCP and UDP over IPv4 from the side of wire0 leave with its address on the side of wire1; a trial finds the table empty", {
   shared.sessions,
   { "full", { "drop", "replace" }, "what becomes of a session for which there is no room: it is lost, or it replaces the one that was idle longest",
     default = "drop" },
   { "first_port", "integer", "of its pool; a port serves one session with each far end",
     default = "1024", min = "1", max = "65535", into = "port_first" },
   { "last_port", "integer", "the same", default = "65535", min = "1", max = "65535", into = "port_last" },
   shared.setup_rate, shared.setup_queue, shared.session_timeout,
   { "clear_rate", "number", "sessions that it forgets a second when its table is cleared (rfc9693, teardown)",
     min = "1", max = "1000000000000", into = "clear_rate", default_help = "all at once" },
}, { optional = true })

local function is_a_router(values, found)
   local nat = values.reference_device.nat
   if not nat then
      return
   elseif nat.last_port < nat.first_port then
      found:add("reference_device.nat.last_port", ("%d is before %d"):format(nat.last_port, nat.first_port),
         "first_port or more")
   elseif values.reference_device.reflect then
      found:add("reference_device.nat", "a loopback has one side", "reflect: false")
   end
   for _, port in ipairs(values.ports) do
      if not port.gateway then
         found:add("reference_device.nat", ("the port %s has no gateway"):format(port.name),
            "an IPv4 gateway for each port: the device's addresses")
         return
      end
   end
end

M.rules = { is_a_router }

return M
