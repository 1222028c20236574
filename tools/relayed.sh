# SPDX-License-Identifier: BSD-3-Clause
# Two hosts in network namespaces of their own, left and right, and `framegauge emulate` between them: what
# tools/compare-tcp and tools/compare-quic share. They source it behind lib.sh, with `program`, `rate` and
# `queue` set before begin_path(); they call unmake_hosts() at their end. A test chooses the end of the
# namespaces' names, to look for them.
id=${RELAYED_ID:-$(mktemp -u XXXXXX)}
left=fgtcpl-$id middle=fgtcpm-$id right=fgtcpr-$id
work=$(mktemp -d)
relay=''

unmake_hosts() {
	[ -z "$relay" ] || kill -KILL "$relay" 2>/dev/null
	for namespace in "$left" "$middle" "$right"; do
		ip netns del "$namespace" 2>/dev/null
	done
	rm -rf "$work"
}

# host NAMESPACE PORT MAC: one with an interface whose other end is a port of the relay
host() {
	ip -n "$1" link add eth address "$3" type veth peer name "$2" netns "$middle"
	ip -n "$1" link set eth up mtu 1500
	ip -n "$middle" link set "$2" up
	ip netns exec "$1" ethtool -K eth tx off tso off gso off gro off >/dev/null
}

# idle_port NAMESPACE: another interface, with nobody at its other end
idle_port() {
	ip -n "$1" link add eth-idle type veth peer name peer-idle
	ip -n "$1" link set peer-idle up
	ip -n "$1" link set eth-idle up
}

make_hosts() {
	for namespace in "$left" "$middle" "$right"; do
		ip netns add "$namespace"
		ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	host "$left" fg-left 02:00:00:00:00:01
	host "$right" fg-right 02:00:00:00:00:02
	cat >"$work/relay.yaml" <<EOF
test: emulate
isolated_network: true
ports:
  left: {device: 'kernel:fg-left,af_packet'}
  right: {device: 'kernel:fg-right,af_packet'}
EOF
}

# Relay, tester and whoever takes in what they send go before what else this machine has to do, or it is their
# waiting for a processor that is measured; where every session has its own share of the processors
# (autogroups), it is the session's priority that counts. Relay and tester, which poll, have a CPU each where
# there are two. Sets `pid`.
cpus=($(python3 -c 'import os; cpus = sorted(os.sched_getaffinity(0)); print(cpus[0], cpus[-1])'))
start() { # CPU COMMAND...
	setsid nice -n -15 taskset -c "$@" &
	pid=$!
	favour "$pid"
}

favour() {
	sleep 0.1
	echo -15 2>/dev/null >"/proc/$1/autogroup" || true
}

# begin_path LOSS/DELAY/REORDERING: from left to right, the delay both ways
begin_path() {
	local loss delay reorder reordering=()
	IFS=/ read -r loss delay reorder <<<"$1"
	if [ "$reorder" != 0% ]; then
		reordering=(--set emulate.reorder.random="$reorder" --set emulate.reorder.by=0 \
			--set emulate.reorder.late=4ms
			--set emulate.reverse.reorder.random=0%)
	fi
	: >"$work/log"
	start "${cpus[0]}" ip netns exec "$middle" "$program" emulate "$work/relay.yaml" \
		--set emulate.rate="$rate" --set emulate.queue="$queue" --set emulate.delay="$delay" \
		--set emulate.loss_random="$loss" --set emulate.reverse.loss_random=0% "${reordering[@]}" \
		>>"$work/log" 2>&1
	relay=$pid
	for _ in {1..1200}; do
		! grep -q '^right->left' "$work/log" || return 0
		sleep 0.05
	done
	cat "$work/log" >&2
	die "the relay does not start"
}

end_path() {
	kill -INT "$relay"
	wait "$relay" || true
	relay=''
}
