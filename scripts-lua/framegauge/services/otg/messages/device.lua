-- SPDX-License-Identifier: BSD-3-Clause

--- Devices, their neighbours, and what they can be told to do, in the notation of services.otg.schema.
return [[
Device ethernets:1*:DeviceEthernet ipv4_loopbacks:2*:DeviceIpv4Loopback ipv6_loopbacks:3*:DeviceIpv6Loopback
   isis:4:DeviceIsisRouter bgp:5:DeviceBgpRouter vxlan:6:DeviceVxlan name:7:str! rsvp:8:DeviceRsvp
   dhcp_server:9:DeviceDhcpServer ospfv2:10:DeviceOspfv2Router macsec:11:DeviceMacsec
   ospfv3:12:DeviceOspfv3Router rocev2:13:DeviceRocev2Peer bmp:14:DeviceBmp
DeviceEthernet connection:2:EthernetConnection! ipv4_addresses:3*:DeviceIpv4 ipv6_addresses:4*:DeviceIpv6
   mac:5:mac mtu:6:u32[..65535]=1500 vlans:7*:DeviceVlan name:8:str!
   dhcpv4_interfaces:9*:DeviceDhcpv4client dhcpv6_interfaces:10*:DeviceDhcpv6client
EthernetConnection choice:1:{port_name lag_name vxlan_name simulated_link} port_name:2:str lag_name:3:str
   vxlan_name:4:str simulated_link:5:EthernetSimulatedLink
DeviceVlan tpid:1:{x8100 x88A8 x9100 x9200 x9300}=x8100 priority:2:u32[..7]=0 id:3:u32[..4095]=1 name:4:str!
DeviceIpv4 gateway:1:ipv4! gateway_mac:2:DeviceIpv4GatewayMAC address:3:ipv4! prefix:4:u32[1..32]=24
   name:5:str!
DeviceIpv4GatewayMAC choice:1:{auto value}=auto auto:2:mac=00:00:00:00:00:00 value:3:mac=00:00:00:00:00:00
DeviceIpv6 gateway:1:ipv6! gateway_mac:2:DeviceIpv6GatewayMAC address:3:ipv6! prefix:4:u32[1..128]=64
   name:5:str!
DeviceIpv6GatewayMAC choice:1:{auto value}=auto auto:2:mac=00:00:00:00:00:00 value:3:mac=00:00:00:00:00:00
FlowRouter mode:1:{mesh one_to_one}=mesh tx_names:2*:str! rx_names:3*:str! bidirectional:4:bool=false
Neighborsv4StatesRequest ethernet_names:1*:str
Neighborsv6StatesRequest ethernet_names:1*:str
Neighborsv4State ethernet_name:1:str! ipv4_address:2:ipv4! link_layer_address:3:mac
Neighborsv6State ethernet_name:1:str! ipv6_address:2:ipv6! link_layer_address:3:mac
ActionProtocol choice:1:{ipv4 ipv6 bgp isis}! ipv4:2:ActionProtocolIpv4 ipv6:3:ActionProtocolIpv6
   bgp:4:ActionProtocolBgp isis:5:ActionProtocolIsis
ActionProtocolIpv4 choice:1:{ping}! ping:2:ActionProtocolIpv4Ping
ActionProtocolIpv4Ping requests:1*:ActionProtocolIpv4PingRequest
ActionProtocolIpv4PingRequest src_name:1:str! dst_ip:2:ipv4!
ActionProtocolIpv6 choice:1:{ping}! ping:2:ActionProtocolIpv6Ping
ActionProtocolIpv6Ping requests:1*:ActionProtocolIpv6PingRequest
ActionProtocolIpv6PingRequest src_name:1:str! dst_ip:2:ipv6!
ControlActionResponse warnings:1*:str response:2:ActionResponse
ActionResponse choice:1:{protocol}! protocol:2:ActionResponseProtocol
ActionResponseProtocol choice:1:{ipv4 ipv6}! ipv4:2:ActionResponseProtocolIpv4
   ipv6:3:ActionResponseProtocolIpv6
ActionResponseProtocolIpv4 choice:1:{ping}! ping:2:ActionResponseProtocolIpv4Ping
ActionResponseProtocolIpv4Ping responses:1*:ActionResponseProtocolIpv4PingResponse
ActionResponseProtocolIpv4PingResponse src_name:1:str! dst_ip:2:ipv4! result:3:{succeeded failed}!
ActionResponseProtocolIpv6 choice:1:{ping}! ping:2:ActionResponseProtocolIpv6Ping
ActionResponseProtocolIpv6Ping responses:1*:ActionResponseProtocolIpv6PingResponse
ActionResponseProtocolIpv6PingResponse src_name:1:str! dst_ip:2:ipv6! result:3:{succeeded failed}!
]]
