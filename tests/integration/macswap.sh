#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A reflector that only swaps addresses and answers no ARP: dpdk-testpmd over memif. With the MAC address of
# the gateway in the plan every frame of a stream and of a throughput test comes back to the one port.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}

if ! type dpdk-testpmd >/dev/null 2>&1; then
	echo "1..0 # SKIP macswap needs dpdk-testpmd"
	exit 0
fi
work=$(mktemp -d)
testpmd=
trap '[ -z "$testpmd" ] || kill -9 "$testpmd" 2>/dev/null; rm -rf "$work"' EXIT
mkfifo "$work/input" # testpmd waits there for a key
cpus=$(taskset -cp $$ | sed 's/.*: //')

cat >"$work/ports" <<EOF
ports:
  near: {device: 'memif:$work/far.sock', ipv4: 198.18.1.2/24, gateway: 198.18.1.1,
         gateway_mac: '02:00:00:00:00:77', line_rate: 1Gbps}
host: {max_lag: 1s}      # who waits for the processor has so long, and as long for the drain
EOF
cat "$work/ports" - >"$work/traffic.yaml" <<EOF
test: traffic
streams: {one: {rate: 500fps, size: 128}}
traffic: {duration: 1s, learning_wait: 100ms, drain: 1s}
EOF
cat "$work/ports" - >"$work/rfc2544.yaml" <<EOF
test: rfc2544
rfc2544:
  topology: loopback
  frame_sizes: [64]
  learning_wait: 100ms
  drain: 1s
  settle: 0s # a swap needs no rest
  throughput: {max: 500fps, min: 499fps, resolution: 1fps, trial: 1s}
EOF

# swap MODE: start testpmd
swap() {
	rm -f "$work/far.sock"
	stdbuf -oL dpdk-testpmd --no-huge --no-shconf --no-telemetry --no-pci -m 256 \
		--lcores="0@($cpus),1@($cpus)" \
		--vdev="net_memif0,role=server,socket=$work/far.sock,socket-abstract=no" \
		-- --forward-mode="$1" --auto-start --disable-link-check --total-num-mbufs=4096 \
		--port-topology=loop \
		--nb-cores=1 <>"$work/input" >"$work/testpmd.log" 2>&1 &
	testpmd=$!
	disown "$testpmd"
	for _ in {1..1200}; do
		! grep -qs "packet forwarding - ports=1" "$work/testpmd.log" || return 0
		sleep 0.05
	done
	echo "not ok - macswap: dpdk-testpmd does not start"
	sed 's/^/# /' "$work/testpmd.log" | tail -n 5
	exit 1
}

# every frame sent came back, whatever the machine was busy with
came_back() {
	python3 - "$work/run/result.json" <<-EOF
		import json, sys
		trials = json.load(open(sys.argv[1]))["trials"]
		wrong = [t for t in trials if t["tx"] == 0 or t["rx"] != t["tx"] or t["misdirected"]]
		sys.exit(not trials or len(wrong) > 0)
	EOF
}

echo "1..4"
status=0 number=0
for mode in macswap 5tswap; do
	for plan in traffic rfc2544; do
		rm -rf "$work/run"
		swap "$mode"
		"$program" run "$work/$plan.yaml" --out "$work/run" >"$work/log" 2>&1
		kill -9 "$testpmd" 2>/dev/null
		testpmd=
		if came_back 2>>"$work/log"; then
			echo "ok $((++number)) - $plan through a reflector that swaps ($mode)"
		else
			echo "not ok $((++number)) - $plan through a reflector that swaps ($mode)"
			tail -n 15 "$work/log" | sed 's/^/# /'
			status=1
		fi
	done
done
exit $status
