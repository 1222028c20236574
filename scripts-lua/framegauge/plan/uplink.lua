-- SPDX-License-Identifier: BSD-3-Clause

--- The uplink of the reference switch in a plan: then it is two switches with a line between them.
local keys = require "framegauge.plan.keys"
local shared_rules = require "framegauge.plan.shared_rules"
local topology = require "framegauge.traffic.topology"

local M = {}

local KEY = "reference_switch.uplink"

M.row = keys.group("uplink", "two switches in place of one, alike, with a line between them; both have output queues and store frames", {
   { "rate", "bits", "of the line", default = "1Gbps", min = "1Mbps", max = "800Gbps" },
   { "ports", "list", "names of the ports that the second switch has",
     of = { type = "string" }, unique = true, least = 1, default_help = "the second half" },
}, { optional = true })

local ALONE = {
   queues = "output", flow_control = "none", switching = "store-and-forward",
}

local function joins_two_plain_switches(values, found)
   local s = values.reference_switch
   if not s or not s.uplink then
      return
   end
   for key, only in pairs(ALONE) do
      if s[key] ~= only then
         found:add("reference_switch." .. key, "with an uplink", only)
      end
   end
   for _, key in ipairs { "failover", "snooping" } do
      if s[key] then
         found:add("reference_switch." .. key, "with an uplink", "one of them")
      end
   end
   if #values.ports > 62 then
      found:add(KEY, ("with %d ports"):format(#values.ports), "at most 62, for it takes two")
   end
   shared_rules.are_some_ports(values, found, KEY .. ".ports", s.uplink.ports)
end

M.rules = { joins_two_plain_switches }

--- The final shape of the values.
function M.shape(uplink, plan_ports)
   uplink.ports = uplink.ports or topology.second_half(plan_ports)
end

return M
