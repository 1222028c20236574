#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# RFC 3918 on a Linux bridge that snoops, in network namespaces: how long ports wait for the frames of a group
# after they have joined, and have them after they have left, beside the times of tcpdump at the ports of the
# bridge. A busy machine makes rows tester-limited; the delays are compared all the same, as far as the tester
# was held up.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if ! command -v tcpdump >/dev/null; then
	echo "1..0 # SKIP needs tcpdump"
	exit 0
fi
. tests/integration/bridge.bash
bridge snoop 4 mcast_snooping 1
# the bridge asks by itself, every 5 s, and takes answers for half a second; it asks twice, 200 ms apart,
# whether a port has other members before it takes the port out. It forwards as it has learned half a second
# after it began to ask, so that comes last
ip -n "$dut" link set fgbridge type bridge mcast_query_response_interval 50 mcast_query_interval 500 \
	mcast_startup_query_interval 50 mcast_last_member_interval 20 mcast_last_member_count 2
ip -n "$dut" link set fgbridge type bridge mcast_querier 1
sleep 2

cat >"$work/plan.yaml" <<END
test: rfc3918
isolated_network: true
ports:
$(for k in {1..4}; do echo "  p$k: {device: 'kernel:fg-$k', ipv4: 198.18.1.$k/24, line_rate: 10Mbps}"; done)
host: {max_lag: 1s} # late frames are sent, so that none is missing
rfc3918:
  tests: [join_delay, leave_delay]
  frame_sizes: [128]
  monitor: p4
  join_wait: 300ms
  forget: 1s
  drain: 300ms
  settle: 0s
  retries: 0
  membership: {methods: [new], load: 12%, max_resolution: 1ms, repetitions: 2, observe_join: 200ms,
    observe_leave: 1s}
END
watchers=()
for port in 2 3; do
	ip netns exec "$dut" tcpdump -U -n -s 100 -i "dut-$port" -w "$work/$port.pcap" \
		--time-stamp-precision=nano ip >"$work/tcpdump.$port" 2>&1 &
	watchers+=($!)
done
for _ in {1..1200}; do
	[ "$(grep -ls listening "$work"/tcpdump.* | wc -l)" -lt 2 ] || break
	sleep 0.05
done
ip netns exec "$tester" "$program" run "$work/plan.yaml" --out "$work/run" >"$work/log" 2>&1
sleep 1
kill "${watchers[@]}" && wait "${watchers[@]}" 2>/dev/null
python3 tests/integration/snooping.py "$work" || sed 's/^/# /' "$work/log"
echo 1..3
