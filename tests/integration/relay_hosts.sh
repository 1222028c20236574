#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The relay between two Linux hosts in network namespaces: ping and iperf3 find the delay, the losses, the
# copies and the rate that the plan says. Counts must be exact; of times only the least is looked at, since a
# busy machine makes the others longer.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
id=$(mktemp -u XXXXXX)
left=fgrelayl-$id middle=fgrelaym-$id right=fgrelayr-$id
work=$(mktemp -d)
relay=
trap '[ -z "$relay" ] || kill -9 "$relay"
	for n in $left $middle $right; do ip netns del "$n" 2>/dev/null; done
	rm -rf "$work"' EXIT

# host NAMESPACE PORT ADDRESS MAC: one with an interface whose other end is a port of the relay
host() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip -n "$1" link add eth address "$4" type veth peer name "$2" netns "$middle"
	ip -n "$1" address add "$3/24" dev eth
	ip -n "$1" link set eth up mtu 1500
	ip -n "$middle" link set "$2" up
	# whole frames, as they would be on a line; the relay completes their checksums
	ip netns exec "$1" ethtool -K eth tso off gso off gro off >/dev/null
}
for namespace in "$middle" "$left" "$right"; do
	ip netns add "$namespace" || exit 1
done
ip netns exec "$middle" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
host "$left" fg-left 198.18.1.1 02:00:00:00:00:01
host "$right" fg-right 198.18.1.2 02:00:00:00:00:02
# no ARP, so that only what is meant to goes through
ip -n "$left" neighbour add 198.18.1.2 lladdr 02:00:00:00:00:02 dev eth
ip -n "$right" neighbour add 198.18.1.1 lladdr 02:00:00:00:00:01 dev eth

cat >"$work/relay.yaml" <<EOF
test: emulate
isolated_network: true
ports:
  left: {device: 'kernel:fg-left,af_packet'}
  right: {device: 'kernel:fg-right,af_packet'}
EOF

# begin SETTING...: start the relay with these
begin() {
	local settings=()
	for setting in "$@"; do
		settings+=(--set "emulate.$setting")
	done
	: >"$work/log" # without the lines of the relay before
	ip netns exec "$middle" "$program" emulate "$work/relay.yaml" "${settings[@]}" >>"$work/log" 2>&1 &
	relay=$!
	for _ in {1..1200}; do
		! grep -q '^right->left' "$work/log" || return 0
		sleep 0.05
	done
	echo "not ok - relay: it did not start"
	sed 's/^/# /' "$work/log"
	exit 1
}

# finish: stop it and keep what it counted; the first way in $there, the second in $back
finish() {
	local status
	kill -INT "$relay"
	wait "$relay"
	status=$?
	relay=
	[ "$status" = 0 ] || echo "not ok - relay: exit status $status after Ctrl-C"
	there=$(sed -n '/^total/,$s/^left->right *//p' "$work/log")
	back=$(sed -n '/^total/,$s/^right->left *//p' "$work/log")
}

# check NAME CONDITION...
check() {
	if "${@:2}"; then
		echo "ok - $1"
	else
		echo "not ok - $1: ${*:2}"
		sed 's/^/# /' "$work/said" "$work/log" | tail -n 20
	fi
}

pings() {
	ip netns exec "$left" ping -q "$@" 198.18.1.2 >"$work/said" 2>&1
	received=$(grep -oE '[0-9]+ received' "$work/said" | cut -d' ' -f1)
	copies=$(grep -oE '\+[0-9]+ duplicates' "$work/said" | tr -dc 0-9)
	least=$(sed -n 's|.*= \([0-9.]*\)/.*|\1|p' "$work/said") # ms
}
within() {
	awk -v value="${1:-0}" -v low="$2" -v high="$3" 'BEGIN { exit !(value >= low && value <= high) }'
}

begin
pings -c 100 -i 0.01
finish
check "the relay passes frames on" test "$received" = 100
check "it counts them" test "$there/$back" = "100 received, 100 forwarded/100 received, 100 forwarded"

begin delay=20ms reverse.delay=7ms
shortest=1000
for _ in {1..30}; do # until one of them met with a processor that was free; none may be shorter
	pings -c 100 -i 0.01
	shortest=$(printf '%s\n' "$shortest" "${least:-1000}" | sort -g | head -n 1)
	! within "$shortest" 0 29 || break
done
finish
check "delay: all arrive" test "$received" = 100
check "delay: the least round trip is what was configured" within "$shortest" 27 29

begin loss_every=10 'reverse={loss_every: 0}'
pings -c 200 -i 0.005
finish
check "loss: every tenth is lost" test "$received" = 180
check "loss: the relay says so" test "$there" = "200 received, 180 forwarded, 20 dropped (loss)"

begin 'duplicate={every: 4}' 'reverse={duplicate: {every: 0}}'
pings -c 101 -i 0.01 # it does not wait for a copy of the last
finish
check "duplication: ping sees the copies" test "$received/$copies" = "101/25"
check "duplication: the relay says so" test "$there" = "101 received, 126 forwarded, 25 duplicated"

begin 'corrupt={every: 5, skip: 42}' 'reverse={corrupt: {every: 0}}'
pings -c 100 -i 0.01
finish
check "corruption: the kernel drops what has a wrong checksum" test "$received" = 80

# transfer OCTETS: random ones by TCP from left to right, into two files
transfer() {
	ip netns exec "$right" /usr/bin/python3 -c '
import socket, sys
with socket.create_server(("198.18.1.2", 5001)) as server, open(sys.argv[1], "wb") as out:
    print("ready", flush=True)
    connection, _ = server.accept()
    while data := connection.recv(65536):
        out.write(data)' "$work/came" >"$work/server" 2>&1 &
	local server=$!
	until [ -s "$work/server" ]; do sleep 0.05; done
	head -c "$1" /dev/urandom >"$work/sent"
	timeout 120 ip netns exec "$left" /usr/bin/python3 -c '
import socket, sys
with socket.create_connection(("198.18.1.2", 5001)) as connection:
    connection.sendall(open(sys.argv[1], "rb").read())' "$work/sent" >"$work/said" 2>&1 || kill "$server"
	wait "$server"
}

begin delay=2ms loss_random=1% 'reorder={random: 5%, by: 3}' 'jitter={mean: 200us, reorders: true}' \
	'duplicate={random: 2%}' 'corrupt={random: 0.5%}'
transfer 4000000
finish
check "TCP gets through everything at once" cmp "$work/sent" "$work/came"
check "and has met losses" grep -q 'dropped (loss)' <<<"$there"
check "checksums were left to a card that there is not" grep -q 'checksums completed' <<<"$there"
check "and other places" grep -q 'reordered' <<<"$there"

# iperf OPTION...: load from left to right
iperf() {
	ip netns exec "$right" iperf3 -s -1 >"$work/server" 2>&1 &
	local server=$! attempt
	for attempt in {1..1200}; do
		[ -z "$(ip netns exec "$right" ss -Hltn sport = 5201)" ] || break
		sleep 0.05
	done
	timeout 120 ip netns exec "$left" iperf3 -c 198.18.1.2 -J "$@" >"$work/said" 2>&1
	[ $? = 0 ] || kill "$server" 2>/dev/null
	wait "$server"
	read -r seconds bytes < <(/usr/bin/python3 -c '
import json, sys
sum = json.load(open(sys.argv[1]))["end"]["sum"]
print(sum["seconds"], (sum["packets"] - sum["lost_packets"]) * 1400)' "$work/said")
}
# most BPS: bytes of payload that a shaper lets pass in the time it took
most() {
	awk -v bps="$1" -v seconds="$seconds" 'BEGIN { print bps / 8 * seconds * 1400 / 1446 + 65536 + 1518 }'
}

# 1400 bytes of payload make frames of 1446; besides, the queue and the bucket may come through at once
begin rate=20Mbps queue=64KiB
iperf -u -b 60M -l 1400 -t 2
finish
check "no more comes through than the rate allows" within "$bytes" 1 "$(most 20e6)"
check "what does not fit is lost in the queue" grep -q 'dropped (queue full)' <<<"$there"
check "how late frames left is said" \
	grep -q '^frames left later than asked, at most: left->right [0-9]' "$work/log"

begin loss_random=100%
ip netns exec "$left" ping -q -c 1 -W 1 198.18.1.2 >/dev/null
finish
check "of a way on which nothing left nothing is said" \
	awk '/^frames left later/ { late = 1 } /^total/ { total = 1 } END { exit late || !total }' "$work/log"

# said WORDS: the running program has printed them, within a minute
said() {
	for _ in {1..1200}; do
		! grep -q "$1" "$work/log" || return 0
		sleep 0.05
	done
	return 1
}

# ended: its status, when it has ended by itself or was interrupted
ended() {
	wait "$relay"
	status=$?
	relay=
}

begin
ip -n "$middle" link set fg-left down
check "an interface that goes down is named" said 's  left: the link is down'
kill -INT "$relay"
ended
check "and the status says that the machine is at fault" test "$status" = 4
check "with the reason" said '^framegauge: emulate: left: the link is down'
ip -n "$middle" link set fg-left up

# attached LINE: what a tester that is served answers
attached() {
	ip netns exec "$middle" "$program" attach "$work/socket" <<<"$1" >"$work/said" 2>&1
}
: >"$work/log"
sed 's/^test: emulate/test: traffic/' "$work/relay.yaml" >"$work/served.yaml"
ip netns exec "$middle" "$program" serve "$work/served.yaml" --socket "$work/socket" \
	--set 'streams.s={from: left, to: right, rate: 100fps}' >>"$work/log" 2>&1 &
relay=$!
said 'to open a prompt'
attached 'start for=100ms' # which opens the ports for its sizes
attached start
ip -n "$middle" link set fg-left down
check "a tester that is served names it when it happens" said '^left: the link is down'
attached ports
check "and in its list of ports" grep -q '^left .* down ' "$work/said"
attached stop
check "traffic ends with the reason of its losses" \
	said '^job 2 (traffic) .*lost [0-9]*; the peer of left is gone'
ip -n "$middle" link set fg-left up
check "and it says when the link is back" said '^left: the link is up again'
kill -INT "$relay"
ended

# capture_left: what arrives at the left port, until it is stopped
capture_left() {
	: >"$work/log"
	ip netns exec "$middle" "$program" capture "$work/relay.yaml" --port left --out "$work/left.pcap" \
		>>"$work/log" 2>&1 &
	relay=$!
	said 'frames seen'
}
capture_left
ip -n "$middle" link set fg-left down
check "a capture names it, too" said 's  left: the link is down'
kill -INT "$relay"
ended
check "and is incomplete" test "$status" = 4
ip -n "$middle" link set fg-left up
capture_left
ip -n "$middle" link del fg-left
ended
check "a capture of an interface that was removed ends with a status" test "$status" = 4
check "and its reason" said 'the capture is incomplete: left: the card or interface was removed'
echo 1..28
