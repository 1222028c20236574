-- SPDX-License-Identifier: BSD-3-Clause

--- What a configuration has but flows, in the notation of framegauge.services.otg.schema.
return [[
Config ports:1*:Port lags:2*:Lag layer1:3*:Layer1 captures:4*:Capture devices:5*:Device flows:6*:Flow
   events:7:Event options:8:ConfigOptions lldp:9*:Lldp stateful_flows:10:StatefulFlow
   egress_only_tracking:11*:EgressOnlyTracking
Port location:1:str name:2:str!
Layer1 port_names:1*:str! speed:2:{speed_10_fd_mbps speed_10_hd_mbps speed_100_fd_mbps speed_100_hd_mbps
   speed_1_gbps speed_10_gbps speed_25_gbps speed_40_gbps speed_50_gbps speed_100_gbps speed_200_gbps
   speed_400_gbps speed_800_gbps} media:3:{copper fiber sgmii} promiscuous:4:bool=true
   mtu:5:u32[64..14000]=1500 ieee_media_defaults:6:bool auto_negotiate:7:bool
   auto_negotiation:8:Layer1AutoNegotiation flow_control:9:Layer1FlowControl name:10:str!
Layer1AutoNegotiation advertise_1000_mbps:1:bool=true advertise_100_fd_mbps:2:bool=true
   advertise_100_hd_mbps:3:bool=true advertise_10_fd_mbps:4:bool=true advertise_10_hd_mbps:5:bool=true
   link_training:6:bool=false rs_fec:7:bool=false
Layer1FlowControl directed_address:1:mac=01:80:C2:00:00:01 choice:2:{ieee_802_1qbb
   ieee_802_3x}=ieee_802_1qbb ieee_802_1qbb:3:Layer1Ieee8021qbb ieee_802_3x:4:Layer1Ieee8023x
Layer1Ieee8021qbb pfc_delay:1:u32[..65535]=0 pfc_class_0:2:u32[..7]=0 pfc_class_1:3:u32[..7]=1
   pfc_class_2:4:u32[..7]=2 pfc_class_3:5:u32[..7]=3 pfc_class_4:6:u32[..7]=4 pfc_class_5:7:u32[..7]=5
   pfc_class_6:8:u32[..7]=6 pfc_class_7:9:u32[..7]=7
Layer1Ieee8023x
Capture port_names:1*:str! filters:2*:CaptureFilter overwrite:3:bool=true packet_size:4:u32[..65535]
   format:5:{pcap pcapng}=pcap name:6:str!
CaptureFilter choice:1:{custom ethernet vlan ipv4 ipv6}=custom custom:2:CaptureCustom
   ethernet:3:CaptureEthernet vlan:4:CaptureVlan ipv4:5:CaptureIpv4 ipv6:6:CaptureIpv6
CaptureCustom offset:1:u32 bit_length:2:u32=8 value:3:hex=00 mask:4:hex=00 negate:5:bool=false
CaptureEthernet src:1:CaptureField dst:2:CaptureField ether_type:3:CaptureField pfc_queue:4:CaptureField
CaptureField value:1:hex=00 mask:2:hex=00 negate:3:bool=false
CaptureVlan priority:1:CaptureField cfi:2:CaptureField id:3:CaptureField protocol:4:CaptureField
CaptureIpv4 version:1:CaptureField header_length:2:CaptureField priority:3:CaptureField
   total_length:4:CaptureField identification:5:CaptureField reserved:6:CaptureField
   dont_fragment:7:CaptureField more_fragments:8:CaptureField fragment_offset:9:CaptureField
   time_to_live:10:CaptureField protocol:11:CaptureField header_checksum:12:CaptureField src:13:CaptureField
   dst:14:CaptureField
CaptureIpv6 version:1:CaptureField traffic_class:2:CaptureField flow_label:3:CaptureField
   payload_length:4:CaptureField next_header:5:CaptureField hop_limit:6:CaptureField src:7:CaptureField
   dst:8:CaptureField
Event cp_events:1:EventCPEvents dp_events:2:EventDPEvents
EventCPEvents enable:1:bool=false
EventDPEvents enable:1:bool=false rx_rate_threshold:2:float[0..100]=95.0
ConfigOptions port_options:1:PortOptions protocol_options:2:ProtocolOptions
   per_port_options:3*:PerPortOptions flow_options:4:FlowOptions
PortOptions location_preemption:1:bool=false data_integrity:2:bool=false
   frame_ordering_mode:3:PortOptionsFrameOrderingMode
PortOptionsFrameOrderingMode choice:1:{no_ordering rfc2889}=no_ordering
ProtocolOptions auto_start_all:1:bool=true
FlowOptions packet_loss_duration:1:bool=false
]]
