#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ten thousand connections at a time between lib/tcp and Linux, in both roles, over IPv4 and IPv6, each with
# requests and responses whose every byte is checked, and closed: none may be lost. Then fewer, through a
# relay that loses frames and puts them out of order, both ways. Linux is nginx as our server, and a crowd of
# clients (crowd.c) as our client.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
crowd=$(dirname "$program")/../tests/integration/crowd
nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null)
if [ "$(id -u)" -ne 0 ] || [ -z "$nginx" ]; then
	echo "1..0 # SKIP needs root, for network namespaces, and nginx"
	exit 0
fi
id=$(mktemp -u XXXXXX)
tester=fgmanyt-$id middle=fgmanym-$id linux=fgmanyl-$id
work=$(mktemp -d)
relay='' web=''
finish() {
	[ -z "$relay" ] || kill -INT "$relay" 2>/dev/null
	[ -z "$web" ] || kill "$web" 2>/dev/null
	wait
	for namespace in "$tester" "$middle" "$linux"; do
		ip netns del "$namespace" 2>/dev/null
	done
	rm -rf "$work"
}
trap finish EXIT

# link NAMESPACE INTERFACE NAMESPACE INTERFACE: neither end leaves anything to a card that there is not
link() {
	ip -n "$1" link add "$2" type veth peer name "$4" netns "$3"
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
	ip netns exec "$1" ethtool -K "$2" tx off tso off gso off gro off >/dev/null
	ip netns exec "$3" ethtool -K "$4" tx off tso off gso off gro off >/dev/null
}

for namespace in "$tester" "$middle" "$linux"; do
	ip netns add "$namespace" || exit 1
done
for namespace in "$tester" "$middle"; do
	ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
done
link "$tester" l4-east "$linux" peer-east
link "$tester" l4-west "$middle" fg-left
link "$middle" fg-right "$linux" peer-west
ip -n "$linux" link set lo up
ip -n "$linux" address add 198.18.1.1/24 dev peer-east
ip -n "$linux" address add 198.19.1.1/24 dev peer-west
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad
ip -n "$linux" address add 2001:2:0:8000::1/64 dev peer-west nodad
# Room for all of them. A SYN that is answered by a cookie and, when it comes again, by a connection has two
# answers of different numbers, and Linux resets a client that takes the first: so no cookies.
ip netns exec "$linux" sysctl -qw net.core.somaxconn=16384 net.ipv4.tcp_max_syn_backlog=32768 \
	net.ipv4.tcp_syncookies=0 net.ipv4.ip_local_port_range="10240 65535"
ulimit -n 20000

/usr/bin/python3 tests/integration/l4/peer.py pages "$work/www/octets"
ip netns exec "$linux" "$nginx" -p "$work" -c "$PWD/tests/integration/l4/nginx.conf" -e stderr \
	>"$work/nginx.log" 2>&1 &
web=$!
cat >"$work/relay.yaml" <<'END'
test: emulate
isolated_network: true
ports:
  left: {device: 'kernel:fg-left,af_packet'}
  right: {device: 'kernel:fg-right,af_packet'}
emulate:
  delay: 2ms
  loss_random: 0.7%
  reorder: {random: 2%, by: 0, late: 4ms}
END
ip netns exec "$middle" "$program" emulate "$work/relay.yaml" >"$work/relay.log" 2>&1 &
relay=$!
for _ in {1..1200}; do
	! grep -q '^right->left' "$work/relay.log" || break
	sleep 0.05
done
ip netns exec "$tester" "$program" script tests/integration/l4/many.lua "$work" "$linux" "$crowd" 2>&1
