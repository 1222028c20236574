#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Replay and capture as commands: judged by tshark, and on a veth pair (through another process:
# replay_testpmd.sh).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
framegauge=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
work=$(mktemp -d)
id=$(mktemp -u XXXXXX)
namespace=fgcapture-$id
finish() {
	ip netns del "$namespace" 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
status=0 results=0

# verdict NAME CONDITION...: one line of the result; after a failure with what was said last
verdict() {
	local name=$1
	shift
	results=$((results + 1))
	if "$@"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tail -n 12 "$work/log" | sed 's/^/# /'
		status=1
	fi
}

# skip NAME WHY: one line of the result, too
skip() {
	results=$((results + 1))
	echo "ok - $1 # SKIP $2"
}

# ends STATUS ARGUMENT...: the program ends so; what it says is in $work/log
ends() {
	local wanted=$1 got=0
	shift
	"$framegauge" "$@" >"$work/log" 2>&1 || got=$?
	[ "$got" -eq "$wanted" ] || { echo "exit status $got, expected $wanted" >>"$work/log"; return 1; }
}

says() {
	grep -qE -- "$1" "$work/log"
}

# refuses PATTERN ARGUMENT...: exit status 2, with this said
refuses() {
	local pattern=$1
	shift
	ends 2 "$@" && says "$pattern"
}

cat >"$work/wire.yaml" <<'PLAN'
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps, time: free}
PLAN
plan=$work/wire.yaml capture=$work/generated.pcap
"$framegauge" script "$here/capture/generate.lua" "$capture" 20 50000 >"$work/generated"
frames=$(awk '{ print $1 }' "$work/generated")


# same NAME ARGUMENT...: all of it arrives as it was sent
same() {
	local name=$1
	shift
	ends 0 replay "$@" --verify && tr -d , <"$work/log" | grep -q "^verify *SAME: all $frames "
	verdict "$name" [ $? -eq 0 ]
}

same "a replay arrives as it was sent" "$plan" "$capture"
same "so does one that is read while it is sent" "$plan" "$capture" --memory 1MB --rate 40%
verdict "which is read then" says "read while it is sent"
verdict "a device that loses every 50th frame is found out" eval '
	ends 1 replay "$plan" "$capture" --verify --set reference_device.loss_every=50 &&
	tr -d , <"$work/log" | grep -q "^verify .*arrived unchanged; $((frames / 50)) lost$"'

# refused, and nothing sent
head -c 1000000 "$capture" >"$work/cut.pcap"
printf '\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\145\0\0\0' >"$work/raw.pcap"
verdict "no file: refused" refuses 'No such file' replay "$plan" "$work/none.pcap"
verdict "a file cut off: refused" refuses 'broken after frame' replay "$plan" "$work/cut.pcap"
verdict "a file that is no capture: refused" refuses 'expected a capture' replay "$plan" "$plan"
verdict "a capture of something else: refused" refuses 'expected one of Ethernet' replay "$plan" \
	"$work/raw.pcap"
verdict "a rate above the line: refused" refuses 'of a line of 1 Gbit/s' replay "$plan" "$capture" \
	--rate 10Mfps
verdict "a speed above the line: refused" refuses 'of a line of 1 Gbit/s' replay "$plan" "$capture" \
	--speed 99x
verdict "a rate without layer: refused" refuses 'does not say its layer' replay "$plan" "$capture" \
	--rate 1Gbps
verdict "a filter that is none: refused" refuses 'filter: udp upd' capture "$plan" --port west --duration 1s \
	--out "$work/none.pcap" --filter 'udp upd'
verdict "a port that is not there: refused" refuses "no port 'south'" capture "$plan" --port south \
	--duration 1s \
	--out "$work/none.pcap"
verdict "a kernel port in a network in use: refused" refuses 'isolated_network' replay "$plan" "$capture" \
	--set ports.east.device=kernel:lo --set ports.west.device=kernel:lo2
verdict "nothing was written" [ ! -e "$work/none.pcap" ]

# tshark's opinion of what is rewritten: all stacks we can build, with all their checksums
sums=(-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE)
if command -v tshark >/dev/null; then
	"$framegauge" script "$here/frames/stacks.lua" "$work/stacks.pcap" >/dev/null
	ends 0 replay "$plan" "$work/stacks.pcap" --rate 1kfps --verify --capture "$work/rewritten.pcapng" \
		--rewrite-source-mac 02:00:00:00:00:0a --rewrite-destination-mac 02:00:00:00:00:0b \
		--rewrite-vlan 77 \
		--rewrite-network 198.18.0.0/15=10.2.0.0/15 --rewrite-network 2001:2::/48=2001:db8:5::/48
	verdict "rewritten frames of every stack arrive" [ $? -eq 0 ]
	read_back() { # FILTER ARGUMENT...: not the announcements of the ports themselves
		tshark -r "$work/rewritten.pcapng" "${sums[@]}" \
			-Y "not eth.dst == ff:ff:ff:ff:ff:ff && ($1)" "${@:2}" \
			2>"$work/log"
	}
	stacks=$(tshark -r "$work/stacks.pcap" 2>/dev/null | wc -l)
	ours='eth.src == 02:00:00:00:00:0a && eth.dst == 02:00:00:00:00:0b'
	ours="$ours && (vlan.id == 77 || ieee8021ad.id == 77)"
	verdict "with the addresses and the VLAN asked for" [ "$(read_back "$ours" | wc -l)" -eq "$stacks" ]
	# the outermost header: what is in a tunnel is not ours to change
	moved() { # FIELD PREFIX
		read_back "$1" -T fields -E occurrence=f -e frame.protocols -e "$1.src" |
			awk -v field="$1" -v wanted="$2" '
			$1 ~ "^eth:ethertype(:(vlan|ieee8021ad):ethertype)*:" field "(:|$)" {
				found++
				right += index($2, wanted) == 1
			}
			END { exit !(found > 0 && right == found) }'
	}
	verdict "with the IPv4 network asked for" moved ip 10.2.
	verdict "with the IPv6 network asked for" moved ipv6 2001:db8:5:
	# 6291456: warnings and errors; bad checksums are errors. A pause frame to a station is one, as it
	# should be
	read_back '!macc && (_ws.malformed || _ws.expert.severity >= 6291456)' >"$work/bad"
	verdict "tshark finds nothing malformed and every checksum right" [ ! -s "$work/bad" ]
else
	skip "rewriting, judged by tshark" "tshark is not installed"
fi

# A veth pair as both ports: one end is heard at the other.
listen_on_veth() {
	cat >"$work/veth.yaml" <<-PLAN
		test: rfc2544
		isolated_network: true
		ports:
		  east: {device: "kernel:fgcap0", ipv4: 198.18.1.2/24}
		  west: {device: "kernel:fgcap1", ipv4: 198.18.1.3/24}
	PLAN
	ip netns add "$namespace" && ip -n "$namespace" link add fgcap0 type veth peer name fgcap1 &&
		ip -n "$namespace" link set fgcap0 up && ip -n "$namespace" link set fgcap1 up || return 1
	ip netns exec "$namespace" "$framegauge" capture "$work/veth.yaml" --port west \
		--out "$work/ring.pcap" \
		--filter 'ether proto 0x88b5' --slice 40 --frames 500 --file-size 10kB --files 2 \
		--duration 60s \
		>"$work/log" 2>&1 &
	local listener=$!
	for _ in {1..600}; do
		! grep -q "that west receives" "$work/log" || break
		sleep 0.1
	done
	ip netns exec "$namespace" /usr/bin/python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("fgcap0", 0))
for i in range(600):
    s.send(b"\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb5" + b"%06d" % i + b"." * 100)
    s.send(b"\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb6" + b"%06d" % i + b"." * 100)
    time.sleep(0.001)'
	wait "$listener"
}
if [ "$(id -u)" -ne 0 ]; then
	skip "capture on a veth pair" "needs root, for a network namespace"
else
	listen_on_veth
	verdict "a capture ends after its frames" [ $? -eq 0 ]
	verdict "and has kept them all" says ' 500 written'
	verdict "in a ring of two files" [ "$(ls "$work" | grep -c '^ring.pcap\.[0-9]*$')" -eq 2 ]
	newest=$(ls -t "$work"/ring.pcap.* | head -n 1)
	verdict "of which the latest has the last frame" grep -aq '000499' "$newest"
fi

# A port that is a file: its frames wait for the one who listens, and what cannot be read is refused.
/usr/bin/python3 - "$work" <<'PYTHON'
import struct, sys

def write(name, frames):
    with open(sys.argv[1] + "/" + name, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for frame in frames:
            out.write(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame)

write("hundred.pcap", [bytes([2, 0, 0, 0, 0, 1] * 2) + b"\x88\xb5" + bytes([i] * 46) for i in range(100)])
write("long.pcap", [bytes(300000)] * 3)
write("short.pcap", [bytes(60), bytes(13)])
PYTHON
for file in hundred long short; do
	cat >"$work/$file.yaml" <<PLAN
test: rfc2544
ports:
  east: {device: 'pcap:$work/$file.pcap', line_rate: 1Gbps}
  west: {device: 'pcap:,$work/nothing.pcap', line_rate: 1Gbps}
PLAN
done
for attempt in 1 2 3; do
	verdict "all frames of a file are captured, attempt $attempt" \
		ends 0 capture "$work/hundred.yaml" --port east --out "$work/out.pcap" --duration 300ms
	verdict "and none is missed" says ' 100 written'
done
verdict "a record too long is refused" ends 4 capture "$work/long.yaml" --port east --out "$work/out.pcap" \
	--duration 300ms
verdict "with its place" says 'ports.east.device: .*long.pcap cannot be read behind frame 0: '
verdict "a frame too short is refused" ends 4 capture "$work/short.yaml" --port east --out "$work/out.pcap" \
	--duration 300ms
verdict "with its number" says \
	'ports.east.device: frame 2 of .*short.pcap has 13 bytes; expected 14 to 65535'

echo "1..$results"
exit "$status"
