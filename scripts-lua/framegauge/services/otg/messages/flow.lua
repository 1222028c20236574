-- SPDX-License-Identifier: BSD-3-Clause

--- A flow: where it goes, its headers, sizes, rates and durations, in the notation of services.otg.schema.
return [[
Flow tx_rx:1:FlowTxRx! packet:2*:FlowHeader egress_packet:9*:FlowHeader size:3:FlowSize rate:4:FlowRate
   duration:5:FlowDuration metrics:6:FlowMetrics name:7:str! payload:8:FlowPayload
FlowTxRx choice:1:{port device}=port port:2:FlowPort device:3:FlowRouter
FlowPort tx_name:1:str! rx_name:2:str rx_names:3*:str
FlowHeader choice:1:{custom ethernet vlan vxlan ipv4 ipv6 pfcpause ethernetpause tcp udp gre gtpv1 gtpv2 arp
   icmp icmpv6 ppp igmpv1 mpls snmpv2c rsvp macsec lacp ipv6_extension_header cfm}=ethernet
   custom:2:FlowCustom ethernet:3:FlowEthernet vlan:4:FlowVlan vxlan:5:FlowVxlan ipv4:6:FlowIpv4
   ipv6:7:FlowIpv6 pfcpause:8:FlowPfcPause ethernetpause:9:FlowEthernetPause tcp:10:FlowTcp udp:11:FlowUdp
   gre:12:FlowGre gtpv1:13:FlowGtpv1 gtpv2:14:FlowGtpv2 arp:15:FlowArp icmp:16:FlowIcmp icmpv6:17:FlowIcmpv6
   ppp:18:FlowPpp igmpv1:19:FlowIgmpv1 mpls:20:FlowMpls snmpv2c:21:FlowSnmpv2c rsvp:22:FlowRsvp
   macsec:23:FlowMacsec lacp:24:FlowLacp ipv6_extension_header:25:FlowIpv6ExtHeader cfm:26:FlowCfm
FlowCustom bytes:1:str! metric_tags:2*:FlowCustomMetricTag
FlowCustomMetricTag name:1:str! offset:2:u32=0 length:3:u32[1..]=1
MetricTag name:1:str! offset:2:u32=0 length:3:u32[1..]
FlowEthernet dst:1:P(mac,00:00:00:00:00:00,AT,def=auto) src:2:P(mac,00:00:00:00:00:00,T)
   ether_type:3:P(u16,65535,AT,def=auto) pfc_queue:4:P(u3,0,T)
FlowVlan priority:1:P(u3,0,T) cfi:2:P(u1,0,T) id:3:P(u12,0,T) tpid:4:P(u16,65535,T)
FlowVxlan flags:1:P(u8,8,T) reserved0:2:P(u24,0,T) vni:3:P(u24,0,AT,def=auto) reserved1:4:P(u8,0,T)
FlowIpv4 version:1:P(u4,4,T) header_length:2:P(u4,5,AT,def=auto) priority:3:FlowIpv4Priority
   total_length:4:P(u16,46,AT,def=auto) identification:5:P(u16,0,T) reserved:6:P(u1,0,T)
   dont_fragment:7:P(u1,0,T) more_fragments:8:P(u1,0,T) fragment_offset:9:P(u5,0,T)
   time_to_live:10:P(u8,64,T) protocol:11:P(u8,61,AT,def=auto) header_checksum:12:CK
   src:13:P(ipv4,0.0.0.0,ART) dst:14:P(ipv4,0.0.0.0,ART) options:15*:FlowIpv4Options
FlowIpv4Priority choice:1:{raw tos dscp}=dscp raw:2:P(u8,0,T) tos:3:FlowIpv4Tos dscp:4:FlowIpv4Dscp
FlowIpv4Tos precedence:1:P(u3,0,T) delay:2:P(u1,0,T) throughput:3:P(u1,0,T) reliability:4:P(u1,0,T)
   monetary:5:P(u1,0,T) unused:6:P(u1,0,T)
FlowIpv4Dscp phb:1:P(u6,0,T) ecn:2:P(u2,0,T)
FlowIpv4Options choice:1:{router_alert custom timestamp end_of_options}=router_alert
   custom:2:FlowIpv4OptionsCustom timestamp:3:FlowIpv4OptionsTimestamp
FlowIpv4OptionsCustom type:1:FlowIpv4OptionsCustomType length:2:FlowIpv4OptionsCustomLength value:3:hex=0000
FlowIpv4OptionsCustomType copied_flag:1:P(u1,0) option_class:2:P(u2,0) option_number:3:P(u5,0)
FlowIpv4OptionsCustomLength choice:1:{auto value}=auto auto:2:u32=0 value:3:u32=0
FlowIpv6 version:1:P(u4,6,T) traffic_class:2:P(u8,0,T) flow_label:3:P(u20,0,RT)
   payload_length:4:P(u16,0,AT,def=auto) next_header:5:P(u8,59,AT,def=auto) hop_limit:6:P(u8,64,T)
   src:7:P(ipv6,::0,AT) dst:8:P(ipv6,::0,AT) dst_usids:9:FlowIpv6UsidDst
FlowPfcPause dst:1:P(mac,01:80:c2:00:00:01,T) src:2:P(mac,00:00:00:00:00:00,T) ether_type:3:P(u16,34824,T)
   control_op_code:4:P(u16,257,T) class_enable_vector:5:P(u16,0,T) pause_class_0:6:P(u16,0,T)
   pause_class_1:7:P(u16,0,T) pause_class_2:8:P(u16,0,T) pause_class_3:9:P(u16,0,T)
   pause_class_4:10:P(u16,0,T) pause_class_5:11:P(u16,0,T) pause_class_6:12:P(u16,0,T)
   pause_class_7:13:P(u16,0,T)
FlowEthernetPause dst:1:P(mac,01:80:c2:00:00:01,T) src:2:P(mac,00:00:00:00:00:00,T)
   ether_type:3:P(u16,34824,T) control_op_code:4:P(u16,1,T) time:5:P(u16,0,T)
FlowTcp src_port:1:P(u16,0,RT) dst_port:2:P(u16,0,RT) seq_num:3:P(u32,0,T) ack_num:4:P(u32,0,T)
   data_offset:5:P(u4,0,T) ecn_ns:6:P(u1,0,T) ecn_cwr:7:P(u1,0,T) ecn_echo:8:P(u1,0,T) ctl_urg:9:P(u1,0,T)
   ctl_ack:10:P(u1,0,T) ctl_psh:11:P(u1,0,T) ctl_rst:12:P(u1,0,T) ctl_syn:13:P(u1,0,T) ctl_fin:14:P(u1,0,T)
   window:15:P(u16,0,T) checksum:16:CK
FlowUdp src_port:1:P(u16,0,RT) dst_port:2:P(u16,0,RT) length:3:P(u16,0,T) checksum:4:CK
FlowGre checksum_present:1:P(u1,0,T) reserved0:2:P(u12,0,T) version:3:P(u3,0,T)
   protocol:4:P(u16,2048,AT,def=auto) checksum:5:CK reserved1:6:P(u16,0,T)
FlowGtpv1 version:1:P(u3,1,T) protocol_type:2:P(u1,1,T) reserved:3:P(u1,0,T) e_flag:4:P(u1,0,T)
   s_flag:5:P(u1,0,T) pn_flag:6:P(u1,0,T) message_type:7:P(u8,0,T) message_length:8:P(u16,0,T)
   teid:9:P(u32,0,T) squence_number:10:P(u16,0,T) n_pdu_number:11:P(u8,0,T)
   next_extension_header_type:12:P(u8,0,T) extension_headers:13*:FlowGtpExtension
FlowGtpv2 version:1:P(u3,2,T) piggybacking_flag:2:P(u1,0,T) teid_flag:3:P(u1,0,T) spare1:4:P(u3,0,T)
   message_type:5:P(u8,0,T) message_length:6:P(u16,0,T) teid:7:P(u32,0,T) sequence_number:8:P(u24,0,T)
   spare2:9:P(u8,0,T)
FlowArp hardware_type:1:P(u16,1,T) protocol_type:2:P(u16,2048,T) hardware_length:3:P(u8,6,T)
   protocol_length:4:P(u8,4,T) operation:5:P(u16,1,T) sender_hardware_addr:6:P(mac,00:00:00:00:00:00,T)
   sender_protocol_addr:7:P(ipv4,0.0.0.0,T) target_hardware_addr:8:P(mac,00:00:00:00:00:00,T)
   target_protocol_addr:9:P(ipv4,0.0.0.0,T)
FlowIcmp choice:1:{echo}=echo echo:2:FlowIcmpEcho
FlowIcmpEcho type:1:P(u8,8,T) code:2:P(u8,0,T) checksum:3:CK identifier:4:P(u16,0,T)
   sequence_number:5:P(u16,0,T)
FlowIcmpv6 choice:1:{echo}=echo echo:2:FlowIcmpv6Echo
FlowIcmpv6Echo type:1:P(u8,128,T) code:2:P(u8,0,T) identifier:3:P(u16,0,T) sequence_number:4:P(u16,0,T)
   checksum:5:CK
FlowPpp address:1:P(u8,255,T) control:2:P(u8,3,T) protocol_type:3:P(u16,33,AT,def=auto)
FlowIgmpv1 version:1:P(u4,1,T) type:2:P(u4,1,T) unused:3:P(u8,0,T) checksum:4:CK
   group_address:5:P(ipv4,0.0.0.0,T)
FlowMpls label:1:P(u20,16,AT,def=auto) traffic_class:2:P(u3,0,T) bottom_of_stack:3:P(u1,1,AT,def=auto)
   time_to_live:4:P(u8,64,T)
FlowIpv6ExtHeader choice:1:{routing}=routing next_header:2:P(u8,59,A,def=auto)
   hdr_ext_len:3:P(u8,0,A,def=auto) routing:4:FlowIpv6Routing
FlowIpv6Routing choice:1:{segment_routing segment_routing_usid}=segment_routing
   segment_routing:2:FlowIpv6SegmentRouting segment_routing_usid:3:FlowIpv6SegmentRoutingUsid
FlowIpv6SegmentRouting segments_left:1:P(u8,0,A,def=auto) last_entry:2:P(u8,0,A,def=auto)
   flags:3:FlowIpv6SegmentRoutingFlags tag:4:P(u16,0) segment_list:5*:FlowIpv6SegmentRoutingSegment
   pad_tlv:6:FlowIpv6SRHPadTlv
FlowIpv6SegmentRoutingFlags protected:1:P(u1,0) oam:2:P(u1,0) alert:3:P(u1,0)
FlowIpv6SegmentRoutingSegment segment:1:P(ipv6,::0)
FlowSize choice:1:{fixed increment random weight_pairs}=fixed fixed:2:u32=64 increment:3:FlowSizeIncrement
   random:4:FlowSizeRandom weight_pairs:5:FlowSizeWeightPairs
FlowSizeIncrement start:1:u32[1..]=64 end:2:u32[64..]=1518 step:3:u32=1
FlowSizeRandom min:1:u32=64 max:2:u32=1518
FlowSizeWeightPairs choice:1:{predefined custom}=predefined predefined:2:{imix ipsec_imix ipv6_imix
   standard_imix tcp_imix}=imix custom:3*:FlowSizeWeightPairsCustom
FlowSizeWeightPairsCustom size:1:u32[12..65535]=64 weight:2:float=1.0
FlowRate choice:1:{pps bps kbps mbps gbps percentage}=pps pps:2:u64[1..]=1000 bps:3:u64[672..]=1000000000
   kbps:4:u64[1..]=1000000 mbps:5:u64[1..]=1000 gbps:6:u32[1..]=1 percentage:7:float[0..100]=100.0
FlowDuration choice:1:{fixed_packets fixed_seconds burst continuous}=continuous
   fixed_packets:2:FlowFixedPackets fixed_seconds:3:FlowFixedSeconds burst:4:FlowBurst
   continuous:5:FlowContinuous
FlowFixedPackets packets:1:u32[1..]=1 gap:2:u32=12 delay:3:FlowDelay
FlowDelay choice:1:{bytes nanoseconds microseconds}=bytes bytes:2:float[0..]=0.0
   nanoseconds:3:float[0..]=0.0 microseconds:4:float[0..]=0.0
FlowFixedSeconds seconds:1:float[0..]=1.0 gap:2:u32=12 delay:3:FlowDelay
FlowBurst bursts:1:u32=0 packets:2:u32[1..]=1 gap:3:u32=12 inter_burst_gap:4:FlowDurationInterBurstGap
FlowDurationInterBurstGap choice:1:{bytes nanoseconds microseconds}=bytes bytes:2:double[0..]=12.0
   nanoseconds:3:double[0..]=96.0 microseconds:4:double[0..]=0.096
FlowContinuous gap:1:u32=12 delay:2:FlowDelay
FlowMetrics enable:1:bool=false loss:2:bool=false rx_tx_ratio:6:FlowRxTxRatio timestamps:3:bool=false
   latency:4:FlowLatencyMetrics predefined_metric_tags:5:FlowPredefinedTags
FlowRxTxRatio choice:1:{rx_count value}=value rx_count:2:FlowRxTxRatioRxCount value:3:float=1.0
FlowRxTxRatioRxCount
FlowLatencyMetrics enable:1:bool=false mode:2:{store_forward cut_through}=store_forward
FlowPredefinedTags rx_name:1:bool=false
FlowPayload choice:1:{fixed increment_byte decrement_byte increment_word decrement_word}=fixed
   fixed:2:FlowPayloadFixed
FlowPayloadFixed pattern:1:hex=00 repeat:2:bool=true
]]
