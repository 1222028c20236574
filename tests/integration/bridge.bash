# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of a Linux bridge: `bridge NAME PORTS OPTION...` makes one, fgbridge, with PORTS
# ports in a namespace of its own, $dut, each joined to an interface fg-1, fg-2 ... of $tester, and takes all
# away at the end. $work is a folder of the test. Without root the test is skipped.
bridge() {
	local name=$1 ports=$2 id namespace port
	shift 2
	if [ "$(id -u)" -ne 0 ]; then
		echo "1..0 # SKIP needs root, for network namespaces"
		exit 0
	fi
	id=$(mktemp -u XXXXXX) # not of this process: one that was killed may have left its namespaces
	tester=fg$name-$id
	dut=fg${name}d-$id
	work=$(mktemp -d)
	trap 'ip netns del "$tester" 2>/dev/null; ip netns del "$dut" 2>/dev/null; rm -rf "$work"' EXIT
	ip netns add "$tester" && ip netns add "$dut" || exit 1
	for namespace in "$tester" "$dut"; do
		ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	ip -n "$dut" link add fgbridge type bridge stp_state 0 forward_delay 0 "$@"
	ip -n "$dut" link set fgbridge up
	for ((port = 1; port <= ports; port++)); do
		ip -n "$tester" link add "fg-$port" type veth peer name "dut-$port" netns "$dut"
		ip -n "$tester" link set "fg-$port" up
		ip -n "$dut" link set "dut-$port" master fgbridge up
	done
	for _ in {1..1200}; do
		[[ $(ip -n "$tester" link show && ip -n "$dut" link show) == *NO-CARRIER* ]] || return 0
		sleep 0.05
	done
}
