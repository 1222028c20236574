#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Echo requests over veth to Linux, of the test PING and as test frames: docs/how-to/flood-ping.md.
# Two network namespaces of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host ping
. tests/integration/tap.bash
tap "$work"
ip netns exec "$linux" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad

# plan NAME ADDRESSES FRAME
plan() {
	cat >"$work/$1.yaml" <<END
test: traffic
isolated_network: true
ports:
  east: {device: 'kernel:ping-east,af_packet', $2}
host: {max_lag: 1s}
streams:
  request:
    to: east
    frame: $3
    size: 122
    rate: 200fps
traffic: {duration: 1s, drain: 1s}
END
}

# ping NAME CONDITION: the outcome of a plan; a busy machine limits the rate (3), not the replies
ping() {
	rm -rf "$work/out"
	{ ip netns exec "$tester" "$program" run "$work/$1.yaml" --out "$work/out" || [ $? -eq 3 ]; } &&
		/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["traffic"][0]
print({key: row[key] for key in ("tx", "rx", "lost", "duplicates", "reordered", "validity")})
sys.exit(not eval(sys.argv[2], {}, row))' "$work/out/result.json" "$2"
}

# figures PLAN CONDITION KEY=VALUE...: the outcome of the test PING
figures() {
	rm -rf "$work/out"
	{ ip netns exec "$tester" "$program" run "$work/$1.yaml" --out "$work/out" "${@:3}" ||
		[[ $? =~ ^[13]$ ]]; } &&
		/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
print({key: row.get(key) for key in ("datagrams", "lost", "ping_replies", "wrong_bytes", "reasons")})
sys.exit(not eval(sys.argv[2], {}, row))' "$work/out/result.json" "$2"
}

# of_peer ADDRESS: a plan of PING that asks this address
of_peer() {
	cat >"$work/test.yaml" <<END
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:ping-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1,
    ipv6: '2001:2:0:1::2/64', gateway6: '2001:2:0:1::1'}
  west: {device: 'kernel:ping-west,af_packet'}
host: {max_lag: 1s}
l4:
  tests: [PING]
  peer: {$1}
  duration: 500ms
  drain: 1100ms
END
}

all='datagrams > 50 and lost == duplicates == wrong_bytes == 0 and transaction["count"] >= datagrams - 8'
of_peer 'ipv4: 198.18.1.1'
check "Linux replies to a flood" figures test "$all" --set l4.connections=8
check "Linux replies to requests of 1,472 bytes every 5 ms" figures test "$all" \
	--set l4.ping.interval=5ms --set l4.ping.size=1472 --set l4.connections=200
ip -n "$linux" route add unreachable 198.18.9.0/24
ip netns exec "$linux" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv4.icmp_msgs_per_sec=1000000
of_peer 'ipv4: 198.18.9.1'
check "requests that a router reports as undeliverable are lost" figures test \
	'datagrams == lost > 0 and loss_ratio == 1 and outstanding == 0 and failures["refused"] > 0' --set l4.ping.interval=5ms
of_peer 'ipv6: "2001:2:0:1::1"'
check "Linux replies to a flood over IPv6" figures test "$all" --set l4.ping.size=0

plan four "ipv4: 198.18.1.2/24, gateway: 198.18.1.1" "[ethernet, {ipv4: {destination: 198.18.1.1}}, icmp]"
plan six 'ipv6: "2001:2:0:1::2/64", gateway6: "2001:2:0:1::1"' \
	'[ethernet, {ipv6: {destination: "2001:2:0:1::1"}}, icmpv6]'
every='tx > 0 and rx == tx and lost == 0 and duplicates == 0 and reordered == 0 and latency["count"] == tx'
check "Linux answers every echo request" ping four "$every"
check "Linux answers every echo request over IPv6" ping six "$every"
ip netns exec "$linux" sysctl -qw net.ipv4.icmp_echo_ignore_all=1
check "requests that are not answered are lost" ping four 'tx > 0 and rx == 0 and lost == tx'
of_peer 'ipv4: 198.18.1.1'
check "requests without a reply are lost" figures test 'datagrams == lost == failures["expired"] > 0' \
	--set l4.connections=8
tap_end
