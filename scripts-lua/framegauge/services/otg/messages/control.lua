-- SPDX-License-Identifier: BSD-3-Clause

--- Requests for control and metrics, and answers, in the notation of framegauge.services.otg.schema.
return [[
ConfigUpdate choice:1:{flows protocols} flows:2:FlowsUpdate protocols:3:ProtocolsUpdate
FlowsUpdate property_names:1*:{rate size}! flows:2*:Flow!
ConfigAppend config_append_list:1*:ConfigAppendResources
ConfigAppendResources choice:1:{flows}! flows:2*:Flow
ConfigDelete config_delete_list:1*:ConfigDeleteResources
ConfigDeleteResources choice:1:{flows}! flows:2*:str
ControlState choice:1:{port protocol traffic}! port:2:StatePort protocol:3:StateProtocol
   traffic:4:StateTraffic
StatePort choice:1:{link capture}! link:2:StatePortLink capture:3:StatePortCapture
StatePortLink port_names:1*:str state:2:{up down}!
StatePortCapture port_names:1*:str state:2:{start stop}!
StateProtocol choice:1:{all route lacp bgp isis ospfv2 ospfv3}! all:2:StateProtocolAll
   route:3:StateProtocolRoute lacp:4:StateProtocolLacp bgp:5:StateProtocolBgp isis:6:StateProtocolIsis
   ospfv2:7:StateProtocolOspfv2 ospfv3:8:StateProtocolOspfv3 rocev2:9:StateProtocolRocev2
StateProtocolAll state:1:{start stop}!
StateTraffic choice:1:{flow_transmit}! flow_transmit:2:StateTrafficFlowTransmit
StateTrafficFlowTransmit flow_names:1*:str state:2:{start stop pause resume}!
ControlAction choice:1:{protocol port}! protocol:2:ActionProtocol port:3:ActionPort
MetricsRequest choice:1:{port flow bgpv4 bgpv6 isis lag lacp lldp rsvp dhcpv4_client dhcpv4_server
   dhcpv6_client dhcpv6_server ospfv2 convergence macsec mka ospfv3 rocev2_ipv4 rocev2_ipv6 rocev2_flow
   egress_only_tracking bmp_server}=port port:2:PortMetricsRequest flow:3:FlowMetricsRequest
   bgpv4:4:Bgpv4MetricsRequest bgpv6:5:Bgpv6MetricsRequest isis:6:IsisMetricsRequest lag:7:LagMetricsRequest
   lacp:8:LacpMetricsRequest lldp:9:LldpMetricsRequest rsvp:10:RsvpMetricsRequest
   dhcpv4_client:11:Dhcpv4ClientMetricsRequest dhcpv4_server:12:Dhcpv4ServerMetricsRequest
   dhcpv6_client:13:Dhcpv6ClientMetricsRequest dhcpv6_server:14:Dhcpv6ServerMetricsRequest
   ospfv2:15:Ospfv2MetricsRequest convergence:16:ConvergenceRequest macsec:17:MacsecMetricsRequest
   mka:18:MkaMetricsRequest ospfv3:19:Ospfv3MetricsRequest rocev2_ipv4:20:Rocev2IPv4MetricsRequest
   rocev2_ipv6:21:Rocev2IPv6MetricsRequest rocev2_flow:22:Rocev2FlowMetricsRequest
   egress_only_tracking:23:EgressOnlyTrackingMetricsRequest bmp_server:24:BmpServerMetricsRequest
PortMetricsRequest port_names:1*:str column_names:2*:{transmit location link capture frames_tx frames_rx
   bytes_tx bytes_rx frames_tx_rate frames_rx_rate bytes_tx_rate bytes_rx_rate last_change speed}
FlowMetricsRequest flow_names:1*:str metric_names:3*:{transmit frames_tx frames_rx bytes_tx bytes_rx
   frames_tx_rate frames_rx_rate tx_l1_rate_bps rx_l1_rate_bps tx_rate_bytes rx_rate_bytes tx_rate_bps
   rx_rate_bps tx_rate_kbps rx_rate_kbps tx_rate_mbps rx_rate_mbps} tagged_metrics:4:FlowTaggedMetricsFilter
FlowTaggedMetricsFilter include:1:bool=true include_empty_metrics:2:bool=false metric_names:3*:{frames_tx
   frames_rx bytes_tx bytes_rx frames_tx_rate frames_rx_rate tx_l1_rate_bps rx_l1_rate_bps tx_rate_bytes
   rx_rate_bytes tx_rate_bps rx_rate_bps tx_rate_kbps rx_rate_kbps tx_rate_mbps rx_rate_mbps}
   filters:4*:FlowMetricTagFilter
FlowMetricTagFilter name:1:str values:2*:str
MetricsResponse choice:1:{flow_metrics port_metrics bgpv4_metrics bgpv6_metrics isis_metrics lag_metrics
   lacp_metrics lldp_metrics rsvp_metrics dhcpv4_client dhcpv4_server dhcpv6_client dhcpv6_server
   ospfv2_metrics convergence_metrics macsec_metrics mka_metrics ospfv3_metrics rocev2_ipv4_per_peer_metrics
   rocev2_ipv6_per_peer_metrics rocev2_flow_per_qp_metrics egress_only_tracking_metrics
   bmp_server_metrics}=port_metrics port_metrics:2*:PortMetric flow_metrics:3*:FlowMetric
   bgpv4_metrics:4*:Bgpv4Metric bgpv6_metrics:5*:Bgpv6Metric isis_metrics:6*:IsisMetric
   lag_metrics:7*:LagMetric lacp_metrics:8*:LacpMetric lldp_metrics:9*:LldpMetric
   rsvp_metrics:10*:RsvpMetric dhcpv4client_metrics:11*:Dhcpv4ClientMetric
   dhcpv4server_metrics:12*:Dhcpv4ServerMetric dhcpv6client_metrics:13*:Dhcpv6ClientMetric
   dhcpv6server_metrics:14*:Dhcpv6ServerMetric ospfv2_metrics:15*:Ospfv2Metric
   convergence_metrics:16*:ConvergenceMetric macsec_metrics:17*:MacsecMetric mka_metrics:18*:MkaMetric
   ospfv3_metrics:19*:Ospfv3Metric rocev2_ipv4_per_peer_metrics:20*:Rocev2IPv4MetricPerPeer
   rocev2_ipv6_per_peer_metrics:21*:Rocev2IPv6MetricPerPeer
   rocev2_flow_per_qp_metrics:22*:Rocev2FlowMetricPerQP
   egress_only_tracking_metrics:23*:EgressOnlyTrackingMetric bmp_server_metrics:24*:BmpServerMetric
PortMetric name:1:str location:2:str link:3:{up down} capture:4:{started stopped} frames_tx:5:u64
   frames_rx:6:u64 bytes_tx:7:u64 bytes_rx:8:u64 frames_tx_rate:9:float frames_rx_rate:10:float
   bytes_tx_rate:11:float bytes_rx_rate:12:float transmit:13:{started stopped} last_change:14:u64
   data_integrity:15:MetricDataIntegrity speed:16:u64
FlowMetric name:1:str port_tx:2:str port_rx:3:str transmit:5:{started stopped paused} frames_tx:6:u64
   frames_rx:7:u64 bytes_tx:8:u64 bytes_rx:9:u64 frames_tx_rate:10:float frames_rx_rate:11:float
   loss:12:float timestamps:13:MetricTimestamp latency:14:MetricLatency tagged_metrics:15*:FlowTaggedMetric
   tx_l1_rate_bps:16:float rx_l1_rate_bps:17:float tx_rate_bytes:18:float rx_rate_bytes:19:float
   tx_rate_bps:20:float rx_rate_bps:21:float tx_rate_kbps:22:float rx_rate_kbps:23:float
   tx_rate_mbps:24:float rx_rate_mbps:25:float packet_loss_duration:26:FlowPacketLossDuration
FlowTaggedMetric tags:1*:FlowMetricTag frames_tx:2:u64 frames_rx:3:u64 bytes_tx:4:u64 bytes_rx:5:u64
   frames_tx_rate:6:float frames_rx_rate:7:float loss:8:float timestamps:9:MetricTimestamp
   latency:10:MetricLatency tx_l1_rate_bps:11:float rx_l1_rate_bps:12:float tx_rate_bytes:13:float
   rx_rate_bytes:14:float tx_rate_bps:15:float rx_rate_bps:16:float tx_rate_kbps:17:float
   rx_rate_kbps:18:float tx_rate_mbps:19:float rx_rate_mbps:20:float
   packet_loss_duration:21:FlowPacketLossDuration
FlowMetricTag name:1:str value:2:FlowMetricTagValue
FlowMetricTagValue choice:1:{hex str}=hex hex:2:hex str:3:str
FlowPacketLossDuration value:1:float
MetricTimestamp first_timestamp_ns:1:double last_timestamp_ns:2:double
MetricLatency minimum_ns:1:double maximum_ns:2:double average_ns:3:double
StatesRequest choice:1:{ipv4_neighbors ipv6_neighbors bgp_prefixes isis_lsps lldp_neighbors rsvp_lsps
   dhcpv4_interfaces dhcpv4_leases dhcpv6_interfaces dhcpv6_leases ospfv2_lsas ospfv3_lsas isis_adjacencies
   bmp_servers}=ipv4_neighbors ipv4_neighbors:2:Neighborsv4StatesRequest
   ipv6_neighbors:3:Neighborsv6StatesRequest bgp_prefixes:4:BgpPrefixStateRequest
   isis_lsps:5:IsisLspsStateRequest lldp_neighbors:6:LldpNeighborsStateRequest
   rsvp_lsps:7:RsvpLspsStateRequest dhcpv4_interfaces:8:Dhcpv4InterfaceStateRequest
   dhcpv4_leases:9:Dhcpv4LeaseStateRequest dhcpv6_interfaces:10:Dhcpv6InterfaceStateRequest
   dhcpv6_leases:11:Dhcpv6LeaseStateRequest ospfv2_lsas:12:Ospfv2LsasStateRequest
   ospfv3_lsas:13:Ospfv3LsasStateRequest isis_adjacencies:14:IsisIIHsStateRequest
   bmp_servers:15:BmpServersStateRequest
StatesResponse choice:1:{ipv4_neighbors ipv6_neighbors bgp_prefixes isis_lsps lldp_neighbors rsvp_lsps
   dhcpv4_interfaces dhcpv4_leases dhcpv6_interfaces dhcpv6_leases ospfv2_lsas ospfv3_lsas isis_adjacencies
   bmp_servers}=ipv4_neighbors ipv4_neighbors:2*:Neighborsv4State ipv6_neighbors:3*:Neighborsv6State
   bgp_prefixes:4*:BgpPrefixesState isis_lsps:5*:IsisLspsState lldp_neighbors:6*:LldpNeighborsState
   rsvp_lsps:7*:RsvpLspsState dhcpv4_interfaces:8*:Dhcpv4InterfaceState dhcpv4_leases:9*:Dhcpv4LeasesState
   dhcpv6_interfaces:10*:Dhcpv6InterfaceState dhcpv6_leases:11*:Dhcpv6LeasesState
   ospfv2_lsas:12*:Ospfv2LsaState ospfv3_lsas:13*:Ospfv3LsaState isis_adjacencies:14*:IsisIIHsState
   bmp_servers:15*:BmpServerState
CaptureRequest port_name:1:str! packets:2:CaptureRequestPackets
CaptureRequestPackets choice:1:{all slice}=all slice:2:CaptureRequestCaptureSlice
CaptureRequestCaptureSlice choice:1:{initial}=initial initial:2:CaptureRequestCaptureSliceInitial
CaptureRequestCaptureSliceInitial start:1:u64[1..]=1 count:2:u64[1..]=100
Data chunk_size:1:u64 datum:2:bytes
Error code:1:i32! kind:2:{validation internal} errors:3*:str!
Warning warnings:1*:str
Version api_spec_version:1:str sdk_version:2:str app_version:3:str
]]
