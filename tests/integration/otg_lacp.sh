#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# LACP of our server of the Open Traffic Generator API against another implementation, a bond of Open vSwitch
# at the other end of two veth pairs; then of two LAGs of the server with each other, over two more.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
for tool in ovs-vswitchd curl python3 tcpdump tshark; do
	if ! command -v "$tool" >/dev/null; then
		[ "$tool" != ovs-vswitchd ] || tool='Open vSwitch'
		echo "1..0 # SKIP $tool is missing"
		exit 0
	fi
done
id=$(mktemp -u XXXXXX)
namespace=fglacp-$id
work=$(mktemp -d)
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null; wait; ip netns del "$namespace" 2>/dev/null
	rm -rf "$work"' EXIT

ip netns add "$namespace" || exit 1
inside() { ip netns exec "$namespace" "$@"; }
inside sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
ip -n "$namespace" link set lo up
# t1, t2 to the switch, u1 and u2 to v1 and v2; x is where the switch sends to
for pair in t1:s1 t2:s2 x:s3 u1:v1 u2:v2; do
	ip -n "$namespace" link add "${pair%:*}" type veth peer name "${pair#*:}"
	ip -n "$namespace" link set "${pair%:*}" up
	ip -n "$namespace" link set "${pair#*:}" up
done

cat >"$work/plan.yaml" <<END
test: otg
isolated_network: true
ports:
$(for port in t1 t2 x u1 u2 v1 v2; do echo "  $port: {device: 'kernel:$port,af_packet'}"; done)
otg: {listen: ['http://127.0.0.1:0']}
END
set -m # or the server would be told to ignore Ctrl-C
ip netns exec "$namespace" "$program" otg "$work/plan.yaml" >"$work/log" 2>&1 &
server=$!
set +m
pids+=("$server")

# The switch has its own database and sockets, and its datapath in user space.
export OVS_RUNDIR=$work OVS_LOGDIR=$work OVS_DBDIR=$work OVS_SYSCONFDIR=$work
vsctl() { ovs-vsctl --timeout=60 "--db=unix:$work/db.sock" "$@"; }
ovsdb-tool create "$work/ovs.db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$work/ovs.db" --remote="punix:$work/db.sock" >"$work/ovsdb.log" 2>&1 &
pids+=($!)
vsctl --retry --no-wait init
ip netns exec "$namespace" ovs-vswitchd "unix:$work/db.sock" --unixctl="$work/ctl" >"$work/ovs.log" 2>&1 &
pids+=($!)
vsctl add-br lab -- set bridge lab datapath_type=netdev -- add-port lab s3 -- \
	add-bond lab bond s1 s2 lacp=active bond_mode=balance-slb other_config:lacp-time=fast \
	other_config:lacp-system-id=02:00:00:00:00:99
switch() { ovs-appctl -t "$work/ctl" "$@"; }

url=''
for _ in {1..600}; do
	url=$(sed -n 's/^otg: listening on \([^,]*\),.*/\1/p' "$work/log")
	[ -z "$url" ] || break
	sleep 0.1
done
ask() { inside curl -s --max-time 60 --data-binary "$2" "$url$1"; }
# pick KEY...: values of all rows of an answer
pick() {
	python3 -c 'import json, sys
answer = json.load(sys.stdin)
for row in answer[answer["choice"]]:
    print(*[row.get(key) for key in sys.argv[1:]], sep="|")' "$@"
}
lacp() { ask /monitor/metrics '{"lacp": {}}' | pick lag_member_port_name "$@"; }
lags() { ask /monitor/metrics '{"lag": {}}' | pick name oper_status member_ports_up; }
flow() { ask /monitor/metrics "{\"flow\": {\"flow_names\": [\"$1\"]}}" | pick "${@:2}"; }
sent() { ask /monitor/metrics "{\"port\": {\"port_names\": [\"$1\"]}}" | pick frames_tx; }
transmit() {
	ask /control/state "{\"traffic\": {\"flow_transmit\": {\"state\": \"$2\", \"flow_names\": [\"$1\"]}}}"
}
# until_is VALUE COMMAND...: wait until it prints that
until_is() {
	for _ in {1..600}; do
		[ "$("${@:2}")" != "$1" ] || return 0
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
		sed 's/^/# /' "$work/log" "$work/ovs.log"
	fi
}
# enabled: members of the bond that the switch uses
enabled() {
	switch bond/show bond | sed -n 's/^\(slave\|member\) \(.*\): enabled$/\2/p' | sort | tr '\n' ' '
}

ip netns exec "$namespace" tcpdump -U -i s1 -w - 'ether proto 0x8809' >"$work/s1.pcap" 2>"$work/tcpdump.log" &
recorder=$!
pids+=("$recorder")
member() { echo "{port_name: $1, ethernet: {name: $1.eth}, lacp: {lacpdu_periodic_time_interval: 1}}"; }
flow_of() {
	echo "{name: $1, tx_rx: {port: {tx_name: $2, rx_names: [$3]}}, rate: {pps: $4}, size: {fixed: 128},
   duration: {fixed_packets: {packets: $5}}, metrics: {enable: true},
   packet: [{ethernet: {src: {value: '02:00:00:00:01:01'}, dst: {value: '02:00:00:00:01:02'}}}, {ipv4: {}}]}"
}
check "LAGs are configured" "$(ask /config "
ports: [$(for port in t1 t2 x u1 u2 v1 v2; do echo "{name: $port, location: $port}, "; done)]
layer1: [{name: l, port_names: [t1, t2, x, u1, u2, v1, v2], speed: speed_1_gbps}]
lags:
- {name: switch, ports: [$(member t1), $(member t2)], min_links: 1,
   protocol: {lacp: {actor_system_id: '02:00:00:00:00:01', actor_system_priority: 5, actor_key: 7}}}
- {name: u, ports: [$(member u1), $(member u2)],
   protocol: {lacp: {actor_system_id: '02:00:00:00:00:0a'}}}
- {name: v, ports: [$(member v1), $(member v2)],
   protocol: {lacp: {actor_system_id: '02:00:00:00:00:0b'}}}
flows:
- $(flow_of through switch x 500 1000)
- $(flow_of back x switch 200 200)
- $(flow_of self u v 500 1501)
")" '{"warnings":[]}'
up=$(printf 'switch|up|2\nu|up|2\nv|up|2')
until_is "$up" lags
check "all LAGs come up" "$(lags)" "$up"
until_is "s1 s2 " enabled
check "the switch uses both ports" "$(enabled)" "s1 s2 "
check "it knows our end" "$(switch lacp/show bond | sed -n 's/^ *partner \(sys_id\|sys_priority\|key\): //p' |
	sort -u | tr '\n' ' ')" "02:00:00:00:00:01 5 7 "
check "and we know its" "$(lacp partner_id synchronization collecting distributing lacp_rx_errors |
	sed -n 1,2p)" "t1|02:00:00:00:00:99|in_sync|True|True|0
t2|02:00:00:00:00:99|in_sync|True|True|0"

transmit through start >/dev/null
until_is stopped flow through transmit
check "what is spread over the LAG comes through the switch" "$(flow through frames_tx frames_rx loss)" \
	'1000|1000|0'
check "half of it over each port" "$(sent t1) $(sent t2)" '500 500'
transmit back start >/dev/null
until_is stopped flow back transmit
check "what the switch sends comes over one port of the LAG" "$(flow back frames_tx frames_rx port_rx)" \
	'200|200|switch'

# one port less while a flow runs
transmit through start >/dev/null
sleep 0.5
admin() { ask /control/state "{\"protocol\": {\"lacp\": {\"admin\": $1}}}" >/dev/null; }
admin '{"state": "down", "lag_member_names": ["t2"]}'
until_is "s1 " enabled
check "the switch leaves a port that is out of sync" "$(enabled)" "s1 "
until_is stopped flow through transmit
check "the flow goes on over the other one" "$(flow through frames_tx)" 1000
check "which has the greater part" "$(($(sent t1) - 500 > 500))" 1
admin '{"state": "up"}'
until_is "s1 s2 " enabled
check "the switch takes it again" "$(enabled)" "s1 s2 "

# a link of our own two ends goes down and comes up
transmit self start >/dev/null
sleep 0.5
ip -n "$namespace" link set v2 down
until_is 'u|up|1' eval 'lags | sed -n 2p'
check "a LAG has a port less when its link is down" "$(lags | sed -n 2,3p)" "$(printf 'u|up|1\nv|up|1')"
ip -n "$namespace" link set v2 up
until_is 'u|up|2' eval 'lags | sed -n 2p'
check "and has it again" "$(lags | sed -n 2p)" 'u|up|2'
until_is stopped flow self transmit
check "the flow has sent all of its frames" "$(flow self frames_tx)" 1501
check "and lost only what the link had when it went down" "$(($(flow self frames_rx) > 1400))" 1

kill -INT "$server"
wait "$server"
check "the server ends at Ctrl-C" $? 0
until_is "" enabled
check "and the switch uses no port of it" "$(enabled)" ""
kill "$recorder"
wait "$recorder" 2>/dev/null
read_by_tshark() { tshark -r "$work/s1.pcap" -T fields -E separator=' ' "$@" 2>/dev/null | sort -u; }
ours='lacp.actor.sysid == 02:00:00:00:00:01'
check "tshark reads our LACPDUs" "$(read_by_tshark -Y "$ours && lacp.actor.state == 0x3f" \
	-e lacp.actor.sys_priority -e lacp.actor.key -e lacp.actor.port -e lacp.actor.port_priority \
	-e lacp.partner.sysid)" '5 7 1 1 02:00:00:00:00:99'
wrong='_ws.malformed || _ws.expert.severity >= 0x600000'
check "and finds none malformed" "$(read_by_tshark -Y "$ours && ($wrong)" -e frame.number)" ''
echo "1..$number"
