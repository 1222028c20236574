#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Scripts take the link of a kernel interface down and up again through our server of the Open Traffic
# Generator API: the kernel's own view of both ends of a veth pair is the truth.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
id=$(mktemp -u XXXXXX)
namespace=fgotg-$id
work=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; ip netns del "$namespace" 2>/dev/null
	rm -rf "$work"' EXIT

ip netns add "$namespace" || exit 1
inside() { ip netns exec "$namespace" "$@"; }
inside sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -n "$namespace" link set lo up
ip -n "$namespace" link add east type veth peer name west
ip -n "$namespace" link set east up
ip -n "$namespace" link set west up

cat >"$work/plan.yaml" <<END
test: otg
isolated_network: true
ports:
  left: {device: 'kernel:east,af_packet'}
  right: {device: 'kernel:west,af_packet'}
otg: {listen: ['http://127.0.0.1:0']}
END
set -m # or the server would be told to ignore Ctrl-C
ip netns exec "$namespace" "$program" otg "$work/plan.yaml" >"$work/log" 2>&1 &
server=$!
set +m
url=''
for _ in {1..600}; do
	url=$(sed -n 's/^otg: listening on \([^,]*\),.*/\1/p' "$work/log")
	[ -z "$url" ] || break
	sleep 0.1
done

ask() { inside curl -s --max-time 60 --data-binary "$2" "$url$1"; }
row() { ask /monitor/metrics '{"flow": {"flow_names": ["f1"]}}'; }
links() {
	ask /monitor/metrics '{"port": {"column_names": ["link"]}}' | grep -o '"link":"[a-z]*"' | tr -d '\n'
}
flags() { ip -n "$namespace" -o link show "$1" | sed 's/.*<\(.*\)>.*/\1/'; }
number=0
check() { # NAME, what was found, what was expected
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		printf '# %s\n# instead of %s\n' "$2" "$3"
		sed 's/^/# /' "$work/log"
	fi
}
link() { ask /control/state "{\"port\": {\"link\": {\"state\": \"$1\", \"port_names\": [\"p1\"]}}}"; }
# run: start the flow, and wait until it has stopped; prints how many frames arrived
run() {
	ask /control/state '{"traffic": {"flow_transmit": {"state": "start"}}}' >/dev/null
	for _ in {1..600}; do
		row >"$work/row"
		! grep -q '"transmit":"stopped"' "$work/row" || break
		sleep 0.1
	done
	sed 's/.*"frames_rx":"\([0-9]*\)".*/\1/' "$work/row"
}

check "ports and a flow are set" "$(ask /config '
ports: [{name: p1, location: left}, {name: p2, location: right}]
layer1: [{name: l, port_names: [p1, p2], speed: speed_1_gbps}]
flows:
- {name: f1, tx_rx: {port: {tx_name: p1, rx_names: [p2]}}, size: {fixed: 128}, rate: {pps: 1000},
   duration: {fixed_packets: {packets: 100}}, metrics: {enable: true}}')" '{"warnings":[]}'
check "links are up at first" "$(links)" '"link":"up""link":"up"'
check "a link is taken down" "$(link down)" '{"warnings":[]}'
check "its port and the peer are down" "$(links)" '"link":"down""link":"down"'
case ",$(flags west)," in
*,NO-CARRIER,*) check "the kernel finds the peer without carrier" 1 1 ;;
*) check "the kernel finds the peer without carrier" "$(flags west)" NO-CARRIER ;;
esac
check "the link comes up again" "$(link up)" '{"warnings":[]}'
check "both ports are up" "$(links)" '"link":"up""link":"up"'
check "and frames arrive" "$(run)" 100
link down >/dev/null
check "another configuration begins with links up" "$(ask /config '{}')$(flags east | grep -c LOWER_UP)" \
	'{"warnings":[]}1'
ask /config '{"ports": [{"name": "p1", "location": "left"}]}' >/dev/null
link down >/dev/null
check "the link is down again" "$(flags east | grep -c LOWER_UP)" 0
kill -INT "$server"
wait "$server"
check "the server ends at Ctrl-C" $? 0
server=''
check "and leaves the link up" "$(flags east | grep -c LOWER_UP)" 1
echo "1..$number"
