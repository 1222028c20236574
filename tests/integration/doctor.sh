#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What doctor says of interfaces of the kernel: their driver and XDP as the kernel tells them, and what rate
# to expect. In a network namespace of its own; rates depend on the machine and are not judged.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for a network namespace"
	exit 0
fi
id=$(mktemp -u XXXXXX)
space=fgdoc-$id
work=$(mktemp -d)
trap 'ip netns del "$space" 2>/dev/null; rm -rf "$work"' EXIT
ip netns add "$space" && ip -n "$space" link add east type veth peer name west &&
	ip -n "$space" link set east up && ip -n "$space" link set west up &&
	ip -n "$space" link add plain type bridge || exit 1

cat >"$work/plan.yaml" <<EOF
isolated_network: true
ports:
  east: {device: 'kernel:east', ipv4: 198.18.1.2/24}
  west: {device: 'kernel:west,af_packet', ipv4: 198.18.1.3/24}
host: {huge_pages: never, max_lag: 1s}
test: traffic
traffic: {duration: 1s}
streams:
  there: {from: east, to: west, rate: 400fps, size: 128}
EOF

number=0 failed=0 status=
# expect WORDS STATUS PATTERN COMMAND...: the command ends with the status and prints the pattern
expect() {
	ip netns exec "$space" "$program" doctor "${@:4}" >"$work/out" 2>&1
	status=$?
	also "${@:1:3}"
}

# also WORDS STATUS PATTERN: the command before has ended with the status and printed the pattern, too
also() {
	number=$((number + 1))
	if [ "$status" = "$2" ] && tr -s ' \n' ' ' <"$work/out" | grep -qE "$3"; then
		echo "ok $number - $1"
		return
	fi
	echo "not ok $number - $1"
	echo "# status $status, $2 expected; expected /$3/ in"
	sed 's/^/# /' "$work/out"
	failed=1
}

native='AF_XDP in the driver, with copying'
kernel=$(uname -r | cut -d. -f1,2)
if [ "$(printf '6.3\n%s\n' "$kernel" | sort -V | head -1)" = 6.3 ]; then
	expect "an interface with XDP of its driver's own" 0 "east \(veth; $native\)"
	expect 'an interface without' 0 \
		'plain \(bridge; AF_XDP on socket buffers: bridge has no XDP of its own\)'
else
	echo "ok $((number += 1)) - XDP of an interface # SKIP Linux tells since 6.3"
fi
expect 'the ports of a plan' 0 'ok west net_af_packet, AF_PACKET' "$work/plan.yaml"
arrives='1518 bytes: sends [1-9][0-9,]* frames/s \([0-9.]+ [KMG]bit/s L1\), [1-9][0-9,]* arrive'
expect 'the rate to expect, from east to west' 0 "ok east->west $arrives" "$work/plan.yaml" --measure
also 'and the other way' 0 "ok west->east $arrives"
drivers='64 bytes: [1-9][0-9,]* frames/s by AF_XDP, which is taken, [1-9][0-9,]* by AF_PACKET'
also 'both drivers of an interface, where the plan names none' 0 "(ok|warning) east $drivers"
expect 'nothing is sent without a plan' 2 'it needs a PLAN.yaml' --measure
sed -i '/isolated_network/d' "$work/plan.yaml"
expect 'nor with one of a network that is not isolated' 2 'isolated_network: .*' "$work/plan.yaml" --measure
echo "1..$number"
exit $failed
