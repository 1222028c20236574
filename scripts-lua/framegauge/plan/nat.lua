-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device as a NAT44 gateway: its keys, and what must hold between them. `into` is the member
-- of struct fg_nat_config.
local M = {}

M.row = {
   key = "nat", type = "group", optional = true,
   help = "as a NAT44 gateway: TCP and UDP over IPv4 from the side of wire0 leave with its address on the side of wire1; a trial finds the table empty",
   fields = {
      { key = "sessions", type = "integer", default = "1000000", min = "1", max = "4194304",
        into = "sessions", help = "sessions that its table holds" },
      { key = "full", type = "enum", values = { "drop", "replace" }, default = "drop",
        help = "what becomes of a session for which there is no room: it is lost, or it replaces the one that was idle longest" },
      { key = "first_port", type = "integer", default = "1024", min = "1", max = "65535",
        into = "port_first", help = "of its pool; a port serves one session with each far end" },
      { key = "last_port", type = "integer", default = "65535", min = "1", max = "65535",
        into = "port_last", help = "the same" },
      { key = "setup_rate", type = "number", min = "0.001", max = "1000000000",
        default_help = "as they come", into = "setup_rate", help = "sessions that it sets up a second" },
      { key = "setup_queue", type = "integer", default = "64", min = "0", max = "65536",
        into = "setup_queue", help = "sessions that wait for it; more are lost" },
      { key = "timeout", type = "time", default = "300s", min = "1us", max = "24h", into = "timeout_ns",
        help = "an idle session is forgotten after so long" },
      { key = "clear_rate", type = "number", min = "1", max = "1000000000000", into = "clear_rate",
        default_help = "all at once", help = "sessions that it forgets a second when its table is cleared (rfc9693, teardown)" },
   },
}

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
