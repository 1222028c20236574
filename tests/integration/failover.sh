#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Convergence of a Linux router in a network namespace that has two ways to five networks, each to a port of
# the tester: a program that replaces the route, and the link of the tester's port that goes down. Linux moves
# a route while the program runs, so that is the truth; on a busy machine the bound is wide, but it holds.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
id=$(mktemp -u XXXXXX)
tester=fgfailt-$id dut=fgfaild-$id
work=$(mktemp -d)
trap 'for n in $tester $dut; do ip netns del "$n" 2>/dev/null; done; rm -rf "$work"' EXIT

ip netns add "$tester" && ip netns add "$dut" || exit 1
quiet=(net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1)
for namespace in "$tester" "$dut"; do
	ip netns exec "$namespace" sysctl -qw "${quiet[@]}"
done
ip netns exec "$dut" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 \
	net.ipv4.conf.default.send_redirects=0 net.ipv4.conf.all.ignore_routes_with_linkdown=1
port() {
	ip -n "$tester" link add "$1" type veth peer name "$1" netns "$dut"
	ip -n "$tester" link set "$1" up
	ip -n "$dut" link set "$1" up
	ip -n "$dut" address add "$2/24" dev "$1"
	ip netns exec "$dut" sysctl -qw "net.ipv4.conf.$1.ignore_routes_with_linkdown=1"
}
port east 198.18.1.1
port west 198.19.1.1
port north 198.19.2.1

cat >"$work/plan.yaml" <<END
test: convergence
isolated_network: true
ports:
  east: {device: 'kernel:east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: 'kernel:west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
  north: {device: 'kernel:north,af_packet', ipv4: 198.19.2.2/24, gateway: 198.19.2.1}
host: {max_lag: 1s} # late frames are sent, so that none is missing
convergence:
  next_best: north
  routes: {first: 198.19.64.1, count: 5, prefix: 24}
  rate: 5kfps
  at: 300ms
  watch: 3s
  validation: 300ms
  drain: 500ms
END

# check NAME SETTING...: run with these, and judge the rows
check() {
	local name=$1 settings=()
	shift
	for setting in "$@"; do
		settings+=(--set "convergence.$setting")
	done
	ip netns exec "$tester" "$program" run "$work/plan.yaml" --quick "${settings[@]}" \
		--set convergence.watch=3s --out "$work/$name" >"$work/log" 2>&1
	local status=$?
	if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
		cat "$work/log"
		return 1
	fi
	python3 - "$work/$name/result.json" "$name" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))["results"]["convergence"]
		wrong = []
		for row in rows:
		    for key in "event", "full_ns", "bound_ns", "connectivity_loss", "validity":
		        print("#", key, row[key])
		    first = row["event"] == "failure"
		    if row["by"] != sys.argv[2] or row["routes_affected"] != 5 or row["not_converged"] != 0:
		        wrong.append("not all routes moved")
		    elif sys.argv[2] == "command" and not 0 <= row["full_ns"] <= row["bound_ns"]:
		        wrong.append("a route moved when the program did not run")
		    lost = row["validity"] == "valid" and row["connectivity_loss"] != 0
		    if sys.argv[2] == "command" and lost:
		        wrong.append("Linux replaces a route without loss")
		    if row["direction"] != ("east->north" if first else "east->west"):
		        wrong.append("awaited at the wrong port")
		for sentence in wrong:
		    print("#", sentence)
		sys.exit(len(rows) != 2 or wrong != [])
	END
}

report() {
	if "${@:2}"; then
		echo "ok - $1"
	else
		echo "not ok - $1"
	fi
}
replace="ip, -n, $dut, route, replace, 198.19.64.0/18, via"
echo 1..2
ip -n "$dut" route add 198.19.64.0/18 via 198.19.1.2
report "a route that is replaced moves while the program runs" check command \
	"command=[$replace, 198.19.2.2]" "revert_command=[$replace, 198.19.1.2]"
ip -n "$dut" route del 198.19.64.0/18
ip -n "$dut" route add 198.19.64.0/18 via 198.19.1.2 metric 10
ip -n "$dut" route add 198.19.64.0/18 via 198.19.2.2 metric 20
# the neighbours are looked for anew when the link is back
report "a link that goes down moves the routes, and back when it is up" check link link=west
