#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# LLDP of our server of the Open Traffic Generator API against another implementation, lldpd, at the other end
# of a veth pair: what each says of the other.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
for tool in lldpd lldpcli curl python3 setpriv; do
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP $tool is missing"
		exit 0
	fi
done
id=$(mktemp -u XXXXXX)
namespace=fglldp-$id
work=$(mktemp -d)
chmod 711 "$work"
server='' other=''
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; [ -z "$other" ] || kill "$other" 2>/dev/null; wait
	ip netns del "$namespace" 2>/dev/null; rm -rf "$work"' EXIT

ip netns add "$namespace" || exit 1
inside() { ip netns exec "$namespace" "$@"; }
inside sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -n "$namespace" link set lo up
ip -n "$namespace" link add east address 02:00:00:00:0e:01 type veth peer name west
ip -n "$namespace" link set west address 02:00:00:00:0e:02
ip -n "$namespace" link set east up
ip -n "$namespace" link set west up

cat >"$work/plan.yaml" <<END
test: otg
isolated_network: true
ports:
  left: {device: 'kernel:east,af_packet'}
otg: {listen: ['http://127.0.0.1:0']}
END
echo 'configure lldp tx-interval 1' >"$work/lldpd.conf"
set -m # or the server would be told to ignore Ctrl-C
ip netns exec "$namespace" "$program" otg "$work/plan.yaml" >"$work/log" 2>&1 &
server=$!
ip netns exec "$namespace" lldpd -d -u "$work/lldpd" -O "$work/lldpd.conf" -I west -C west -S 'a switch' \
	>"$work/lldpd.log" 2>&1 &
other=$!
set +m
url=''
for _ in {1..600}; do
	url=$(sed -n 's/^otg: listening on \([^,]*\),.*/\1/p' "$work/log")
	[ -z "$url" ] || [ ! -S "$work/lldpd" ] || break
	sleep 0.1
done

ask() { inside curl -s --max-time 60 --data-binary "$2" "$url$1"; }
# as the owner of the socket: root may be one who is not allowed all
theirs() {
	inside setpriv --reuid _lldpd --regid _lldpd --clear-groups \
		lldpcli -u "$work/lldpd" -f keyvalue show neighbors details 2>/dev/null
}
ours() { ask /monitor/states '{"lldp_neighbors": {}}'; }
# pick KEY...: values of the first row of an answer
pick() {
	python3 -c 'import json, sys
answer = json.load(sys.stdin)
rows = answer[answer["choice"]]
print(*[rows[0].get(key) for key in sys.argv[1:]] if rows else "", sep="|")' "$@"
}
# until_is [not] COMMAND PATTERN: wait until it prints that, or does so no more
until_is() {
	local wanted=yes found
	[ "$1" != not ] || { wanted=no && shift; }
	for _ in {1..600}; do
		found=no
		! $1 | grep -q "$2" || found=yes
		[ $found != $wanted ] || return 0
		sleep 0.1
	done
}
number=0
check() { # NAME, what was found, what was expected
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		printf '# %s\n# instead of %s\n' "$2" "$3"
		sed 's/^/# /' "$work/log" "$work/lldpd.log"
	fi
}
nobody='{"choice":"lldp_neighbors","lldp_neighbors":[]}'

check "an agent is configured" "$(ask /config '
ports: [{name: p1, location: east}]
lldp:
- {name: l1, connection: {port_name: p1}, hold_time: 200, advertisement_interval: 5,
   port_id: {local_subtype: bay 7}, system_name: {value: tester one},
   org_infos: [{oui: 0080c2, subtype: 1, information: {info: "0007"}}]}')" '{"warnings":[]}'
until_is theirs bay
check "lldpd reads what it announces" "$(theirs | sed 's/^lldp.west.//' |
	grep -E '^(chassis.(mac|name)|port.(local|ttl)|vlan.(vlan-id|pvid))=')" "chassis.mac=02:00:00:00:0e:01
chassis.name=tester one
port.local=bay 7
port.ttl=200
vlan.vlan-id=7
vlan.pvid=yes"
until_is ours lldp_name
check "what lldpd announces is a neighbour" \
	"$(ours | pick lldp_name chassis_id_type chassis_id port_id_type port_id system_description ttl)" \
	"l1|mac_address|02:00:00:00:0e:02|mac_address|02:00:00:00:0e:02|a switch|4"
check "with its capabilities" "$(ours | grep -c '"capability_name":"router"')" 1
check "its frames are counted, none as an error" \
	"$(ask /monitor/metrics '{"lldp": {}}' | pick frames_error_rx frames_discard tlvs_discard)" '0|0|0'
received=$(ask /monitor/metrics '{"lldp": {}}' | pick frames_rx)
check "at least one has come" "$((received > 0))" 1
ask /control/state '{"protocol": {"all": {"state": "stop"}}}' >/dev/null
until_is not theirs bay
check "lldpd forgets an agent that is stopped" "$(theirs | grep -c bay)" 0
check "and the agent forgets its neighbours" "$(ours)" "$nobody"
ask /control/state '{"protocol": {"all": {"state": "start"}}}' >/dev/null
until_is theirs bay
check "an agent that is started again is heard again" "$(theirs | grep -c 'port.local=bay 7')" 1
until_is ours lldp_name
check "and hears" "$(ours | pick chassis_id)" 02:00:00:00:0e:02
kill "$other"
wait "$other" 2>/dev/null
other=''
until_is not ours lldp_name
check "a neighbour that takes its leave is forgotten" "$(ours)" "$nobody"
kill -INT "$server"
wait "$server"
check "the server ends at Ctrl-C" $? 0
server=''
echo "1..$number"
