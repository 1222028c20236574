#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Frames of many protocol stacks, read by tshark with our dissector: it must find the same protocols and signatures,
# nothing malformed and no checksum that is wrong.
here=$(dirname "$0")
framegauge=${FRAMEGAUGE:-build/app/framegauge}

command -v tshark >/dev/null || { echo "tshark is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

chmod 755 "$folder"
cp "$here/../../tools/wireshark/framegauge.lua" "$folder"

# newer versions run no Lua for root
unprivileged=
[ "$(id -u)" -ne 0 ] || unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$folder"

read_capture() {
	$unprivileged tshark -X lua_script:"$folder/framegauge.lua" -r "$folder/stacks.pcap" \
		-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-o sctp.checksum:crc32c "$@" 2>"$folder/errors"
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
read_capture -T fields -e frame.number -e frame.protocols -e framegauge.stream -e framegauge.sequence \
	-e framegauge.time >"$folder/found"
diff "$folder/wanted" "$folder/found" >"$folder/difference"
verdict "tshark finds protocols and signatures of $(wc -l <"$folder/wanted") stacks"
# 6291456: warnings and errors
read_capture -Y '_ws.malformed || _ws.expert.severity >= 6291456' >"$folder/difference"
verdict "tshark finds nothing malformed and every checksum right"

# protocol by protocol and modifier by modifier, by tshark and by scapy
for python in python3 /usr/bin/python3; do
	"$python" -c 'import scapy' 2>/dev/null && break
done
"$python" -B "$here/frames/check.py" "$framegauge" "$folder" tshark 2>"$folder/errors" || { cat "$folder/errors"; status=1; }
exit $status
