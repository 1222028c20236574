#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ports with two queues each, served by two lcores, through dpdk-testpmd with as many: the one stream of each
# port is divided among its queues, every frame comes back, and both lcores are in the evidence. Where a busy
# machine makes frames late, that proves nothing: three attempts, then a skip.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if ! type dpdk-testpmd >/dev/null 2>&1; then
	echo "1..0 # SKIP needs dpdk-testpmd"
	exit 0
fi
cpus=$(taskset -cp $$ | sed -E 's/.*: //')
work=$(mktemp -d)
testpmd=
trap '[ -z "$testpmd" ] || kill -9 "$testpmd" 2>/dev/null; rm -rf "$work"' EXIT

cat >"$work/queues.yaml" <<EOF2
test: rfc2544
ports:
  east: {device: 'memif:$work/east.sock', queues: 2, line_rate: 1Gbps}
  west: {device: 'memif:$work/west.sock', queues: 2, line_rate: 1Gbps}
host: {max_lag: 200ms}
rfc2544:
  tests: [throughput]
  frame_sizes: [64]
  learning_wait: 100ms
  drain: 1s
  settle: 100ms
  throughput: {max: 4kfps, search_trial: 500ms, trial: 500ms}
EOF2

mkfifo "$work/input" # it waits there for a key

# forward: start dpdk-testpmd; a client that comes before it forwards is turned away
forward() {
	rm -f "$work"/*.sock
	stdbuf -oL dpdk-testpmd --no-huge --no-shconf --no-telemetry --no-pci -m 256 \
		--lcores="0@($cpus),1@($cpus)" \
		--vdev="net_memif0,role=server,socket=$work/east.sock,socket-abstract=no" \
		--vdev="net_memif1,role=server,socket=$work/west.sock,socket-abstract=no" \
		-- --forward-mode=io --auto-start --disable-link-check --total-num-mbufs=16384 --rxq=2 \
		--txq=2 \
		--nb-cores=1 <>"$work/input" >"$work/testpmd.log" 2>&1 &
	testpmd=$!
	# 22.11's sometimes crashes when a client leaves while it forwards; that is no news by then
	disown "$testpmd"
	for _ in {1..1200}; do
		! grep -qs "io packet forwarding - ports=2" "$work/testpmd.log" || return 0
		sleep 0.05
	done
	echo "not ok - queues: dpdk-testpmd does not start"
	sed 's/^/# /' "$work/testpmd.log" | tail -n 5
	exit 1
}

for attempt in 1 2 3; do
	rm -rf "$work/run"
	forward
	"$program" script tests/integration/queues.lua "$work/queues.yaml" "$work/run" "$cpus" \
		>"$work/log" 2>&1
	kill -9 "$testpmd" 2>/dev/null
	testpmd=
	/usr/bin/python3 - "$work/run" <<'EOF2' && break
import json, sys

result = json.load(open(sys.argv[1] + "/result.json"))
trial = result["trials"][0]
frames = 4000 * trial["duration_s"]
problems = []

def check(what, holds):
    if not holds:
        problems.append(what)

if trial["late"] > 0:
    sys.exit(2)
check("frames are lost or doubled", trial["lost"] == trial["duplicates"] == trial["tester_drops"] == 0)
check("the order is %s" % trial["reordered"], trial["reordered"] == 0)
for direction in trial["directions"]:
    check("a stream has %s substreams" % direction.get("substreams"), direction.get("substreams") == 2)
    check("a direction has %s frames" % direction["rx"], direction["rx"] == direction["tx"] == frames)
queues = trial["queues"]
check("the queues are %s" % queues,
      [(q["port"], q["queue"]) for q in queues] == [("east", 0), ("east", 1), ("west", 0), ("west", 1)])
check("a queue has not sent its half", all(q["tx"] == q["rx"] == frames / 2 for q in queues))
check("the lcores are not both at work",
      {q["tx_lcore"] for q in queues} | {q["rx_lcore"] for q in queues} == {1, 2})
check("the queues have not one schedule",
      all(abs(q["first_due_ns"] - 250000 * q["queue"]) <= 1 <= q["first_ns"] for q in queues))
check("the report says nothing of the queues",
      "The queues of the ports" in open(sys.argv[1] + "/report.html").read())
print("\n".join("not ok - queues: " + p for p in problems) if problems
      else "ok - two queues a port carry one stream, counted to the frame")
EOF2
	if [ "$attempt" = 3 ]; then
		tail -n 15 "$work/log" | sed 's/^/# /'
		grep -q 'tester was late' "$work/log" && echo "ok - queues # SKIP this machine is too busy" ||
			echo "not ok - queues: no result"
	fi
done
echo 1..1
