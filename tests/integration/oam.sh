#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Probes and replies of STAMP, TWAMP Light and Y.1731 as they pass the virtual wire: tshark must find what
# they are and nothing malformed, and scapy must make the same bytes from the fields. Over IPv4 and IPv6,
# with frames of 128 bytes and the smallest ones.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
command -v tshark >/dev/null || { echo "1..0 # SKIP tshark is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME KEY ADDRESS ADDRESS SMALLEST: sessions between two ports, and what these received
run() {
	cat >"$work/$1.yaml" <<END
test: oam
ports:
  east: {device: wire0, $2: $3}
  west: {device: wire1, $2: $4}
reference_device: {rate: 1Gbps, latency: 20us, time: free}
capture: {west: {file: '$work/$1-there.pcap'}, east: {file: '$work/$1-back.pcap'}}
oam: {tests: [stamp, twamp_light, loopback, delay, synthetic_loss, loss], frame_sizes: [$5, 128],
  count: 4, between: 2, interval: 1ms, drain: 1ms}
END
	"$program" run "$work/$1.yaml" --out "$work/$1" >"$work/$1.log" 2>&1 ||
		cat "$work/$1.log" >>"$work/wrong"
	for way in there back; do
		tshark -r "$work/$1-$way.pcap" -d udp.port==862,twamp.test -o udp.check_checksum:TRUE \
			-o ip.check_checksum:TRUE -Y '_ws.malformed || _ws.expert.severity >= 6291456' \
			2>/dev/null >>"$work/wrong"
		tshark -r "$work/$1-$way.pcap" -d udp.port==862,twamp.test -T fields -e _ws.col.Protocol \
			-e cfm.opcode 2>/dev/null | grep -v '^ARP\|^ICMPv6' | sort | uniq -c |
			sed "s/^ */$1 $way /; s/\t/ /g; s/ *$//"
	done >>"$work/found"
}

: >"$work/wrong"
run four ipv4 198.18.1.2/24 198.18.1.3/24 90
run six ipv6 2001:2::2/64 2001:2::3/64 110
for ip in four six; do
	for way in there:3:47:55:43 back:2:46:54:42; do
		IFS=: read -r name opcodes <<<"$way"
		for opcode in ${opcodes//:/ }; do
			echo "$ip $name 8 CFM $opcode"
		done
		echo "$ip $name 16 TWAMP-Test"
		echo "$ip $name 12 0x88b5"
	done
done | sort >"$work/expected"
sort "$work/found" | diff "$work/expected" - >>"$work/wrong"
if [ -s "$work/wrong" ]; then
	echo "not ok - tshark reads what is sent"
	sed 's/^/# /' "$work/wrong"
else
	echo "ok - tshark reads what is sent"
fi

/usr/bin/python3 - "$work" 2>"$work/errors" <<'EOF' ||
import sys

try:
    from scapy.all import UDP, rdpcap
    from scapy.contrib import stamp
except ImportError:
    print("ok - scapy makes the same octets # SKIP scapy is not installed")
    sys.exit()

TLV, SENDER = stamp.STAMPTestTLV, stamp.STAMPSessionSenderTestUnauthenticated
REFLECTOR = stamp.STAMPSessionReflectorTestUnauthenticated
SYNCHRONISED = {"S": 1, "Z": 0, "scale": 0, "multiplier": 1}


def padding(size, flags):
    left = size - 44 - 4
    return [TLV(flags=flags, type=1, len=left, value=b"\0" * left)] if left >= 0 else []


def made(request, reply, number):
    """Both as scapy makes them; timestamps are left out."""
    ssid, seq = int.from_bytes(request[14:16], "big"), int.from_bytes(request[:4], "big")
    estimate = stamp.ErrorEstimate(**SYNCHRONISED)
    yield request, bytes(SENDER(seq=seq, ts=0, ssid=ssid, err_estimate=estimate,
                                tlv_objects=padding(len(request), 0x80))), [4]
    yield reply, bytes(REFLECTOR(seq=number, ts=0, ssid=ssid, ts_rx=0, seq_sender=seq, ts_sender=0,
                                 err_estimate=estimate, err_estimate_sender=estimate, ttl_sender=255,
                                 tlv_objects=padding(len(reply), 0))), [4, 16, 28]


def contents(path):
    """Of each session of STAMP, which come first, the datagrams."""
    found = {}
    for frame in rdpcap(path):
        if UDP in frame and 862 in (frame[UDP].sport, frame[UDP].dport):
            content = bytes(frame[UDP])[8:]
            found.setdefault(content[14:16], []).append(content)
    return {ssid: list_ for ssid, list_ in found.items() if ssid != b"\0\0"}


wrong, compared = [], 0
for ip in "four", "six":
    there, back = (contents(f"{sys.argv[1]}/{ip}-{way}.pcap") for way in ("there", "back"))
    for ssid in there:
        for number, (request, reply) in enumerate(zip(there[ssid], back[ssid])):
            for ours, theirs, times in made(request, reply, number):
                for at in times:
                    ours, theirs = (b[:at] + bytes(8) + b[at + 8:] for b in (ours, theirs))
                compared += 1
                if ours != theirs:
                    wrong.append(f"# {ip}: {ours.hex()}\n#   not {theirs.hex()}")
print("\n".join(["not ok - scapy makes the same octets"] + wrong) if wrong or compared != 2 * 2 * 2 * 4
      else "ok - scapy makes the same octets")
EOF
	{ echo "not ok - scapy"; sed 's/^/# /' "$work/errors"; }
echo 1..2
