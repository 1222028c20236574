#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Web servers that misbehave: each connection is one failure, of the right kind; what is late is no failure.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host l4s
cat >"$work/plan.yaml" <<'END'
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:l4s-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: 'vdev:net_null1', ipv4: 198.19.1.2/24}
host: {max_lag: 1s}
l4:
  tests: [HTTP]
  peer: {kind: web, ipv4: 198.18.1.1}
  connections: 20
  duration: 300ms
  drain: 1500ms
  learning_wait: 10ms
  timeout: 1s
  load: {cycles: 1}
  http: {body: 1000, requests: 1, any_body: true}
END
on_linux "$work/server.log" /usr/bin/python3 tests/integration/l4/strange.py
appears ready "$work/server.log"

# port, what the server does, kind and number of the failures, transactions: of 20 connections
cases=(
	"7101|half a body|bad_response 20|0"
	"7102|no answer|expired 20|0"
	"7103|a late close|none|20"
	"7104|half a head|bad_response 20|0"
	"7105|a reset|reset 20|0"
	"7106|half a body and silence|expired 20|0"
)
echo "1..$((${#cases[@]} + 1))"
for one in "${cases[@]}"; do
	IFS='|' read -r port what failures transactions <<<"$one"
	ip netns exec "$tester" "$program" run "$work/plan.yaml" --set "l4.port=$port" --out "$work/$port" \
		>"$work/$port.log" 2>&1
	found=$(/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1] + "/result.json"))["results"]["l4"][0]
client = json.loads(open(sys.argv[1] + "/trials.jsonl").readline())["sides"][0]["apps"][0]
failures = [f"{kind} {n}" for kind, n in row["failures"].items() if n > 0] or ["none"]
print(" ".join(failures), client["total"]["transactions"], row["opened"], row["outstanding"], sep="|")' \
		"$work/$port" 2>&1)
	if [ "$found" = "$failures|$transactions|20|0" ]; then
		echo "ok - $what: $failures"
	else
		echo "not ok - $what: $found, not $failures|$transactions|20|0:"
		tail -n 3 "$work/$port.log"
	fi
done
left=$(ip netns exec "$linux" ss -tnH state established 'sport >= :7101')
[ -z "$left" ] && echo "ok - and no connection is left" || echo "not ok - these are left: $left"
