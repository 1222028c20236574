-- SPDX-License-Identifier: BSD-3-Clause

--- The Open Traffic Generator server in a plan: its keys and what must hold between them, in the notation of
-- plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local tables = require "framegauge.core.tables"

local row = keys.group("otg", "a server of the Open Traffic Generator API, through which scripts configure the ports of the plan and start traffic (framegauge otg)", {
   { "listen", "list", "where it listens: https://HOST:PORT, http://HOST:PORT or grpc://HOST:PORT (without TLS, as clients expect it); the API has no authentication",
     of = { type = "string", longest = 200 }, least = 1, most = 8,
     default = { "https://127.0.0.1:8443", "grpc://127.0.0.1:40051" } },
   { "certificate", "string", "file of the certificate for https, PEM",
     longest = 4000, default_help = "self-signed" },
   { "key", "string", "file of its key, PEM", longest = 4000, default_help = "its own" },
   { "locations", "map", "further names of ports for the key `location` of a script's ports; known without it are the plan's name of a port, its device, and its interface",
     name = "name", optional = true, names = { longest = 200, match = "^[^%c]+$", expected = "text" },
     of = keys.group(nil, nil, {
        { "port", "string", "a port of the plan", required = true, longest = 31 },
     }) },
   { "drain", "time", "how long a flow is counted after its last frame, before it is shown as stopped",
     default = "200ms", min = "1ms", max = "10s" },
   { "max_frame", "size", "bytes with FCS of the longest frame that the ports are opened for at first; a configuration with longer ones opens them again",
     default = "1522", min = "64", max = "16128" },
   { "capture_fcs", "boolean", "frames of captures end with their FCS, which scripts expect in the captured length",
     default = "true" },
   { "inner_fcs", "boolean", "an Ethernet header that is not the first one reserves four bytes at its end for an FCS",
     default = "true" },
   { "capture_mask", { "compare", "ignore" }, "what a bit in the mask of a capture's filter means: compare this bit, or ignore it",
     default = "compare" },
})

local function locations_are_ports(values, found)
   for _, one in ipairs(values.otg.locations or {}) do
      if not tables.index_of(values.ports, one.port) then
         found:add(("otg.locations.%s.port"):format(one.name), ("there is no port %s"):format(one.port),
            "one of " .. table.concat(tables.field(values.ports, "name"), ", "))
      end
   end
end

local function listens_somewhere(values, found)
   for i, text in ipairs(values.otg.listen) do
      local scheme = text:match "^(%w+)://[^/]+:%d+$"
      if not tables.contains({ "http", "https", "grpc" }, scheme) then
         found:add(("otg.listen[%d]"):format(i), ("%q is no place to listen"):format(text),
            "such as https://127.0.0.1:8443 or grpc://127.0.0.1:40051")
      end
   end
   if (values.otg.certificate == nil) ~= (values.otg.key == nil) then
      found:add("otg.certificate", "certificate and key go together", "both or none")
   end
end

-- A script waits, so the wire cannot run ahead of it.
local function wire_keeps_step(values, found)
   local device = values.reference_switch or values.reference_device
   local first = values.ports[1]
   if first and first.device and first.device.kind == "wire" and device.time == "free" then
      found:add(values.reference_switch and "reference_switch.time" or "reference_device.time",
         "free time would not wait for a script", "real")
   end
end

return {
   name = "otg", row = row, rules = { locations_are_ports, listens_somewhere, wire_keeps_step },
      service = true,
   alone = true, on_wires = true,
}
