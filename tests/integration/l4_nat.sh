#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Trials one after the other through a gateway that masquerades and inspects: nftables with conntrack in a
# network namespace, nginx behind it. What the gateway still knows of the trial before must not cost the next
# one a connection: it drops what begins without SYN or does not fit its table, and counts that.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
PATH=$PATH:/usr/sbin
for needed in nginx nft; do
	command -v "$needed" >/dev/null || {
		echo "1..0 # SKIP ${needed/nft/nftables} is missing"
		exit 0
	}
done
linux_host nat
gateway=$linux
server=$linux-behind
ip netns add "$server" || exit 1
trap 'leave_linux_host; ip netns del "$server"' EXIT
ip -n "$gateway" link add behind type veth peer name eth0 netns "$server"
for end in "$gateway behind 1" "$server eth0 2"; do
	read -r namespace interface host <<<"$end"
	ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.default.disable_ipv6=0 net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1
	ip -n "$namespace" link set "$interface" up
	ip -n "$namespace" address add "198.18.9.$host/24" dev "$interface"
	ip -n "$namespace" address add "2001:2:0:9::$host/64" dev "$interface" nodad
done
ip -n "$gateway" address add 2001:2:0:1::1/64 dev peer-east nodad
ip netns exec "$gateway" nft -f - <<'EOF' || exit 1
table inet gateway {
	counter refused { }
	chain forward {
		type filter hook forward priority filter; policy drop;
		ct state invalid counter name refused drop
		tcp flags & (fin | syn | rst | ack) != syn ct state new counter name refused drop
		ct state established,related accept
		iifname "peer-east" ct state new accept
	}
	chain translate {
		type nat hook postrouting priority srcnat;
		oifname "behind" masquerade
	}
}
EOF
/usr/bin/python3 tests/integration/l4/peer.py pages "$work/www/octets"
sed 's/access_log off/access_log access.log/' tests/integration/l4/nginx.conf >"$work/nginx.conf"
linux=$server
on_linux "$work/nginx.log" nginx -p "$work" -c "$work/nginx.conf" -e stderr
linux=$gateway
for _ in {1..200}; do
	[ -z "$(ip netns exec "$server" ss -tlnH 'sport = :7080')" ] || break
	sleep 0.05
done
cat >"$work/plan.yaml" <<'EOF'
test: l4
isolated_network: true
ports:
  east:
    device: 'kernel:nat-east,af_packet'
    ipv4: 198.18.1.2/24
    gateway: 198.18.1.1
    ipv6: 2001:2:0:1::2/64
    gateway6: 2001:2:0:1::1
  west: {device: 'vdev:net_null1', ipv4: 198.19.1.2/24, ipv6: '2001:2:0:2::2/64'}
host: {max_lag: 1s}
l4:
  tests: [HTTP]
  port: 7080
  connections: 200
  duration: 300ms
  drain: 500ms
  learning_wait: 10ms
  repetitions: 10
  http: {body: 1000, requests: 1, path: /octets/1000}
EOF

# tester NAME OPTION...: run the plan, with the result in $work/NAME
tester() {
	ip netns exec "$tester" "$program" run "$work/plan.yaml" --out "$work/$1" "${@:2}" >"$work/$1.log" \
		2>&1
}

# what the gateway has refused, in packets
refused() {
	ip netns exec "$gateway" nft list counter inet gateway refused | grep -oE 'packets [0-9]+' |
		cut -d' ' -f2
}

# steady NAME PEER
steady() {
	local before status
	before=$(wc -l <"$work/access.log")
	tester "$1" --set "l4.peer={kind: web, $2}" --set l4.load.rate=200
	sleep 0.2
	/usr/bin/python3 tests/integration/l4/trials.py "$work/$1/result.json" \
		$(($(wc -l <"$work/access.log") - before)) 60
	status=$?
	case $status in
	0) echo "ok - ten trials through the gateway are alike: $1" ;;
	77) echo "ok - ten trials through the gateway are alike: $1 # SKIP the machine is too busy" ;;
	*)
		echo "not ok - ten trials through the gateway are alike: $1"
		tail -n 3 "$work/$1.log" | sed 's/^/# /'
		;;
	esac
	if [ "$(refused)" = 0 ]; then
		echo "ok - and it has refused nothing: $1"
	else
		echo "not ok - and it has refused nothing: $1: $(refused) packets"
	fi
}

# how many connections it has open
at_the_server() {
	ip netns exec "$server" ss -tnH state established 'sport = :7080' | wc -l
}

# after_kill NAME PEER: a tester with eight connections is killed; the gateway and the server still have them
after_kill() {
	local run options=(--set "l4.peer={kind: web, $2}" --set l4.repetitions=1 --set l4.connections=8
		--set l4.http.requests=0)
	# of those before none is counted
	for _ in {1..200}; do
		[ "$(at_the_server)" -gt 0 ] || break
		sleep 0.05
	done
	tester "killed-$1" "${options[@]}" --set l4.duration=60s 2>/dev/null &
	run=$!
	for _ in {1..400}; do
		[ "$(at_the_server)" -lt 8 ] || break
		sleep 0.05
	done
	kill -KILL "$(pgrep -P "$run" | head -n 1)"
	wait "$run"
	tester "after-$1" "${options[@]}"
	if /usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
print("#", row["figures"], row.get("known_ports"), row["setup"])
sys.exit(row.get("known_ports") != 8 or row["setup"]["max_ns"] > 900e6)' "$work/after-$1/result.json"; then
		echo "ok - after one that was killed they forget at once: $1"
	else
		echo "not ok - after one that was killed they forget at once: $1"
		tail -n 3 "$work/after-$1.log" | sed 's/^/# /'
	fi
}
echo 1..6
steady ipv4 'ipv4: 198.18.9.2'
steady ipv6 'ipv6: "2001:2:0:9::2"'
after_kill ipv4 'ipv4: 198.18.9.2'
after_kill ipv6 'ipv6: "2001:2:0:9::2"'
