#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lib/l4 against Linux's own TCP over AF_PACKET on veth: both roles, IPv4 and IPv6, every octet checked on both sides.
# Two network namespaces of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "ok - TCP against Linux # SKIP needs root, for network namespaces"
	exit 0
fi
tester=fgl4-tester linux=fgl4-linux
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
	wait
	ip netns del "$tester" 2>/dev/null
	ip netns del "$linux" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT

ip netns add "$tester" && ip netns add "$linux" || exit 1
ip netns exec "$tester" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
for side in east west; do
	ip -n "$tester" link add "l4-$side" type veth peer name "peer-$side" netns "$linux"
	ip -n "$tester" link set "l4-$side" up
	ip -n "$linux" link set "peer-$side" up
	# what Linux leaves to a card that there is not: checksums, and segments of the size of a window
	ip netns exec "$linux" ethtool -K "peer-$side" tx off tso off gso off gro off >/dev/null
done
ip -n "$linux" link set lo up
ip -n "$linux" address add 198.18.1.1/24 dev peer-east
ip -n "$linux" address add 198.19.1.1/24 dev peer-west
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad
ip -n "$linux" address add 2001:2:0:8000::1/64 dev peer-west nodad

peer=$PWD/tests/integration/l4/peer.py
ip netns exec "$linux" python3 "$peer" serve "$work/served" >"$work/server.log" 2>&1 &
server=$!
for _ in {1..100}; do
	! grep -qs ready "$work/server.log" || break
	sleep 0.05
done
ip netns exec "$tester" "$program" script tests/integration/l4/linux.lua "$work" "$linux" "$peer" 2>&1
kill "$server"
wait "$server"
server=
if python3 -c '
import json, sys
served = json.load(open(sys.argv[1]))
print("#", served)
sys.exit(served["wrong"] + served["unfinished"] > 0 or served["octets"] == 0)' "$work/served"; then
	echo "ok - Linux's server got every octet as it was sent, and every connection was closed"
else
	echo "not ok - what Linux's server got"
fi
