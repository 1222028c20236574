# SPDX-License-Identifier: BSD-3-Clause
"""Protocol by protocol and modifier by modifier: what is asked for in a plan, and what tshark and scapy must
read.

A case: name, the keys of the stream, what tshark finds by its field names, what scapy finds by expressions of
the packet p. A value is a text, a list of them, one for each frame, or a set of those that different versions
print. With "wrong" among the flags, checksums or lengths are wrong on purpose, and the case says so itself;
in all others every checksum must be right, and nothing malformed.
"""
from collections import namedtuple

FRAMES = 4

Case = namedtuple('Case', 'name keys tshark scapy flags')


def case(name, keys, tshark, scapy, *flags):
    return Case(name, keys, tshark, scapy, flags)


def frame(stack, more='', size=300):
    return f'size: {size}, frame: [{stack}]{more}'


IP = 'ethernet, ipv4'
IP6 = 'ethernet, ipv6'
INSIDE = 'ethernet, ipv4, udp'

CASES = [
    case('ethernet', frame('{ethernet: {source: "02:00:00:00:00:09", destination: "02:00:00:00:00:08"}}, ipv4, udp'),
         {'eth.src': '02:00:00:00:00:09', 'eth.dst': '02:00:00:00:00:08', 'eth.type': '0x0800'},
         {'p[Ether].src': '02:00:00:00:00:09', 'p[Ether].type': '2048'}),
    case('802.3, llc, snap', frame('ethernet, llc, snap, ipv4, udp'),
         {'eth.len': '282', 'llc.dsap': '0xaa', 'llc.type': '0x0800', 'ip.proto': '17'},
         {'p[Dot3].len': '282', 'p[LLC].dsap': '170', 'p[SNAP].code': '2048', 'p[IP].proto': '17'}),
    case('llc', frame('ethernet, {llc: {dsap: 0x42, ssap: 0x43}}, {raw: "00"}'),
         {'eth.len': '282', 'llc.dsap': '0x42'}, {'p[LLC].ssap': '67'}, 'anything inside'),
    case('vlan', frame('ethernet, {vlan: {id: 100, priority: 5, drop_eligible: 1}}, ipv4, udp'),
         {'vlan.id': '100', 'vlan.priority': '5', 'vlan.dei': '1', 'ip.proto': '17'},
         {'p[Dot1Q].vlan': '100', 'p[Dot1Q].prio': '5'}),
    case('qinq, three deep', frame('ethernet, {qinq: 200}, {qinq: 300}, {vlan: 7}, ipv4, udp'),
         {'eth.type': '0x88a8', 'ip.proto': '17'},
         {'p[Dot1AD].vlan': '200', 'p[Dot1Q].vlan': '7'}),
    case('mpls', frame('ethernet, {mpls: {label: 17, traffic_class: 3, ttl: 9}}, {mpls: 18}, ipv4, udp'),
         {'mpls.label': '17,18', 'mpls.exp': '3,0', 'mpls.bottom': '0,1', 'mpls.ttl': '9,64', 'ip.proto': '17'},
         {'p[MPLS].label': '17', 'p[MPLS].s': '0', 'p[MPLS].payload.label': '18', 'p[IP].proto': '17'}),
    case('arp', frame('ethernet, {arp: {operation: reply, target_mac: "02:00:00:00:00:07", target_ip: 198.18.1.99}}'),
         {'arp.opcode': '2', 'arp.src.hw_mac': '02:46:67:00:00:01', 'arp.src.proto_ipv4': '198.18.1.2',
          'arp.dst.proto_ipv4': '198.18.1.99'},
         {'p[ARP].op': '2', 'p[ARP].hwdst': '02:00:00:00:00:07', 'p[ARP].psrc': '198.18.1.2'}),
    case('pause', frame('ethernet, {pause: 1000}'),
         {'eth.dst': '01:80:c2:00:00:01', 'macc.opcode': '0x0001', 'macc.pause_time': '1000'},
         {'p.dst': '01:80:c2:00:00:01', 'p.type': '34824', 'bytes(p)[14:18].hex()': '000103e8'}),
    case('pfc', frame('ethernet, {pfc: {priorities: 0x09, quanta0: 5, quanta3: 6}}'),
         {'macc.opcode': '0x0101', 'macc.cbfc.pause_time.c0': '5', 'macc.cbfc.pause_time.c3': '6'},
         {'bytes(p)[14:26].hex()': '010100090005ffffffff0006'}),
    case('ipv4', frame('ethernet, {ipv4: {dscp: 46, ecn: 1, id: 77, flags: df, ttl: 3, source: 198.18.7.7, '
                       'destination: 198.19.8.8}}, udp'),
         {'ip.dsfield.dscp': '46', 'ip.dsfield.ecn': '1', 'ip.id': '0x004d', 'ip.flags.df': '1', 'ip.ttl': '3',
          'ip.src': '198.18.7.7', 'ip.dst': '198.19.8.8', 'ip.len': '282'},
         {'p[IP].tos': '185', 'p[IP].id': '77', 'p[IP].flags': 'DF', 'p[IP].ttl': '3', 'p[IP].src': '198.18.7.7'}),
    case('ipv4, options', frame('ethernet, {ipv4: {options: [router_alert, {record_route: [0.0.0.0, 0.0.0.0]}, nop, '
                                '{option: {kind: 0x9e, data: "0102"}}]}}, udp'),
         {'ip.hdr_len': '40', 'ip.opt.type': {'148,7,1', '148,7,1,158'}, 'udp.dstport': '7'},
         {'p[IP].ihl': '10', 'p[IP].options[0].option': '20', 'len(p[IP].options[1].routers)': '2',
          'p[UDP].dport': '7'}),
    case('ipv4, a later fragment', frame('ethernet, {ipv4: {flags: mf, fragment_offset: 5}}, {raw: "0102"}'),
         {'ip.flags.mf': '1', 'ip.frag_offset': '5'}, {'p[IP].frag': '5', 'p[IP].flags': 'MF'}),
    case('ipv6', frame('ethernet, {ipv6: {dscp: 10, ecn: 2, flow_label: 74565, hop_limit: 3, source: "2001:2::a", '
                       'destination: "2001:2::b"}}, udp'),
         {'ipv6.tclass.dscp': '10', 'ipv6.tclass.ecn': '2', 'ipv6.flow': '0x012345', 'ipv6.hlim': '3',
          'ipv6.src': '2001:2::a', 'ipv6.plen': '242', 'udp.dstport': '7'},
         {'p[IPv6].tc': '42', 'p[IPv6].fl': '74565', 'p[IPv6].hlim': '3', 'p[IPv6].dst': '2001:2::b'}),
    case('ipv6, hop-by-hop and destination options',
         frame('ethernet, ipv6, {hop_by_hop: {options: [{router_alert: 0}]}}, '
               '{destination_options: {options: [{option: {data: "010203"}}]}}, udp'),
         {'ipv6.opt.router_alert': '0', 'ipv6.nxt': '0', 'ipv6.dstopts.nxt': '17', 'udp.dstport': '7'},
         {'p[IPv6ExtHdrHopByHop].options[0].otype': '5', 'p[IPv6ExtHdrDestOpt].options[0].optlen': '3',
          'p[UDP].dport': '7'}),
    case('ipv6, segments', frame('ethernet, ipv6, {routing: {segments: ["2001:2::1", "2001:2::2"], segments_left: 0}}, '
                                 'udp'),
         {'ipv6.routing.type': '4', 'ipv6.routing.srh.last_entry': '1', 'udp.dstport': '7'},
         {'p[IPv6ExtHdrSegmentRouting].lastentry': '1', 'p[IPv6ExtHdrSegmentRouting].addresses[1]': '2001:2::2'}),
    *(case(f'ipv6, {left} segments left, type {kind}, {inside}',
           frame('ethernet, ipv6, {routing: {segments: ["2001:2::1", "2001:2::2", "2001:2::3"], '
                 f'type: {kind}, segments_left: {left}, bytes: [{{at: 22, octets: 2, from: 5, to: 9}}, '
                 f'{{at: 54, octets: 2, from: 6, to: 9}}]}}}}, {inside}'),
           {'ipv6.routing.type': str(kind), 'ipv6.routing.segleft': str(left), **found},
           {} if kind == 0 else {'p[IPv6ExtHdrSegmentRouting].segleft': str(left)})
      for left in (0, 1, 2) for kind in (4, 0)
      for inside, found in (('udp', {'udp.checksum.status': '1'}), ('tcp', {'tcp.checksum.status': '1'}),
                            ('icmpv6', {'icmpv6.checksum.status': '1'}))),
    case('ipv6, fragment', frame('ethernet, ipv6, {fragment: {id: 0x1234, more: 0}}, udp'),
         {'ipv6.fraghdr.ident': '0x00001234', 'udp.dstport': '7'},
         {'p[IPv6ExtHdrFragment].id': '4660', 'p[UDP].dport': '7'}),
    case('icmp', frame(IP + ', {icmp: {type: reply, id: 5, sequence: 6}}'),
         {'icmp.type': '0', 'icmp.ident': '5', 'icmp.seq': '6', 'icmp.checksum.status': '1'},
         {'p[ICMP].type': '0', 'p[ICMP].id': '5', 'p[ICMP].seq': '6'}),
    case('icmp, an error', frame(IP + ', {icmp_error: {type: time_exceeded, code: 1}}, {ipv4: {ttl: 1}}, udp'),
         {'icmp.type': '11', 'icmp.code': '1', 'ip.ttl': '10,1', 'icmp.checksum.status': '1'},
         {'p[ICMP].code': '1', 'p[IPerror].ttl': '1'}),
    case('icmpv6', frame(IP6 + ', {icmpv6: {id: 5, sequence: 6}}'),
         {'icmpv6.type': '128', 'icmpv6.echo.sequence_number': '6', 'icmpv6.checksum.status': '1'},
         {'p[ICMPv6EchoRequest].id': '5', 'p[ICMPv6EchoRequest].seq': '6'}),
    case('icmpv6, an error', frame(IP6 + ', {icmpv6_error: {type: too_big, rest: 1280}}, ipv6, udp'),
         {'icmpv6.type': '2', 'icmpv6.mtu': '1280', 'icmpv6.checksum.status': '1'},
         {'p[ICMPv6PacketTooBig].mtu': '1280'}),
    case('neighbour discovery', frame('ethernet, {ipv6: {destination: "ff02::1:ff00:2"}}, '
                                      '{neighbour_solicitation: "2001:2::2"}, {neighbour_address: "02:00:00:00:00:06"}'),
         {'eth.dst': '33:33:ff:00:00:02', 'icmpv6.nd.ns.target_address': '2001:2::2', 'ipv6.hlim': '255',
          'icmpv6.opt.linkaddr': '02:00:00:00:00:06', 'icmpv6.checksum.status': '1'},
         {'p[ICMPv6ND_NS].tgt': '2001:2::2', 'p[ICMPv6NDOptSrcLLAddr].lladdr': '02:00:00:00:00:06'}, 'anything inside'),
    case('igmp, v2', frame('ethernet, {ipv4: {destination: 239.1.2.3}}, {igmp: 239.1.2.3}'),
         {'eth.dst': '01:00:5e:01:02:03', 'igmp.type': '0x16', 'igmp.maddr': '239.1.2.3', 'ip.ttl': '1'},
         {'p[IP].proto': '2', 'p[IP].ttl': '1', 'bytes(p)[38:42].hex()': 'ef010203'}, 'igmp'),
    case('igmp, v3 query', frame('ethernet, {ipv4: {destination: 224.0.0.1}}, '
                                 '{igmp3_query: {group: 239.1.2.3, sources: [198.18.9.1, 198.18.9.2]}}'),
         {'igmp.type': '0x11', 'igmp.num_src': '2', 'igmp.saddr': '198.18.9.1,198.18.9.2', 'igmp.qrv': '2'},
         {'bytes(p)[42:46].hex()': '027d0002'}, 'igmp'),
    case('igmp, v3 report', frame('ethernet, {ipv4: {destination: 224.0.0.22}}, {igmp3_report: {options: ['
                                  '{record: {type: is_include, group: 239.1.2.3, sources: 198.18.9.1}}, record]}}'),
         {'igmp.type': '0x22', 'igmp.num_grp_recs': '2', 'igmp.record_type': '1,4', 'igmp.saddr': '198.18.9.1'},
         {'bytes(p)[40:42].hex()': '0002'}, 'igmp'),
    case('mld, v1', frame('ethernet, {ipv6: {destination: "ff0e::1"}}, {hop_by_hop: {options: [router_alert]}}, '
                          '{mld: "ff0e::1"}'),
         {'icmpv6.type': '131', 'icmpv6.mld.multicast_address': 'ff0e::1', 'icmpv6.checksum.status': '1',
          'ipv6.hlim': '1'},
         {'p[ICMPv6MLReport].mladdr': 'ff0e::1'}),
    case('mld, v2 query', frame('ethernet, {ipv6: {destination: "ff02::1"}}, {mld2_query: {sources: "2001:2::9"}}'),
         {'icmpv6.type': '130', 'icmpv6.mld.nb_sources': '1', 'icmpv6.mld.source_address': '2001:2::9',
          'icmpv6.checksum.status': '1'},
         {'p[ICMPv6MLQuery2].sources[0]': '2001:2::9', 'p[ICMPv6MLQuery2].QRV': '2'}),
    case('mld, v2 report', frame('ethernet, {ipv6: {destination: "ff02::16"}}, {mld2_report: {options: ['
                                 '{record: {group: "ff0e::1"}}, {record: {type: block, group: "ff0e::2", '
                                 'sources: "2001:2::9"}}]}}'),
         {'icmpv6.type': '143', 'icmpv6.mldr.nb_mcast_records': '2',
          'icmpv6.checksum.status': '1'},
         {'p[ICMPv6MLReport2].records_number': '2', 'bytes(p)[82:86].hex()': '06000001'}, 'anything inside'),
    case('udp', frame(IP + ', {udp: {source: 1234, destination: 5678}}'),
         {'udp.srcport': '1234', 'udp.dstport': '5678', 'udp.length': '262', 'udp.checksum.status': '1'},
         {'p[UDP].sport': '1234', 'p[UDP].dport': '5678', 'p[UDP].len': '262'}),
    case('udp without checksum', frame(IP + ', {udp: {checksum: 0}}'),
         {'udp.checksum': '0x0000'}, {'p[UDP].chksum': '0'}, 'wrong'),
    case('tcp', frame(IP + ', {tcp: {source: 1, destination: 2, sequence: 3, acknowledgment: 4, flags: syn+ece+cwr, '
                      'window: 5, urgent: 6}}'),
         {'tcp.srcport': '1', 'tcp.dstport': '2', 'tcp.seq_raw': '3', 'tcp.ack_raw': '4', 'tcp.flags': '0x00c2',
          'tcp.window_size_value': '5', 'tcp.checksum.status': '1'},
         {'p[TCP].seq': '3', 'p[TCP].flags': 'SEC', 'p[TCP].window': '5', 'p[TCP].urgptr': '6'}),
    case('tcp, options', frame(IP6 + ', {tcp: {flags: syn, options: [{mss: 1400}, sack_permitted, '
                               '{timestamps: {value: 9, echo: 8}}, nop, {window_scale: 4}, {option: "aabb"}]}}'),
         {'tcp.options.mss_val': '1400', 'tcp.options.wscale.shift': '4', 'tcp.options.timestamp.tsval': '9',
          'tcp.hdr_len': '44', 'tcp.checksum.status': '1'},
         {"dict(p[TCP].options[:5])['MSS']": '1400', "dict(p[TCP].options[:5])['Timestamp']": '(9, 8)'}),
    case('sctp', frame(IP + ', {sctp: {source: 5, destination: 6, tag: 7, tsn: 8, stream: 9}}', size=302),
         {'sctp.srcport': '5', 'sctp.verification_tag': '0x00000007', 'sctp.data_tsn_raw': '8', 'sctp.data_sid': '0x0009'},
         {'p[SCTP].tag': '7', 'p[SCTPChunkData].tsn': '8', 'p[SCTPChunkData].stream_id': '9', 'rebuilt(p) == bytes(p)': 'True'}),
    case('sctp, fields that change', frame('ethernet, {ipv4: {destination: 198.19.0.1-198.19.0.9}}, '
                                           '{sctp: {source: {random: all}, tsn: {from: 1, count: 9}}}', size=302),
         {'sctp.checksum.status': '1', 'ip.checksum.status': '1', 'sctp.data_tsn_raw': ['1', '2', '3', '4']},
         {'p[SCTPChunkData].tsn': ['1', '2', '3', '4']}),
    case('sctp in a tunnel', frame(f'{IP}, udp, vxlan, ethernet, ipv6, {{sctp: {{source: {{random: all}}}}}}'),
         {'sctp.checksum.status': '1', 'udp.checksum.status': '1'}, {'p[SCTP].dport': '7'}),
    case('sctp with a wrong checksum', frame(IP + ', {sctp: {source: 1-9}}', ', errors: {l4_checksum: {every: 2}}', 302),
         {'sctp.checksum.status': ['1', '0'] * 2, 'ip.checksum.status': '1'}, {'p[SCTP].sport': ['1', '2', '3', '4']}, 'wrong'),
    case('gre', frame(f'{IP}, gre, ipv6, udp'),
         {'gre.proto': '0x86dd', 'ipv6.nxt': '17'}, {'p[GRE].proto': '34525', 'p[IPv6].nh': '17'}),
    case('gre, key, sequence, checksum', frame(f'{IP}, {{gre: {{key: 42, sequence: 9, checksum_present: 1}}}}, ipv4, udp'),
         {'gre.key': '0x0000002a', 'gre.sequence_number': '9', 'gre.checksum.status': '1', 'udp.dstport': '7'},
         {'p[GRE].key': '42', 'p[GRE].seqence_number': '9', 'p[GRE].chksum_present': '1'}),
    case('vxlan', frame(f'{IP}, udp, {{vxlan: 5000}}, ethernet, vlan, ipv6, tcp'),
         {'udp.dstport': '4789', 'vxlan.vni': '5000', 'vlan.id': '1', 'tcp.checksum.status': '1'},
         {'p[VXLAN].vni': '5000', 'p[TCP].dport': '80'}),
    case('geneve', frame(f'{IP}, udp, {{geneve: {{vni: 6000, options: [{{option: {{class: 0x0102, data: "aabbccdd"}}}}]}}}},'
                         ' ethernet, ipv4, udp'),
         {'geneve.vni': '0x001770', 'geneve.option.class': '0x0102', 'geneve.option.length': '8,8'},
         {'p[GENEVE].vni': '6000', 'p[GENEVE].optionlen': '2'}),
    case('gtpu', frame(f'{IP}, udp, {{gtpu: 0x55}}, ipv4, udp'),
         {'gtp.teid': '0x00000055', 'gtp.length': '246', 'gtp.message': '0xff'},
         {'bytes(p)[46:50].hex()': '00000055'}),
    case('gtpu, sequence', frame(f'{IP}, udp, {{gtpu: {{sequence: 77}}}}, ipv6, udp'),
         {'gtp.seq_number': '0x004d', 'ipv6.nxt': '17'}, {'bytes(p)[42:43].hex()': '32', 'bytes(p)[50:52].hex()': '004d'}),
    case('ip in ip', frame(f'{IP}, ipv4, udp'), {'ip.proto': '4,17'}, {'p[IP].proto': '4', 'p[IP].payload.proto': '17'}),
    case('6in4', frame(f'{IP}, ipv6, tcp'), {'ip.proto': '41', 'ipv6.nxt': '6'}, {'p[IP].proto': '41', 'p[IPv6].nh': '6'}),
    case('4in6', frame(f'{IP6}, ipv4, udp'), {'ipv6.nxt': '4', 'ip.proto': '17'}, {'p[IPv6].nh': '4', 'p[IP].proto': '17'}),
    case('raw octets', frame('{ethernet: {type: 0x9000}}, {raw: "0001 dead beef"}'),
         {'eth.type': '0x9000'}, {'bytes(p)[12:20].hex()': '90000001deadbeef'}, 'anything inside'),
    # wrong on purpose
    case('bad ipv4 checksum', frame('ethernet, {ipv4: {checksum: bad}}, udp'),
         {'ip.checksum.status': '0', 'udp.checksum.status': '1'}, {'right(p, IP)': 'False'}, 'wrong'),
    case('bad udp checksum', frame(IP + ', {udp: {checksum: bad, source: 1-9}}'),
         {'ip.checksum.status': '1', 'udp.checksum.status': '0'}, {'right(p, UDP)': 'False'}, 'wrong'),
    case('bad tcp checksum', frame(IP6 + ', {tcp: {checksum: bad}}'),
         {'tcp.checksum.status': '0'}, {'right(p, TCP)': 'False'}, 'wrong'),
    case('a given checksum', frame('ethernet, {ipv4: {checksum: 0xdead}}, udp'),
         {'ip.checksum': '0xdead'}, {'p[IP].chksum': '57005'}, 'wrong'),
    case('a given length', frame(IP + ', {udp: {length: 5}}'), {'udp.length': '5'}, {'p[UDP].len': '5'}, 'wrong'),
    # some frames wrong on purpose
    case('every second IPv4 checksum', frame('ethernet, {ipv4: {id: 1-9}}, udp', ', errors: {ip_checksum: {every: 2}}'),
         {'ip.checksum.status': ['1', '0'] * 2, 'udp.checksum.status': '1', 'ip.id': ['0x0001', '0x0002', '0x0003', '0x0004']},
         {'right(p, IP)': ['True', 'False'] * 2}, 'wrong'),
    case('every third UDP checksum', frame(IP + ', {udp: {source: 1-9}}', ', errors: {l4_checksum: {every: 3}}'),
         {'ip.checksum.status': '1', 'udp.checksum.status': ['1', '1', '0', '1']},
         {'right(p, UDP)': ['True', 'True', 'False', 'True']}, 'wrong'),
    case('TCP checksums in a run', frame(IP6 + ', tcp', ', errors: {l4_checksum: {every: 4, run: 3}}'),
         {'tcp.checksum.status': ['1', '0', '0', '0']}, {'right(p, TCP)': ['True', 'False', 'False', 'False']}, 'wrong'),
    case('a length of IPv4 under a right checksum', frame(IP + ', udp', ', errors: {ip_length: {every: 2, by: -7}}'),
         {'ip.checksum.status': '1', 'ip.len': ['282', '275'] * 2}, {'p[IP].len': ['282', '275'] * 2}, 'wrong'),
    case('a length of IPv6', frame(IP6 + ', udp', ', errors: {ip_length: {every: 2, by: -7}}'),
         {'ipv6.plen': ['242', '235'] * 2}, {'p[IPv6].plen': ['242', '235'] * 2}, 'wrong'),
    case('a length of UDP', frame(IP + ', udp', ', errors: {l4_length: {every: 2, by: 5}}'),
         {'udp.length': ['262', '267'] * 2, 'ip.checksum.status': '1'}, {'p[UDP].len': ['262', '267'] * 2}, 'wrong'),
    case('a payload that no checksum knows of', frame(IP + ', udp', ', errors: {payload: {every: 2, bits: 3}}'),
         {'udp.checksum.status': ['1', '0'] * 2}, {'right(p, UDP)': ['True', 'False'] * 2}, 'wrong'),
    case('numbers left out and repeated', frame('ethernet, {ipv4: {id: 0-99}}, udp',
                                                ', errors: {skip: {every: 2}, duplicate: {every: 3}}'),
         {'framegauge.sequence': ['0', '2', '2', '4'], 'framegauge.copy': ['0', '0', '1', '0'],
          'ip.id': ['0x0000', '0x0002', '0x0002', '0x0004'], 'ip.checksum.status': '1', 'udp.checksum.status': '1'},
         {'p[IP].id': ['0', '2', '2', '4']}),
    case('frames behind their turn', frame(IP + ', udp', ', errors: {reorder: {every: 2, most: 1, by: 2}}'),
         {'framegauge.sequence': ['0', '2', '3', '1']}, {'len(p)': '296'}),
    case('runts and frames that are too long', frame(IP + ', udp', ', errors: {runt: {every: 2}, oversize: {every: 3}}'),
         {'frame.len': ['296', '56', '1596', '56'], 'framegauge.sequence': ['0', '1', '2', '3']},
         {'len(p)': ['296', '56', '1596', '56']}, 'wrong'),
    # payloads
    case('a repeated pattern', frame(IP + ', udp', ', payload: "0xdeadbe"'),
         {'udp.checksum.status': '1', 'ip.checksum.status': '1'}, {'bytes(p)[42:46].hex()': 'deadbede'}),
    case('a text', frame(IP6 + ', tcp', ', payload: {text: "Hello "}'),
         {'tcp.checksum.status': '1'}, {'bytes(p)[74:86].decode()': 'Hello Hello '}),
    # modifiers
    case('increment', frame(IP + ', {udp: {source: {from: 10, count: 3}}}'),
         {'udp.srcport': ['10', '11', '12', '10']}, {'p[UDP].sport': ['10', '11', '12', '10']}),
    case('steps', frame('ethernet, {ipv4: {id: {from: 1, to: 9, step: 4}}}, udp'),
         {'ip.id': ['0x0001', '0x0005', '0x0009', '0x0001']}, {'p[IP].id': ['1', '5', '9', '1']}),
    case('decrement', frame('ethernet, {ipv4: {ttl: 64-62}}, udp'),
         {'ip.ttl': ['64', '63', '62', '64']}, {'p[IP].ttl': ['64', '63', '62', '64']}),
    case('a list', frame(IP + ', {tcp: {destination: [80, 443, 22]}}'),
         {'tcp.dstport': ['80', '443', '22', '80']}, {'p[TCP].dport': ['80', '443', '22', '80']}),
    case('a list of IPv6 addresses', frame('ethernet, {ipv6: {source: ["2001:2::1", "2001:2:0:9::2"]}}, udp'),
         {'ipv6.src': ['2001:2::1', '2001:2:0:9::2'] * 2}, {'p[IPv6].src': ['2001:2::1', '2001:2:0:9::2'] * 2}),
    case('a range of addresses', frame('ethernet, {ipv4: {destination: 198.19.255.254-198.20.0.1}}, udp'),
         {'ip.dst': ['198.19.255.254', '198.19.255.255', '198.20.0.0', '198.20.0.1']},
         {'p[IP].dst': ['198.19.255.254', '198.19.255.255', '198.20.0.0', '198.20.0.1']}),
    case('a range of stations', frame('{ethernet: {source: "02:00:00:00:00:ff-02:00:00:00:01:01"}}, ipv4, udp'),
         {'eth.src': ['02:00:00:00:00:ff', '02:00:00:00:01:00', '02:00:00:00:01:01', '02:00:00:00:00:ff']},
         {'p.src': ['02:00:00:00:00:ff', '02:00:00:00:01:00', '02:00:00:00:01:01', '02:00:00:00:00:ff']}),
    case('every second frame', frame('ethernet, {ipv4: {ttl: {from: 1, count: 9, every: 2}}}, udp'),
         {'ip.ttl': ['1', '1', '2', '1']}, {'p[IP].ttl': ['1', '1', '2', '1']}),
    case('held for two frames', frame('ethernet, {ipv4: {ttl: {from: 1, count: 9, hold: 2}}}, udp'),
         {'ip.ttl': ['1', '1', '2', '2']}, {'p[IP].ttl': ['1', '1', '2', '2']}),
    case('in step', frame('ethernet, {vlan: 5-6}, {ipv4: {ttl: 1-2}}, udp'),
         {'vlan.id': ['5', '6'] * 2, 'ip.ttl': ['1', '2'] * 2}, {'p[Dot1Q].vlan': ['5', '6'] * 2}),
    case('nested', frame('ethernet, {vlan: 5-6}, {ipv4: {ttl: 1-2}}, udp', ', vary: nested'),
         {'vlan.id': ['5', '5', '6', '6'], 'ip.ttl': ['1', '2'] * 2}, {'p[Dot1Q].vlan': ['5', '5', '6', '6']}),
    case('nested, the outer one held', frame('ethernet, {vlan: {from: 5, to: 6, hold: 2}}, {ipv4: {ttl: 1-2}}, udp',
                                             ', vary: nested'),
         {'vlan.id': '5', 'ip.ttl': ['1', '2'] * 2}, {'p[Dot1Q].vlan': '5'}),
    case('nested, the inner one held', frame('ethernet, {vlan: 5-6}, {ipv4: {ttl: {list: [1, 2], hold: 2}}}, udp',
                                             ', vary: nested'),
         {'vlan.id': '5', 'ip.ttl': ['1', '1', '2', '2']}, {'p[Dot1Q].vlan': '5'}),
    case('octets of a layer', frame('ethernet, {ipv4: {bytes: [{at: 8, octets: 1, from: 7, to: 9}]}}, udp'),
         {'ip.ttl': ['7', '8', '9', '7']}, {'p[IP].ttl': ['7', '8', '9', '7']}),
    case('octets of the frame under a mask', frame('ethernet, vlan, ipv4, udp', ', bytes: [{at: 14, octets: 2, '
                                                   'mask: 0xe00f, list: [0x2001, 0x400f]}]'),
         {'vlan.priority': ['1', '2'] * 2, 'vlan.id': ['1', '15'] * 2}, {'p[Dot1Q].prio': ['1', '2'] * 2}),
    case('checksums of a tunnel follow', frame(f'{IP}, udp, vxlan, ethernet, {{ipv4: {{source: {{random: all}}}}}}, '
                                               '{udp: {source: {random: 1024-65535}}}'),
         {'udp.checksum.status': '1,1', 'ip.checksum.status': '1,1'}, {'len(p[IP].payload) > 0': 'True'}),
]
