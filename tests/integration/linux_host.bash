# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests against programs on Linux: `linux_host NAME [OPTION]` makes two network namespaces,
# $tester with the interfaces NAME-east and NAME-west, and $linux, which is 198.18.1.1 at the other end of the
# one, peer-east, and 198.19.1.1 of the other. The veth leaves no work to a card that there is not, unless
# OPTION is "offload". All is gone at the end, with the folder $work and the processes whose ids are in
# `running`. Without root the test is skipped.
linux_host() {
	local name=$1 id side namespace
	if [ "$(id -u)" -ne 0 ]; then
		echo "1..0 # SKIP needs root, for network namespaces"
		exit 0
	fi
	id=$(mktemp -u XXXXXX)
	tester=fg${name}t-$id linux=fg${name}l-$id
	work=$(mktemp -d)
	running=()
	trap leave_linux_host EXIT
	ip netns add "$tester" && ip netns add "$linux" || exit 1
	for namespace in "$tester" "$linux"; do
		ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	for side in east west; do
		ip -n "$tester" link add "$name-$side" type veth peer name "peer-$side" netns "$linux"
		ip -n "$tester" link set "$name-$side" up
		ip -n "$linux" link set "peer-$side" up
		[ "${2:-}" = offload ] ||
			ip netns exec "$linux" ethtool -K "peer-$side" tx off tso off gso off gro off >/dev/null
	done
	ip -n "$linux" link set lo up
	ip -n "$linux" address add 198.18.1.1/24 dev peer-east
	ip -n "$linux" address add 198.19.1.1/24 dev peer-west
}

leave_linux_host() {
	[ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null
	wait
	ip netns del "$tester" 2>/dev/null
	ip netns del "$linux" 2>/dev/null
	rm -rf "$work"
}

# on_linux LOG COMMAND...: run a program there, beside the test; its id is the last of `running`
on_linux() {
	ip netns exec "$linux" "${@:2}" >"$1" 2>&1 </dev/null &
	running+=($!)
}

# appears WORDS FILE
appears() {
	for _ in {1..1200}; do
		! grep -qs "$1" "$2" || return 0
		sleep 0.05
	done
}

# capture_both FILTER: tshark at both interfaces, into $work/east.pcapng and west.pcapng, with 64 MiB for what
# comes while it has no processor; `captures` has their ids
capture_both() {
	local side
	captures=()
	for side in east west; do
		on_linux "$work/$side.log" tshark -q -B 64 -i "peer-$side" -w "$work/$side.pcapng" -f "$1"
		captures+=("${running[-1]}")
	done
	# until it captures, an interrupt does not end it
	appears "Capturing on" "$work/east.log"
	appears "Capturing on" "$work/west.log"
}

# end_captures: what was captured is in the files
end_captures() {
	kill -INT "${captures[@]}"
	wait "${captures[@]}"
}
