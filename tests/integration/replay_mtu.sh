#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A replay whose port's MTU is lowered meanwhile: what the port cannot send is the tester's loss, not the
# device's. A veth pair in a network namespace of its own, which is gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP needs root, for a network namespace"
	exit 0
fi
. tests/integration/tap.bash
work=$(mktemp -d) space=$(mktemp -u fgmtuXXXXXX)
trap 'ip netns del "$space"; rm -rf "$work"' EXIT
tap "$work"
ip netns add "$space"
ip netns exec "$space" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip -n "$space" link add west type veth peer name east
ip -n "$space" link set west up
ip -n "$space" link set east up
python3 - "$work/long.pcap" <<'END'
import struct
import sys

frame = bytes.fromhex('020000000002020000000001 88b5') + bytes(1380)
with open(sys.argv[1], 'wb') as file:
    file.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i in range(200):
        file.write(struct.pack('<IIII', 1700000000 + i // 50, i % 50 * 20000, len(frame), len(frame)) + frame)
END
cat >"$work/plan.yaml" <<END
test: replay
isolated_network: true
host: {max_lag: 1s, huge_pages: never}
ports: {west: {device: 'kernel:west,af_packet'}, east: {device: 'kernel:east,af_packet'}}
replay: {file: $work/long.pcap}
END

# sent: how many frames have left the port since it was made
sent() {
	ip netns exec "$space" cat /sys/class/net/west/statistics/tx_packets
}

# lowered ARGUMENTS...: run, and lower the MTU when the first frames have left; again if all had left by then
lowered() {
	local before lower tester
	for _ in 1 2 3 4 5; do
		ip -n "$space" link set west mtu 1500
		before=$(sent)
		ip netns exec "$space" "$program" "$@" >"$work/log" 2>&1 &
		tester=$!
		for _ in $(seq 600); do
			[ "$(sent)" -gt "$before" ] && break
			sleep 0.05
		done
		ip -n "$space" link set west mtu 600
		lower=$(sent)
		wait "$tester"
		status=$?
		[ "$lower" -lt $((before + 200)) ] && break
	done
}

# said WORDS
said() {
	cat "$work/log"
	grep -q "$1" "$work/log"
}

lowered run "$work/plan.yaml" --out "$work/o"
check "a run says what its port failed to send" said 'tester-limited: west: the port failed to send [0-9]* frames'
check "and is no fail of the device" test "$status" = 3
lowered replay "$work/plan.yaml" "$work/long.pcap" --verify
check "the command says so, too" said '^framegauge: replay: west: the port failed to send [0-9]* frames'
check "with the same status" test "$status" = 3
tap_end
