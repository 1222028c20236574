#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What Linux makes of test frames, in network namespaces: a host without the port answers with ICMP errors
# that quote them, a router fragments them, VXLAN takes them out of a tunnel, nftables translates their
# addresses. Only the last two leave a frame as it is; what the kernel has done, its own counters say. A
# busy machine makes trials tester-limited, which is no matter here: what is counted is compared, not the
# verdict.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
id=$(mktemp -u XXXXXX)
tester=fgalt-$id dut=fgaltd-$id
work=$(mktemp -d)
trap 'ip netns del "$tester" 2>/dev/null; ip netns del "$dut" 2>/dev/null; rm -rf "$work"' EXIT

for namespace in "$tester" "$dut"; do
	ip netns add "$namespace" || exit 1
	ip netns exec "$namespace" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
		net.ipv6.conf.default.disable_ipv6=1
done
ip netns exec "$dut" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0
# where it is the namespace's own
ip netns exec "$dut" sysctl -qw net.ipv4.icmp_msgs_per_sec=100000 net.ipv4.icmp_msgs_burst=10000 2>/dev/null
for side in 18:east 19:west; do
	ip -n "$tester" link add "${side#*:}" type veth peer name "dut-${side#*:}" netns "$dut"
	ip -n "$tester" link set "${side#*:}" up
	ip -n "$dut" address add "198.${side%:*}.1.1/24" dev "dut-${side#*:}"
	ip -n "$dut" link set "dut-${side#*:}" up
	# frames as they would be on a line: whole, and with their checksums
	ip netns exec "$dut" ethtool -K "dut-${side#*:}" tx off tso off gso off gro off >/dev/null
done

# run NAME [OPTION...]: the plan on standard input, with its result in $work/NAME
run() {
	cat >"$work/$1.yaml"
	ip netns exec "$tester" "$program" run "$work/$1.yaml" "${@:2}" --out "$work/$1" >"$work/$1.log" 2>&1
	echo $? >"$work/$1.status"
}
# counter NAME: of the device's kernel, since it began
counter() {
	ip netns exec "$dut" nstat -asz "$1" | awk -v name="$1" '$1 == name { print $2 }'
}
# ports COUNT: what the plans have in common
ports() {
	cat <<END
isolated_network: true
host: {max_lag: 200ms}
ports:
  east: {device: 'kernel:east', ipv4: 198.18.1.2/24, gateway: 198.18.1.1, line_rate: 100Mbps}
END
	[ "$1" = 1 ] || cat <<END
  west: {device: 'kernel:west', ipv4: 198.19.1.2/24, gateway: 198.19.1.1, line_rate: 100Mbps}
END
}
# skip NAME WHY
skip() {
	results=$((results + 1))
	echo "ok - $1 # SKIP $2"
}
# expect NAME WHAT PYTHON [COUNT...]: that holds of the result and its text
results=0
expect() {
	results=$((results + 1))
	/usr/bin/python3 - "$work/$1" "$@" <<'END'
import json, os, sys

path, name, what, condition = sys.argv[1:5]
counts = [int(n) for n in sys.argv[5:]]
result = json.load(open(path + "/result.json")) if os.path.exists(path + "/result.json") else {}
said = open(path + ".log").read()
page = open(path + "/report.html").read() if os.path.exists(path + "/report.html") else ""
status, trials = int(open(path + ".status").read()), result.get("trials", [])
rows = {row["stream"]: row for row in result.get("results", {}).get("traffic", [])}
try:
    holds, why = bool(eval(condition)), condition
except (KeyError, IndexError, TypeError) as error:
    holds, why = False, "%s: %r" % (condition, error)
print(("ok - %s: %s" if holds else "not ok - %s: %s") % (name, what))
if not holds:
    print("# " + why, counts, status, *said.splitlines()[-25:], sep="\n# ")
END
}

before=$(counter IcmpOutDestUnreachs)
{ echo "test: rfc2544"; ports 1; cat <<END; } | run quoted
rfc2544:
  topology: loopback
  tests: [throughput]
  frame_sizes: [128]
  learning_wait: 100ms
  drain: 500ms
  settle: 50ms
  throughput: {max: 500fps, resolution: 50%, trial: 1s, search_trial: 500ms}
END
errors=$(($(counter IcmpOutDestUnreachs) - before))
expect quoted "a closed port reflects nothing" 'all(t["rx"] == 0 and t["tx"] > 0 for t in trials) and trials'
expect quoted "no throughput is found" 'all(not r["throughput_fps"] for r in result["results"]["throughput"])'
expect quoted "each of the kernel's ICMP errors is counted" \
	'sum(t["altered"]["quoted"] for t in trials) == counts[0]' "$errors"
expect quoted "the console says so" '"quoted in ICMP errors" in said'
expect quoted "the report says so" '"quoted in ICMP errors" in page'

{ echo "test: y1564"; ports 1; cat <<END; } | run service
y1564:
  topology: loopback
  learning_wait: 100ms
  drain: 500ms
  settle: 50ms
  tests: [configuration]
  services:
    data: {frame_size: 256, cir: 500kbps, cbs: 20KiB, acceptance: {flr: 0.1%, ftd: 1s, fdv: 1s, avail: 99.9%}}
  configuration: {trial: 1s, tests: [step-load]}
END
expect service "a service that reflects nothing does not pass" \
	'result["outcome"] != "pass" and all(t["rx"] == 0 for t in trials) and status != 0'
expect service "nor has it a rate" \
	'all(row["received_ir_bps"] == 0 for service in result["results"]["y1564"]["services"]
		for row in service["configuration"])'

ip -n "$dut" link set dut-west mtu 1400
before=$(counter IpFragOKs)
{ echo "test: traffic"; ports 2; cat <<END; } | run mtu
streams:
  whole: {size: 1400, rate: 200fps}
  cut: {size: 1518, rate: 200fps, frame: [ethernet, {ipv4: {flags: none}}, udp]}
  df: {size: 1518, rate: 200fps}
traffic: {duration: 1s, learning_wait: 100ms, drain: 500ms}
END
cut=$(($(counter IpFragOKs) - before))
expect mtu "what fits comes through" 'rows["whole"]["rx"] == rows["whole"]["tx"] > 0'
if grep -q AF_XDP "$work/mtu/result.json"; then # af_packet has the kernel put fragments together again
	expect mtu "a frame in two fragments is lost" \
		'(rows["cut"]["rx"] == 0 and
		rows["cut"]["altered"]["fragments"] == counts[0] == rows["cut"]["tx"])' "$cut"
	expect mtu "and has no rate" \
		'rows["cut"]["received_l2_mbps"] == 0 < rows["whole"]["received_l2_mbps"]'
	expect mtu "the console says so" \
		'"by their last fragment only" in said and "Lost or not as sent" in said'
else
	skip mtu "the ports are not AF_XDP's"
fi
expect mtu "by default it must not be fragmented" \
	'rows["df"]["rx"] == 0 and "fragments" not in rows["df"].get("altered", {})'
{ echo "test: rfc2544"; ports 2; cat <<END; } | run router
rfc2544:
  tests: [throughput]
  bidirectional: false
  frame_sizes: [1518]
  learning_wait: 100ms
  drain: 500ms
  settle: 50ms
  throughput: {max: 200fps, resolution: 50%, trial: 1s, search_trial: 500ms}
END
expect router "no throughput beyond the MTU" 'trials and all(t["rx"] == 0 for t in trials)'
ip -n "$dut" link set dut-west mtu 1500

if ip netns exec "$dut" nft -f - 2>"$work/nft.log" <<'END'
table ip nat {
	chain post { type nat hook postrouting priority 100; oifname "dut-west" masquerade random; }
}
END
then
	{ echo "test: traffic"; ports 2; cat <<END; } | run nat
streams:
  out: {size: 256, rate: 200fps, frame: [ethernet, ipv4, {udp: {source: 20000-20009, destination: 9000}}]}
traffic: {duration: 1s, learning_wait: 100ms, drain: 500ms}
END
	expect nat "translated frames are received" \
		'rows["out"]["rx"] == rows["out"]["tx"] > 0 and "altered" not in rows["out"]'
	expect nat "the translation is told" \
		'(rows["out"]["translated"]["source"].startswith("198.19.1.1:") and
		"destination" not in rows["out"]["translated"])'
	expect nat "on the console, too" '"translated on the way (NAT)" in said'
	ip netns exec "$dut" nft flush ruleset
else
	skip nat "nftables cannot masquerade here: $(head -c 80 "$work/nft.log" | tr '\n' ' ')"
fi

ip -n "$dut" link add bridge type bridge stp_state 0 mcast_snooping 0 forward_delay 0
ip -n "$dut" link set bridge up
if ip -n "$dut" link add vx0 type vxlan id 42 dstport 4789 local 198.18.1.1 2>/dev/null; then
	ip -n "$dut" address flush dev dut-west
	for link in vx0 dut-west; do
		ip -n "$dut" link set "$link" master bridge up
	done
	mac=$(ip netns exec "$dut" cat /sys/class/net/dut-east/address)
	{ echo "test: traffic"; ports 2 | sed 's/, gateway: 198.19.1.1//; s/, gateway: 198.18.1.1//'; cat \
		<<END; } | run vxlan
streams:
  tunnel:
    frame: [{ethernet: {destination: "$mac"}}, {ipv4: {destination: 198.18.1.1}},
      {udp: {source: 33333, destination: 4789}}, {vxlan: 42}, {ethernet: {source: "02:00:00:00:00:09"}},
      {ipv4: {source: 198.19.1.9, destination: 198.19.1.2}}, udp]
    size: 256
    rate: 200fps
traffic: {duration: 1s, learning_wait: 100ms, drain: 500ms}
END
	expect vxlan "frames that came out of their tunnel are received" \
		'rows["tunnel"]["rx"] == rows["tunnel"]["tx"] > 0 and "altered" not in rows["tunnel"]'
	expect vxlan "as long as they arrived" \
		'abs(rows["tunnel"]["received_l2_mbps"] - rows["tunnel"]["rx"] * (256 - 50) * 8 / 1e6) < 1e-9'
else
	skip vxlan "this kernel has no VXLAN"
fi
echo "1..$results"
