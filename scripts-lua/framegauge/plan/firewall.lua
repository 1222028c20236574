-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device as a firewall: its keys, and what must hold between them. `into` is the member of
-- struct fg_firewall_config.
local M = {}

M.row = {
   key = "firewall", type = "group", optional = true,
   help = "as a firewall: the side of wire0 opens sessions of TCP and UDP, what belongs to none is lost, and a trial finds the table empty",
   fields = {
      { key = "sessions", type = "integer", default = "1000000", min = "1", max = "4194304",
        into = "sessions", help = "sessions that its table holds" },
      { key = "full", type = "enum", values = { "drop", "reset" }, default = "drop",
        help = "what becomes of a session for which there is no room: it is lost, or answered by RST" },
      { key = "setup_rate", type = "number", min = "0.001", max = "1000000000",
        default_help = "as they come", into = "setup_rate", help = "sessions that it sets up a second" },
      { key = "setup_queue", type = "integer", default = "64", min = "0", max = "65536",
        into = "setup_queue", help = "sessions that wait for it; more are lost" },
      { key = "timeout", type = "time", default = "300s", min = "1us", max = "24h", into = "timeout_ns",
        help = "an idle session is forgotten after so long" },
      { key = "half_closed", type = "time", default = "0s", max = "1h", into = "half_closed_ns",
        help = "a session takes its place for so long after both have closed it" },
      { key = "inspect", type = "time", default = "0s", max = "1s", into = "inspect_ns",
        help = "further delay of the first payload of a session" },
      { key = "inspect_frame", type = "time", default = "0s", max = "1s", into = "frame_ns",
        help = "time of the inspection engine for each frame with payload; both directions share it" },
      { key = "inspect_byte", type = "time", default = "0s", max = "1s", into = "byte_ns",
        help = "and for each byte of the payload" },
      { key = "inspect_queue", type = "integer", default = "1024", min = "0", max = "65536",
        into = "inspect_queue", help = "frames that wait for the engine; more are lost" },
      { key = "reset_every", type = "integer", default = "0", min = "0", max = "4294967295",
        into = "reset_every", help = "ends every n-th session by RST to both sides; 0: none" },
   },
}

local function is_between_two_ports(values, found)
   local device = values.reference_device
   if device.firewall and device.reflect then
      found:add("reference_device.firewall", "a loopback has one side", "reflect: false")
   end
end

M.rules = { is_between_two_ports }

return M
