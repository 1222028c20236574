#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HTTP/3 against other programs over AF_PACKET on veth: our client asks aioquic and gtlsserver, our servers
# are asked by aioquic and gtlsclient, and tshark decrypts all of it by our key log. aioquic is of the Python
# package index. Two network namespaces of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/python_index.bash
if ! from_index aioquic aioquic 'aioquic>=1.2,<2'; then
	echo "1..0 # SKIP aioquic cannot be had from the Python package index"
	exit 0
fi
. tests/integration/linux_host.bash
linux_host http3
here=$PWD/tests/integration/l4
[[ $python = /* ]] || python=$PWD/$python

/usr/bin/python3 "$here/peer.py" pages "$work/www/octets"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" \
	-out "$work/cert.pem" -subj /CN=fg.test -addext subjectAltName=DNS:fg.test -days 3650 2>/dev/null
others=(aioquic)
on_linux "$work/server.log" "$python" "$here/http3_peer.py" serve "$work"
server=${running[-1]}
appears ready "$work/server.log"
if command -v gtlsserver >/dev/null; then
	on_linux "$work/gtlsserver.log" gtlsserver -q -d "$work/www" 198.18.1.1 7480 "$work/key.pem" \
		"$work/cert.pem"
	others+=(gtlsserver)
fi
! command -v gtlsclient >/dev/null || others+=(gtlsclient)
captures=()
! command -v tshark >/dev/null || capture_both udp

echo 1..55
ask=(ip netns exec "$linux" "$here/http3_peers.sh" "$work" "$python" "$here/http3_peer.py")
ip netns exec "$tester" "$program" script "$here/http3.lua" "$work" "${ask[*]@Q}" "${others[@]}" 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok - http3.lua came to its end"
else
	echo "not ok - http3.lua ended with status $status"
fi
kill "$server"
wait "$server"
sed 's/^/# /' "$work/server.log"
if /usr/bin/python3 -c '
import json, sys
served = json.load(open(sys.argv[1]))
print("#", served)
sys.exit(served["wrong"] + served["unfinished"] > 0 or served["requests"] < 700)' "$work/served"; then
	echo "ok - aioquic's server got every octet as it was sent"
else
	echo "not ok - what aioquic's server got"
fi

[ ${#captures[@]} -gt 0 ] || {
	echo "ok - tshark reads requests of our client # SKIP tshark is missing"
	echo "ok - tshark reads responses of our server # SKIP tshark is missing"
	echo "ok - tshark finds nothing of ours malformed # SKIP tshark is missing"
	echo "ok - tshark sees marks of ours where they are asked for, and nowhere else # SKIP tshark is missing"
	exit 0
}
end_captures
# what tshark reads of ours: port, frames of HTTP/3, faults
for side in east west; do
	tshark -r "$work/$side.pcapng" -o "tls.keylog_file:$work/keys" -E separator=';' -T fields \
		-Y 'quic && ip.src in {198.18.1.2, 198.19.1.2}' -e udp.srcport -e http3.frame_type \
		-e _ws.malformed -e quic.decryption_failed 2>/dev/null >"$work/$side.read"
done
for what in "east our client" "west our servers"; do
	read -r side who <<<"$what"
	frames=$(cut -d ';' -f 2 "$work/$side.read" | tr ',' '\n' | grep -c .)
	if [ "$frames" -ge 700 ]; then
		echo "ok - tshark reads $frames frames of $who"
	else
		echo "not ok - tshark reads $frames frames of $who"
	fi
done
# but for a server's after Retry: aioquic's second ClientHello is another one, which tshark 4.0 takes for the
# first come again, so that it does not find the secrets
if grep -hv '^6471;' "$work"/{east,west}.read | grep -v ';;$' >"$work/malformed"; then
	echo "not ok - tshark finds malformed:"
	head -n 20 "$work/malformed"
else
	echo "ok - tshark finds nothing of ours malformed"
fi

# ports of ours and theirs, and ECT(0) or not, of all that we have sent
for side in east west; do
	tshark -r "$work/$side.pcapng" -T fields -Y 'ip.src in {198.18.1.2, 198.19.1.2}' -e udp.srcport \
		-e udp.dstport -e ip.dsfield.ecn 2>/dev/null
done | awk '$1 == 6473 || $2 == 7480 && $3 != 0 { marked += $3 == 2; next } $3 != 0 { wrong++ }
	END { print marked + 0, wrong + 0 }' >"$work/marks"
read -r marked wrong <"$work/marks"
if [ "$wrong" -eq 0 ] && { [ "$marked" -ge 200 ] || [ ${#others[@]} -lt 3 ]; }; then
	echo "ok - tshark sees $marked marks of ours where they are asked for, and nowhere else"
else
	echo "not ok - tshark sees $marked marks of ours, and $wrong where none was asked for"
fi
