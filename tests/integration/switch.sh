#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# RFC 2889 on a Linux bridge with eight ports, in network namespaces, beside the bridge's own counters and
# table of addresses. A busy machine makes rows tester-limited, which proves nothing: three attempts, then a
# skip.
#
#    switch.sh [table]: what it carries, or what its table holds and for how long, which a busy machine shows
#    as well (switch_table.sh)
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/bridge.bash
bridge switch 8 mcast_snooping 0

ip -n "$tester" -j link show >"$work/macs.json"
cat >"$work/plan.yaml" <<EOF
test: rfc2889
isolated_network: true
ports:
$(for k in {1..8}; do echo "  p$k: {device: 'kernel:fg-$k', ipv4: 198.18.1.$k/24, line_rate: 10Mbps}"; done)
host: {max_lag: 500ms} # late frames are sent, so that none is missing
rfc2889:
  frame_sizes: [128]
  max: 5% # 422 frames a second
  resolution: 5%
  trial: 2s
  search_trial: 2s
  settle: 0s
  learning_wait: 10ms
  drain: 300ms
  latency_frames: 2
  max_trials: 20
EOF

# What the bridge counted: frames at each port, and the most addresses that it had learned at a time.
counters() {
	ip netns exec "$dut" python3 -c '
import json, subprocess, sys
links = json.loads(subprocess.check_output(["ip", "-j", "-s", "link"]))
print(json.dumps({link["ifname"]: {way: link["stats64"][way]["packets"] for way in ("rx", "tx")}
                  for link in links if link["ifname"].startswith("dut-")}))'
}
watch_table() {
	local most=0 now
	while :; do
		now=$(ip netns exec "$dut" bridge fdb show br fgbridge dynamic | wc -l)
		[ "$now" -le "$most" ] || echo "$now"
		most=$((now > most ? now : most))
		sleep 0.1
	done
}

# check NAME TEST SETTING...: run this test with these, and judge its row by tests/integration/switch.py
check() {
	local name=$1 key=$2 settings=() attempt watcher
	for setting in "${@:3}"; do
		settings+=(--set "rfc2889.$setting")
	done
	for attempt in 1 2 3; do
		rm -rf "$work/run"
		# the bridge shows what the check before taught it until it sweeps its table
		ip -n "$dut" link set fgbridge type bridge fdb_flush
		counters >"$work/before.json"
		watch_table >"$work/table" &
		watcher=$!
		ip netns exec "$tester" "$program" run "$work/plan.yaml" --set "rfc2889.tests=$key" \
			"${settings[@]}" --out "$work/run" >"$work/log" 2>&1
		ip netns exec "$dut" bridge fdb show br fgbridge dynamic >"$work/fdb"
		kill "$watcher" && wait "$watcher" 2>/dev/null
		counters >"$work/after.json"
		python3 tests/integration/switch.py "$name" "$work" >"$work/outcome" 2>&1
		case $? in
		0)
			echo "ok - $name"
			return
			;;
		2) continue ;;
		esac
		sed 's/^/# /' "$work/outcome" "$work/log"
		echo "not ok - $name"
		return
	done
	sed 's/^/# /' "$work/outcome"
	echo "ok - $name # SKIP this machine is too busy: tester-limited three times"
}

if [ "${1-}" != table ]; then
	check "a full mesh goes through, and the bridge has every port where the tester has it" fully_meshed \
		max_trials=2
	check "broadcasts are counted as the bridge counts them" broadcast max_trials=2
	echo 1..2
	exit 0
fi
ip -n "$dut" link set fgbridge type bridge ageing_time 50
check "addresses are flooded once they are older than the ageing time" address_caching max_trials=2 \
	address_table.ageing=1.5s address_table.max=100 address_table.initial=1 \
	address_table.test_rate=100fps address_table.order=sequential
ip -n "$dut" link set fgbridge type bridge ageing_time 100
# kernels before 6.7 have no limit: then all of the 64 tried fit, and the test port's own
ip netns exec "$dut" python3 tests/integration/fdb_limit.py fgbridge 50 && echo 50 >"$work/limit" ||
	echo 65 >"$work/limit"
check "the table holds as many addresses as the bridge says" address_caching address_table.ageing=1.2s \
	address_table.max=64 address_table.order=random
check "a rate of learning that passes is one that the bridge learned at" learning_rate \
	address_table.ageing=1.2s address_table.addresses=40 address_table.order=random \
	address_table.resolution=50%
echo 1..3
