-- SPDX-License-Identifier: BSD-3-Clause

--- Protocols of links, in the notation of framegauge.services.otg.schema.
return [[
Lag ports:1*:LagPort protocol:2:LagProtocol min_links:3:u32[..32]=1 name:4:str!
LagPort port_name:1:str! lacp:2:LagPortLacp ethernet:3:DeviceEthernetBase! macsec:4:LagPortMacsec
LagPortLacp actor_port_number:1:u32[..65535]=0 actor_port_priority:2:u32[..65535]=1
   actor_activity:3:{passive active}=active lacpdu_periodic_time_interval:4:u32[..65535]=0
   lacpdu_timeout:5:u32[..65535]=0
DeviceEthernetBase mac:1:mac mtu:2:u32[..65535]=1500 vlans:3*:DeviceVlan name:4:str!
LagProtocol choice:1:{lacp static}=lacp lacp:2:LagProtocolLacp static:3:LagProtocolStatic
LagProtocolLacp actor_system_id:1:mac=00:00:00:00:00:00 actor_system_priority:2:u32[..65535]=0
   actor_key:3:u32[..65535]=0
LagProtocolStatic lag_id:1:u32[..65535]=0
StateProtocolLacp choice:1:{admin member_ports}! admin:2:StateProtocolLacpAdmin
   member_ports:3:StateProtocolLacpMemberPorts
StateProtocolLacpAdmin lag_member_names:1*:str state:2:{up down}!
StateProtocolLacpMemberPorts lag_member_names:1*:str state:2:{up down}!
LagMetricsRequest lag_names:1*:str column_names:2*:{oper_status member_ports_up frames_tx frames_rx bytes_tx
   bytes_rx frames_tx_rate frames_rx_rate bytes_tx_rate bytes_rx_rate}
LagMetric name:1:str oper_status:2:{up down} member_ports_up:3:u32 frames_tx:4:u64 frames_rx:5:u64
   bytes_tx:6:u64 bytes_rx:7:u64 frames_tx_rate:8:float frames_rx_rate:9:float bytes_tx_rate:10:float
   bytes_rx_rate:11:float
LacpMetricsRequest lag_names:1*:str lag_member_port_names:2*:str column_names:3*:{lacp_packets_rx
   lacp_packets_tx lacp_rx_errors activity timeout synchronization aggregatable collecting distributing
   system_id oper_key partner_id partner_key port_num partner_port_num}
LacpMetric lag_name:1:str lag_member_port_name:2:str lacp_packets_rx:3:u64 lacp_packets_tx:4:u64
   lacp_rx_errors:5:u64 activity:6:{active passive} timeout:7:{short long} synchronization:8:{in_sync
   out_sync} aggregatable:9:bool collecting:10:bool distributing:11:bool system_id:12:mac oper_key:13:u32
   partner_id:14:mac partner_key:15:u32 port_num:16:u32 partner_port_num:17:u32
Lldp connection:1:LldpConnection! chassis_id:2:LldpChassisId port_id:3:LldpPortId
   system_name:4:LldpSystemName hold_time:5:u32[10..65535]=120 advertisement_interval:6:u32[5..65534]=30
   name:7:str! org_infos:8*:LldpOrgInfo
LldpConnection choice:1:{port_name} port_name:2:str
LldpChassisId choice:1:{mac_address_subtype interface_name_subtype local_subtype}=mac_address_subtype
   mac_address_subtype:2:LldpChassisMacSubType interface_name_subtype:3:str local_subtype:4:str
LldpChassisMacSubType choice:1:{auto value}=auto auto:2:mac value:3:mac
LldpPortId choice:1:{mac_address_subtype interface_name_subtype local_subtype}=interface_name_subtype
   mac_address_subtype:2:str interface_name_subtype:3:LldpPortInterfaceNameSubType local_subtype:4:str
LldpPortInterfaceNameSubType choice:1:{auto value}=auto auto:2:str value:3:str
LldpSystemName choice:1:{auto value}=auto auto:2:str value:3:str
LldpOrgInfo oui:1:hex=0080C2 subtype:2:u32[1..127]=1 information:3:LldpOrgInfoType
LldpOrgInfoType choice:1:{info}=info info:2:hex
LldpMetricsRequest lldp_names:1*:str column_names:2*:{frames_rx frames_tx frames_error_rx frames_discard
   tlvs_discard tlvs_unknown}
LldpMetric name:1:str frames_rx:2:u64 frames_tx:3:u64 frames_error_rx:4:u64 frames_discard:5:u64
   tlvs_discard:6:u64 tlvs_unknown:7:u64
LldpNeighborsStateRequest lldp_names:1*:str neighbor_id_filters:2*:str
LldpNeighborsState lldp_name:1:str system_name:2:str system_description:3:str chassis_id:4:str
   chassis_id_type:5:{port_component network_address chassis_component mac_address interface_name local
   interface_alias} neighbor_id:6:str age:7:u32 last_update:8:u32 ttl:9:u32 port_id:10:str
   port_id_type:11:{port_component network_address agent_circuit_id mac_address interface_name local
   interface_alias} port_description:12:str management_address:13:str management_address_type:14:str
   custom_tlvs:15*:LldpCustomTLVState capabilities:16*:LldpCapabilityState
LldpCustomTLVState custom_type:1:u32 oui:2:str oui_subtype:3:u32 information:4:str
LldpCapabilityState capability_name:1:{mac_bridge two_port_mac_relay repeater docsis_cable_device s_vlan
   telephone other router c_vlan station_only wlan_access_point} capability_enabled:2:bool
]]
