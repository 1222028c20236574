#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Frames of many protocol stacks, read by tshark with our dissector: it must find the same protocols and
# signatures, nothing malformed and no checksum that is wrong.
here=$(dirname "$0")
framegauge=${FRAMEGAUGE:-build/app/framegauge}

command -v tshark >/dev/null || { echo "1..0 # SKIP tshark is not installed"; exit 0; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

chmod 755 "$folder"
cp "$here/../../tools/wireshark/framegauge.lua" "$folder"

# newer versions run no Lua for root
unprivileged=
[ "$(id -u)" -ne 0 ] || unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$folder"

read_capture() {
	capture=$1
	shift
	$unprivileged tshark -X lua_script:"$folder/framegauge.lua" -r "$folder/$capture.pcap" \
		-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-o sctp.checksum:crc-32c \
		-o ip.defragment:FALSE -o ipv6.defragment:FALSE \
		-o arp.detect_duplicate_ips:FALSE "$@" 2>"$folder/errors"
}

# Warnings and errors are of a severity from 6291456 on.
read_wrong() {
	read_capture "$1" -Y '_ws.malformed || _ws.expert.severity >= 6291456' \
		-T fields -e frame.number -e _ws.expert.message
}

status=0
verdict() {
	if [ -s "$folder/difference" ]; then
		echo "not ok - $1"
		sed 's/^/# /' "$folder/difference"
		status=1
	else
		echo "ok - $1"
	fi
}

"$framegauge" script "$here/frames/stacks.lua" "$folder/stacks.pcap" >"$folder/wanted" || exit 1
read_capture stacks -T fields -e frame.number -e frame.protocols -e framegauge.trial.stream \
	-e framegauge.sequence \
	-e framegauge.time >"$folder/found"
# Newer versions leave out of the list which IP follows MPLS, and then miss it before hop-by-hop options, too.
hides_ip=
! grep -q ':mpls:udp' "$folder/found" || hides_ip=yes
shown() {
	if [ -n "$hides_ip" ]; then
		sed -E ':a; s/:mpls:ip(v6)?(:|\t)/:MPLS\2/; ta; s/(:MPLS|:mpls)+/:mpls/g'
	else
		cat
	fi
}
shown <"$folder/wanted" | diff - "$folder/found" >"$folder/difference"
verdict "tshark finds protocols and signatures of $(wc -l <"$folder/wanted") stacks"
read_wrong stacks >"$folder/difference"
verdict "tshark finds nothing malformed and every checksum right"

# stacks made at random from the tables
count=1000
"$framegauge" script "$here/frames/random.lua" "$folder/random.pcap" $count 1 >"$folder/stacks" \
	2>"$folder/difference" || { tail -1 "$folder/stacks"; status=1; }
verdict "we find the layers of $count random stacks"
read_wrong random >"$folder/wrong"
while read -r number message; do
	stack=$(sed -n "${number}p" "$folder/stacks")
	case "$hides_ip $message$stack" in
	yes*"Hop-by-Hop extension header must appear immediately"*"mpls ipv6 hop_by_hop"*) ;;
	*) echo "$message: $stack" ;;
	esac
done <"$folder/wrong" >"$folder/difference"
verdict "tshark finds nothing malformed in random stacks, and every checksum right"
# of tshark's words those for our layers, and the stream of the signature
read_capture random -T fields -e frame.number -e frame.protocols -e framegauge.trial.stream |
	sed -E ':a; s/:(ethertype|data|echo|pwethheuristic|framegauge|lldp)(:|\t)/\2/; ta
		s/(:ieee8021ad)+/:ieee8021ad/g; s/(:mpls)+/:mpls/g' >"$folder/found"
sed -E 's/\t[^\t]*$/\t1/' "$folder/stacks" | shown | diff - "$folder/found" >"$folder/difference"
verdict "tshark finds the layers of $count random stacks"

# protocol by protocol and modifier by modifier, by tshark and by scapy
/usr/bin/python3 -B "$here/frames/check.py" "$framegauge" "$folder" \
	$unprivileged tshark -X lua_script:"$folder/framegauge.lua" >"$folder/cases" 2>"$folder/errors" ||
	{ cat "$folder/errors"; status=1; }
# without their numbers, which begin again
sed -E '/^1\.\./d; s/^(ok|not ok) [0-9]+/\1/' "$folder/cases"
echo "1..$((5 + $(sed -n 's/^1\.\.//p' "$folder/cases")))" # with those above
exit $status
