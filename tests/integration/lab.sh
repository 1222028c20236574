#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The labs of tools/lab and their plans: every device carries a small load, the limits of the rate limiter and
# of the stateful gateway are found, a switch learns what is behind its ports, and nothing is left behind. A
# busy machine makes trials tester-limited, which is an honest answer but proves nothing about the device:
# three attempts, then a skip.
set -uo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
exec 9>/run/framegauge-lab-tests.lock && flock 9 # tests of another tree wait for the lab to be gone
if [ "$(tools/lab status)" != "no lab is up" ]; then
	echo "1..0 # SKIP a lab is up; tools/lab down takes it away"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure LAB [OPTION OF framegauge run...]: sets `fps` and `verdict` from the only row of the result
measure() {
	local attempt
	for attempt in 1 2 3; do
		rm -rf "$work/run"
		tools/lab run "$1" --quick --out "$work/run" "${@:2}" >"$work/log" 2>&1
		fps='' verdict=''
		read -r fps verdict < <(/usr/bin/python3 -c '
import json, sys
results = json.load(open(sys.argv[1]))["results"]
row = (results.get("throughput") or results["rfc9411"]["concurrent"])[0]
# a row that could not be measured has no figure, only why
print(row.get("throughput_fps") or row.get("concurrent_mean") or 0, row["validity"])
' "$work/run/result.json" 2>>"$work/log")
		[ "$verdict" != valid ] || return 0
	done
	return 1
}

# check NAME CONDITION: one line of the result; a failure with what was measured and the end of the run's
# output
check() {
	if [ -n "$fps" ] && awk -v fps="$fps" "BEGIN { exit !($2) }"; then
		echo "ok - $1"
	else
		echo "not ok - $1: ${fps:-no} fps, ${verdict:-no result}"
		tail -n 15 "$work/log" | sed 's/^/# /'
	fi
}

# confirm LAB NAME CONDITION [OPTION OF framegauge run...]
confirm() {
	if measure "$1" "${@:4}"; then
		check "$2" "$3"
	elif [ "$verdict" = tester-limited ]; then
		echo "ok - $2 # SKIP this machine is too busy: tester-limited three times"
	else
		check "$2" 0
	fi
}

small=(--set 'rfc2544.frame_sizes=128' --set 'rfc2544.throughput.max=2kfps')
for lab in bridge router router6 testpmd; do
	confirm "$lab" "$lab carries 2 kfps" 'fps == 2000' "${small[@]}"
done

if [ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ]; then
	confirm ovs "ovs carries 2 kfps" 'fps == 2000' "${small[@]}"
	# what the switch has learned, however late the tester was
	{
		tools/lab up ovs8
		ip netns exec fgtester "${FRAMEGAUGE:-build/app/framegauge}" run configs/lab-ovs8.yaml \
			--quick --set rfc2889.tests=unidirectional --set rfc2889.frame_sizes=128 \
			--set rfc2889.max=1% --out "$work/ovs8"
	} >"$work/log" 2>&1
	ip -n fgtester -o link show type veth | sed -E 's/.*link\/ether ([0-9a-f:]+).*/\1/' |
		sort >"$work/macs"
	ovs-appctl -t "$(echo /run/framegauge-lab/ovs-vswitchd.*.ctl)" fdb/show lab |
		awk 'NR > 1 { print $3 }' | sort >"$work/fdb"
	tools/lab down
	fps=0 verdict=
	[ "$(wc -l <"$work/macs")" = 8 ] && cmp -s "$work/macs" "$work/fdb" && known=1 || known=0
	check "ovs8 knows the addresses of all eight ports, and no other" "$known"
else
	echo "ok - ovs # SKIP needs Open vSwitch with DPDK"
	echo "ok - ovs8 # SKIP needs Open vSwitch with DPDK"
fi

# 20 Mbit/s of frames without FCS, and in trials of a second what the two buffers of 64 KiB hold besides. In
# steps of 117 frames: closer to the limit, frames are lost that a tester sent 4 ms late and close together
confirm policer "policer's limit is found" 'fps > 4921 * 0.97 && fps < 4921 * 1.07' \
	--set 'rfc2544.frame_sizes=512' --set rfc2544.throughput.resolution=0.5% \
	--set rfc2544.throughput.search_trial=1s

# connections, not frames: what the kernel lets through, and no more. A tester that the host holds up for 5 %
# of a trial is limited by that: of a second these are 50 ms, which one burst of other work seldom takes
confirm nat "nat's table is full at 500 connections" 'fps > 500 * 0.95 && fps <= 500' \
	--set 'rfc9411.target={concurrent: 600}' --set rfc9411.ramp_rate=1000 --set rfc9411.resolution=5% \
	--set rfc9411.sustain=1s --set rfc9411.search_sustain=1s --set rfc9411.drain=300ms

fps=0 verdict=
(tools/lab up bridge && tools/lab up bridge) >"$work/log" 2>&1
masks=$(ip netns exec fgdut sh -c 'cat /sys/class/net/dut-*/queues/rx-*/rps_cpus')
check "the device takes up frames on a processor of its own" \
	"$([[ $(tr -d '0,\n' <<<"$masks") =~ ^([1248])\1$ ]] && echo 1 || echo 0)"
tools/lab down >>"$work/log" 2>&1
check "up twice and down leaves nothing" "$([ ! -e /run/netns/fgtester ] && [ ! -e /run/netns/fgdut ] &&
	[ ! -e /run/framegauge-lab ] && echo 1 || echo 0)"
echo 1..10
