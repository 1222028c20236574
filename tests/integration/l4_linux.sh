#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lib/tcp against Linux's own TCP over AF_PACKET on veth: both roles, IPv4 and IPv6, every byte checked on
# both sides. Two network namespaces of its own, which are gone afterwards.
#
#   l4_linux.sh [offload]   with "offload" the veth cuts and joins segments for both sides
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
mode=${1:-af_packet}
. tests/integration/linux_host.bash
linux_host l4 "$mode"
ip netns exec "$linux" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad
ip -n "$linux" address add 2001:2:0:8000::1/64 dev peer-west nodad

peer=$PWD/tests/integration/l4/peer.py
on_linux "$work/server.log" /usr/bin/python3 "$peer" serve "$work/served"
server=${running[-1]}
appears ready "$work/server.log"
nginx=
if have_nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null); then
	/usr/bin/python3 "$peer" pages "$work/www/octets"
	on_linux "$work/nginx.log" "$have_nginx" -p "$work" -c "$PWD/tests/integration/l4/nginx.conf" \
		-e stderr
	nginx=${running[-1]}
fi
# conversations with curl, wget, Python and a web server, as an expert sees them; where the veth fills in the
# checksums he would not see them
captures=()
if [ "$mode" != offload ] && command -v tshark >/dev/null; then
	capture_both "port 5080 or port 6080 or port 7080"
fi
# over each IP version linux.lua checks 9 things, each iperf3 in 3 ways, and nginx in 14 ways or not at all;
# three are checked here, or two
[ "$mode" = offload ] && here=2 || here=3
IFS=: read -ra iperf3 <<<"${IPERF3:-iperf3}"
echo "1..$((2 * (9 + 3 * ${#iperf3[@]} + ${nginx:+13+}1) + here))"
ip netns exec "$tester" "$program" script tests/integration/l4/linux.lua "$work" "$linux" "$peer" "$mode" \
	$nginx 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok - linux.lua came to its end"
else
	echo "not ok - linux.lua ended with status $status"
fi
kill "$server"
wait "$server"
if /usr/bin/python3 -c '
import json, sys
served = json.load(open(sys.argv[1]))
print("#", served)
sys.exit(served["wrong"] + served["unfinished"] > 0 or served["octets"] == 0)' "$work/served"; then
	echo "ok - Linux's server got every octet as it was sent, and every connection was closed"
else
	echo "not ok - what Linux's server got"
fi

[ "$mode" != offload ] || exit 0
[ ${#captures[@]} -gt 0 ] || {
	echo "ok - tshark's expert has nothing to say # SKIP tshark is missing"
	exit 0
}
end_captures
# our bytes are random, and some look like anything to somebody who guesses
guesses=() reading=()
while read -r layer name _; do
	[ "$layer" != tcp ] || guesses+=(--disable-protocol "$name")
done < <(tshark -G heuristic-decodes 2>/dev/null)
for side in east west; do
	# as many as are asked for below: reading all takes as long as all the rest
	tshark -l -r "$work/$side.pcapng" -Y http 2>/dev/null | head -n 40 >"$work/$side.http" &
	reading+=($!)
	# what only says that the capture has missed a frame, or that something came twice, is no fault of
	# ours
	tshark -r "$work/$side.pcapng" "${guesses[@]}" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE \
		-Y "(ip.src in {198.18.1.2, 198.19.1.2} || ipv6.src in {2001:2:0:1::2, 2001:2:0:8000::2}) &&
			(_ws.malformed || _ws.expert.severity >= 0x600000)" \
		-T fields -e tcp.stream -e frame.number -e _ws.expert.message 2>/dev/null |
		grep -vE "segment\(?s?\)? not captured|segment that wasn't captured|D-SACK Sequence" \
			>"$work/$side.expert" &
	reading+=($!)
done
wait "${reading[@]}"
frames=$(cat "$work/east.http" "$work/west.http" | wc -l)
cat "$work/east.expert" "$work/west.expert" >"$work/expert"
if [ "$frames" -ge 40 ] && [ ! -s "$work/expert" ]; then
	echo "ok - tshark's expert has nothing to say of our side, in at least $frames frames of HTTP"
else
	echo "not ok - tshark's expert, $frames frames of HTTP:"
	head -n 20 "$work/expert"
fi
