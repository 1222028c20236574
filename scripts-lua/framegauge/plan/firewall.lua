-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device as a firewall: its keys, and what must hold between them. `into` is the member of
-- struct fg_firewall_config.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"

local M = {}

M.row = keys.group("firewall", "as a firewall: the side of wire0 opens sessions of TCP and UDP, what belongs to none is lost, and a trial finds the table empty", {
   shared.sessions,
   { "full", { "drop", "reset" }, "what becomes of a session for which there is no room: it is lost, or answered by RST",
     default = "drop" },
   shared.setup_rate, shared.setup_queue, shared.session_timeout,
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
