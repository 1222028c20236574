-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device as a firewall: its keys, and what must hold between them. `into` is the member of
-- struct fg_firewall_config.
local keys = require "framegauge.plan.keys"

local M = {}

M.row = keys.group("firewall", "as a firewall: the side of wire0 opens sessions of TCP and UDP, what belongs to none is lost, and a trial finds the table empty", {
   { "sessions", "integer", "sessions that its table holds",
     default = "1000000", min = "1", max = "4194304", into = "sessions" },
   { "full", { "drop", "reset" }, "what becomes of a session for which there is no room: it is lost, or answered by RST",
     default = "drop" },
   { "setup_rate", "number", "sessions that it sets up a second",
     min = "0.001", max = "1000000000", default_help = "as they come", into = "setup_rate" },
   { "setup_queue", "integer", "sessions that wait for it; more are lost",
     default = "64", min = "0", max = "65536", into = "setup_queue" },
   { "timeout", "time", "time after which an idle session is forgotten",
     default = "300s", min = "1us", max = "24h", into = "timeout_ns" },
   { "half_closed", "time", "time for which a session keeps its place after both sides have closed it",
     default = "0s", max = "1h", into = "half_closed_ns" },
   { "inspect", "time", "further delay of the first payload of a session",
     default = "0s", max = "1s", into = "inspect_ns" },
   { "inspect_frame", "time", "time of the inspection engine for each frame with payload; both directions share it",
     default = "0s", max = "1s", into = "frame_ns" },
   { "inspect_byte", "time", "and for each byte of the payload",
     default = "0s", max = "1s", into = "byte_ns" },
   { "inspect_queue", "integer", "frames that wait for the engine; more are lost",
     default = "1024", min = "0", max = "65536", into = "inspect_queue" },
   { "reset_every", "integer", "ends every n-th session by RST to both sides; 0: none",
     default = "0", min = "0", max = "4294967295", into = "reset_every" },
}, { optional = true })

local function is_between_two_ports(values, found)
   local device = values.reference_device
   if device.firewall and device.reflect then
      found:add("reference_device.firewall", "a loopback has one side", "reflect: false")
   end
end

M.rules = { is_between_two_ports }

return M
