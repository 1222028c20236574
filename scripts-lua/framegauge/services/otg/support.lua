-- SPDX-License-Identifier: BSD-3-Clause

--- What of the API is supported, as a page: from the schema, by which requests are read.
local schema = require "framegauge.services.otg.schema"

local M = {}

-- Fields that are read and refused, or read and without effect, by message and field.
local NOTES = {
   ["Config.events"] = "only `enable: false`",
   ["ConfigOptions.port_options"] = "`location_preemption`; `data_integrity` only false",
   ["ConfigOptions.protocol_options"] = "`auto_start_all`: whether devices speak at once",
   ["DeviceEthernet.mtu"] = "without effect",
   ["EthernetConnection.lag_name"] = "no; flows may go over LAGs", ["EthernetConnection.vxlan_name"] = "no",
   ["FlowPort.tx_name"] = "a port or a LAG; a flow over a LAG leaves in turn over its ports in use",
   ["FlowPort.rx_names"] = "ports and LAGs", ["FlowPort.rx_name"] = "the old form of one",
   ["FlowDuration.burst"] = "but not over a LAG",
   ["Lag.min_links"] = "with fewer ports in use the LAG is down, and flows over it wait",
   ["LagPortLacp.actor_port_number"] = "0: the place of the port in the LAG, from 1",
   ["LagPortLacp.lacpdu_periodic_time_interval"] = "0: as the partner asks for",
   ["LagPortLacp.lacpdu_timeout"] = "below 90 the partner is asked for a LACPDU a second; 0: 3 where the interval is 1, else 90",
   ["DeviceEthernetBase.mac"] = "of LACPDUs; default: the port's",
   ["DeviceEthernetBase.mtu"] = "without effect",
   ["DeviceEthernetBase.vlans"] = "no",
   ["StateProtocolLacp.admin"] = "down: LACPDUs without synchronization",
   ["StateProtocolLacp.member_ports"] = "down: no LACPDUs",
   ["FlowRouter.bidirectional"] = "a second row of the same name, MACs, addresses and ports exchanged",
   ["FlowRouter.tx_names"] = "Ethernet, IPv4 or IPv6 interfaces, all behind one port",
   ["FlowRouter.rx_names"] = "Ethernet, IPv4 or IPv6 interfaces",
   ["Layer1.speed"] = "the line's rate for percentages",
   ["Layer1.media"] = "without effect", ["Layer1.mtu"] = "without effect",
   ["Layer1.promiscuous"] = "without effect", ["Layer1.ieee_media_defaults"] = "without effect",
   ["Layer1.auto_negotiate"] = "without effect", ["Layer1.auto_negotiation"] = "without effect",
   ["Layer1.flow_control"] = "without effect, with a warning",
   ["Flow.egress_packet"] = "its metric tags: bits by whose values frames are told apart on arrival; the rest is without effect",
   ["Flow.metrics"] = "without `enable` the frames carry no test signature, and are counted as sent only",
   ["FlowEthernet.dst"] = "`auto`: 0, and between devices the MAC address of the next hop",
   ["FlowIpv4.src"] = "but not `auto`", ["FlowIpv4.dst"] = "but not `auto`",
   ["FlowIpv6.src"] = "but not `auto`", ["FlowIpv6.dst"] = "but not `auto`",
   ["FlowGre.reserved0"] = "0, or values that vary",
   ["FlowMetrics.predefined_metric_tags"] = "`rx_name`: `tagged_metrics` of each port that receives the flow",
   ["FlowMetrics.timestamps"] = "since the start of all flows of a request",
   ["LldpConnection.port_name"] = "several agents may be behind a port",
   ["LldpChassisMacSubType.auto"] = "the MAC address of the port",
   ["LldpPortInterfaceNameSubType.auto"] = "the interface of the port",
   ["LldpSystemName.auto"] = "`framegauge`",
   ["LldpOrgInfo.information"] = "at most 507 bytes",
   ["StatePort.link"] = "of kernel interfaces, and of cards whose driver can; else refused",
   ["FlowSize.random"] = "from 64 bytes on", ["FlowSize.weight_pairs"] = "from 64 bytes on",
}

local SHOWN = {
   "Config", "Lag", "LagPort", "LagPortLacp", "DeviceEthernetBase", "LagProtocol",
   "LagProtocolLacp", "Layer1", "ConfigOptions", "Capture", "Device", "DeviceEthernet",
   "EthernetConnection", "DeviceVlan", "DeviceIpv4", "DeviceIpv6", "Flow", "FlowTxRx", "FlowPort",
   "FlowRouter", "FlowHeader", "FlowSize", "FlowRate", "FlowDuration", "FlowMetrics", "FlowPayload",
   "FlowEthernet", "FlowIpv4", "FlowIpv6", "FlowIpv6ExtHeader", "FlowIpv6Routing",
   "FlowIpv6SegmentRouting", "FlowTcp", "FlowUdp", "FlowGre", "FlowGtpv1", "ControlState",
   "StatePort", "StateProtocol", "StateProtocolLacp", "StateTrafficFlowTransmit", "ControlAction",
   "ActionProtocol", "ConfigUpdate", "ConfigAppendResources", "ConfigDeleteResources", "Lldp",
   "LldpConnection", "LldpChassisMacSubType", "LldpPortInterfaceNameSubType", "LldpSystemName",
   "LldpOrgInfo",
}

-- "yes", "no", or what there is to say.
local function state(message, field)
   local supported = field.kind ~= "message" or schema.message(field.type) ~= nil
   return supported and (NOTES[message .. "." .. field.name] or "yes") or "no"
end

--- The page, Markdown.
function M.page()
   local list = {
      "# What of the Open Traffic Generator API is supported", "",
      "The API is the models' 1.61, over HTTP, HTTPS and gRPC, with its streams. A request that asks",
      "for more than this page has is refused with the path of each place.",
      "[How to use it](../how-to/otg.md).",
      "",
      "A pattern of a header's field may be `value`, `values`, `increment`, `decrement`, `random` and `auto`",
      "where the API has them. `metric_tags` of at most 32 bits each, 8 of a flow, of at most 64 bits",
      "together. Metrics and states of what is never configured are empty lists.", "",
   }
   for _, name in ipairs(SHOWN) do
      list[#list + 1] = ("## `%s`\n\n| field | supported |\n|---|---|"):format(name)
      for _, field in ipairs(schema.message(name)) do
         list[#list + 1] = field.name ~= "choice" and ("| `%s` | %s |"):format(field.name, state(name,
            field)) or nil
      end
      list[#list + 1] = ""
   end
   list[#list + 1] = "This page is generated from scripts-lua/framegauge/services/otg/support.lua: `build/app/framegauge script docs/generate/otg.lua > docs/reference/otg.md`."
   return table.concat(list, "\n") .. "\n"
end

return M
