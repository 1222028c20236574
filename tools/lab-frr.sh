# SPDX-License-Identifier: BSD-3-Clause
# The lab whose device is a router of FRRouting's; tools/lab sources it.
#
# Two neighbours announce the same networks by BGP, each with a port of the tester as the next hop, as route
# servers do. The router prefers the first one's routes, and takes the second's when the first withdraws them:
#
#      fgdut: zebra, bgpd, AS 65000      198.18.2.1 -- 198.18.2.2   fgpeers: bgpd, AS 65001, all via west
#                                        198.18.3.1 -- 198.18.3.2            bgpd, AS 65002, all via north
#
# The neighbours only speak BGP; no frame goes through them. zebra logs when it changes a route of the
# kernel's.

frr=/usr/lib/frr
peers=fgpeers
networks=20

# announce [no]: the lines that announce the networks, or withdraw them
announce() {
	local k
	for ((k = 0; k < networks; k++)); do
		echo "  ${1:+$1 }network 198.19.$((64 + k)).0/24"
	done
}

# frr_daemon NAME NAMESPACE PROGRAM [OPTION...]: start a program with the configuration in the folder NAME
frr_daemon() {
	local place=$folder/$1
	chown -R frr:frr "$place"
	start ip netns exec "$2" "$frr/$3" -f "$place/$3.conf" -i "$place/$3.pid" -z "$place/zserv.api" \
		--vty_socket "$place" -P 0 "${@:4}" >>"$folder/frr.log" 2>&1
	echo "$pid" >"$folder/$1-$3.pid"
}

frr_router() {
	mkdir "$folder/dut"
	cat >"$folder/dut/zebra.conf" <<-END
		log file $folder/dut/zebra.log
		log timestamp precision 6
		debug zebra kernel
	END
	cat >"$folder/dut/bgpd.conf" <<-END
		router bgp 65000
		 bgp router-id 198.18.2.1
		 no bgp ebgp-requires-policy
		 neighbor 198.18.2.2 remote-as 65001
		 neighbor 198.18.2.2 passive
		 neighbor 198.18.3.2 remote-as 65002
		 neighbor 198.18.3.2 passive
		 address-family ipv4 unicast
		  neighbor 198.18.2.2 weight 100
	END
	frr_daemon dut "$dut" zebra
	for _ in {1..1200}; do # bgpd that does not find it looks again after ten seconds
		[ ! -S "$folder/dut/zserv.api" ] || break
		sleep 0.05
	done
	frr_daemon dut "$dut" bgpd
}

# frr_neighbour NAME AS NETWORK NEXT-HOP: one that announces; it calls the router, and does not listen
frr_neighbour() {
	ip -n "$dut" link add "dut-$1" type veth peer name "$1" netns "$peers"
	ip -n "$dut" address add "$3.1/24" dev "dut-$1"
	ip -n "$peers" address add "$3.2/24" dev "$1"
	ip -n "$dut" link set "dut-$1" up
	ip -n "$peers" link set "$1" up
	mkdir "$folder/$1"
	cat >"$folder/$1/bgpd.conf" <<-END
		route-map way permit 10
		 set ip next-hop $4
		router bgp $2
		 bgp router-id $3.2
		 no bgp ebgp-requires-policy
		 no bgp network import-check
		 neighbor $3.1 remote-as 65000
		 neighbor $3.1 timers connect 1
		 neighbor $3.1 advertisement-interval 0
		 address-family ipv4 unicast
		  neighbor $3.1 route-map way out
		$(announce)
	END
	frr_daemon "$1" "$peers" bgpd -Z -p 0
}

# Both neighbours' paths are known, and the first one's are the kernel's.
frr_is_ready() {
	local paths routes
	paths=$(vtysh --vty_socket "$folder/dut" -c 'show bgp ipv4 unicast summary' 2>/dev/null |
		awk '$1 ~ /^198\.18\.[23]\.2$/ { n += $10 } END { print n + 0 }')
	routes=$(ip -n "$dut" route show | grep -c 'via 198.19.1.2 ')
	[ "$paths" -eq $((2 * networks)) ] && [ "$routes" -eq "$networks" ]
}

up_frr() {
	[ -x "$frr/bgpd" ] || die "FRRouting is missing: apt-get install frr"
	up_router
	connect north
	ip -n "$dut" address add 198.19.2.1/24 dev dut-north
	ip -n "$dut" link set dut-north up
	ip netns add "$peers"
	quiet "$peers"
	mkdir -p "$folder"
	frr_router
	frr_neighbour first 65001 198.18.2 198.19.1.2
	frr_neighbour second 65002 198.18.3 198.19.2.2
	printf '%s\n' 'router bgp 65001' ' address-family ipv4 unicast' "$(announce no)" >"$folder/withdraw"
	printf '%s\n' 'router bgp 65001' ' address-family ipv4 unicast' "$(announce)" >"$folder/announce"
	for _ in {1..600}; do
		! frr_is_ready || return 0
		sleep 0.1
	done
	tail -n 5 "$folder/frr.log" >&2
	down
	die "FRRouting does not start"
}

down_frr() {
	local name
	for name in first second dut; do
		stop "$name-bgpd" bgpd
	done
	stop dut-zebra zebra
}
