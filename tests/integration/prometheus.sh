#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A real Prometheus scrapes a tester: the shipped rules are good, and each query of the dashboard has data.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; then
	echo "1..0 # SKIP Prometheus is not installed"
	exit 0
fi
work=$(mktemp -d)
tester=
server=
agent=
holder=
finish() {
	for pid in $tester $holder $agent $server; do
		kill "$pid" && wait "$pid"
	done 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
. "$(dirname "$0")/tap.bash"
tap "$work"

rules=$here/integrations/prometheus
check "rules and alerts are good" promtool check rules "$rules/rules.yml" "$rules/alerts.yml"
check "each alert fires and clears" promtool test rules "$rules/alerts_test.yml"
check "the configuration is good" promtool check config "$rules/prometheus.yml"

cat >"$work/agent.yaml" <<END
test: agent
ports:
  north: {device: 'vdev:net_null0', line_rate: 1Gbps}
  south: {device: 'vdev:net_null1', line_rate: 1Gbps}
agent: {name: rack1, listen: $work/rack1, state: $work/state}
isolated_network: true
END
cat >"$work/holder.yaml" <<END
test: traffic
fleet: {agents: {rack1: $work/rack1}}
ports:
  a: {device: 'agent:rack1/north', ipv4: 198.18.0.1/24}
  b: {device: 'agent:rack1/south', ipv4: 198.18.0.2/24}
streams: {s: {rate: 1fps}}
traffic: {duration: 120s}
END
mkdir -m 700 "$work/state"
"$FRAMEGAUGE" agent "$work/agent.yaml" >"$work/agent" 2>&1 &
agent=$!
for _ in {1..600}; do
	[ -S "$work/rack1" ] && break
	sleep 0.1
done
"$FRAMEGAUGE" run "$work/holder.yaml" --out "$work/held" >"$work/holder" 2>&1 & # until it was seen
holder=$!
cat >"$work/plan.yaml" <<END
name: scraped
fleet: {agents: {rack1: $work/rack1}}
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, time: real, capacity: 70kfps}
rfc2544:
  frame_sizes: [1518]
  tests: [throughput, frame_loss]
  throughput: {resolution: 20%}
  frame_loss: {step: 10%, max: 20%}
END
"$FRAMEGAUGE" serve "$work/plan.yaml" --socket "$work/socket" --metrics 127.0.0.1:0 >"$work/tester" 2>&1 &
tester=$!
for _ in {1..600}; do
	grep -q attach "$work/tester" && break
	sleep 0.1
done
address=$(sed -n 's|^metrics: http://\(.*\)/metrics$|\1|p' "$work/tester")
attach() {
	printf '%s\n' "$@" | "$FRAMEGAUGE" attach "$work/socket" >>"$work/attach" 2>&1
}

sed "s|127.0.0.1:9464|$address|; s|5s|200ms|g; s|rules.yml|$rules/&|; s|alerts.yml|$rules/&|" \
	"$rules/prometheus.yml" >"$work/prometheus.yml"
# the rules look back a minute; here everything is over sooner
mkdir "$work/rules"
sed 's/\[1m\]/[3s]/g' "$rules/rules.yml" >"$work/rules/rules.yml"
sed -i "s|$rules/rules.yml|$work/rules/rules.yml|" "$work/prometheus.yml"
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
	--enable-feature=exemplar-storage --web.listen-address="127.0.0.1:$port" >"$work/prometheus" 2>&1 &
server=$!

values() { # QUERY -> number of series with a value
	curl -sG "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1" |
		/usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)["data"]["result"]))' \
			2>/dev/null
}
has_data() { # QUERY: within half a minute
	for _ in {1..300}; do
		[ "$(values "$1")" -gt 0 ] 2>/dev/null && return 0
		sleep 0.2
	done
	cat "$work/attach" "$work/tester" "$work/holder"
	tail -3 "$work/prometheus"
	return 1
}

attach "test rfc2544 quick out='$work/first'" # its result is there from now on
attach "test rfc2544 quick background out='$work/second' throughput.resolution=0.1%" # and this one runs
for query in 'agents{state="ready"} == 1' 'agent_ports{agent="rack1",state="leased"} == 2' \
	lease_remaining_seconds; do
	check "the fleet is as it is: $query" has_data "framegauge_$query"
done
kill "$holder"
# a clock that follows nothing has none, as on most virtual machines
bounds_fit() { [ "$(values "$1")" = "$(values 'framegauge_clock_synchronized == 1')" ]; }
while IFS= read -r query; do
	[[ $query == *lease_remaining* ]] && continue
	if [[ $query == *clock_error_bound* ]]; then
		check "the clocks that follow a reference have bounds: $query" bounds_fit "$query"
		continue
	fi
	check "there is data: $query" has_data "$query"
done < <(/usr/bin/python3 - "$here"/integrations/grafana/*.json <<'END'
import json, re, sys
queries = {re.sub(r'"\$\w+"', '".*"', target["expr"]).replace("[1m]", "[3s]") for path in sys.argv[1:]
           for panel in json.load(open(path))["panels"] for target in panel["targets"]}
# first the queries about a run that goes on
print(*sorted(queries, key=lambda query: ("framegauge_run_" not in query, query)), sep="\n")
END
)
exemplars() {
	curl -sG "http://127.0.0.1:$port/api/v1/query_exemplars" --data query=framegauge_trials_total \
		--data start=0 --data end=9999999999 | grep '"trial"'
}
check "exemplars are kept" exemplars
tap_end
