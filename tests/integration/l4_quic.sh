#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# QUIC against other programs over AF_PACKET on veth: our client asks aioquic and gtlsserver, our servers are
# asked by aioquic and gtlsclient, and tshark decrypts our client's part by our key log. aioquic is of the
# Python package index. Two network namespaces of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/python_index.bash
if ! from_index aioquic aioquic 'aioquic>=1.2,<2'; then
	echo "1..0 # SKIP aioquic cannot be had from the Python package index"
	exit 0
fi
. tests/integration/linux_host.bash
linux_host quic
peer=$PWD/tests/integration/l4/quic_peer.py
[[ $python = /* ]] || python=$PWD/$python

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" \
	-out "$work/cert.pem" -subj /CN=fg.test -addext subjectAltName=DNS:fg.test -days 3650 2>/dev/null
others=(aioquic)
on_linux "$work/server.log" "$python" "$peer" serve "$work"
server=${running[-1]}
appears ready "$work/server.log"
if command -v gtlsserver >/dev/null; then
	for how in 7460 '7461 -V'; do
		read -r port options <<<"$how"
		on_linux "$work/gtls$port.log" gtlsserver -q ${options:+"$options"} -d "$work" 198.18.1.1 \
			"$port" "$work/key.pem" "$work/cert.pem"
	done
	others+=(gtlsserver)
fi
if command -v gtlsclient >/dev/null; then
	others+=(gtlsclient)
fi
captures=()
! command -v tshark >/dev/null || capture_both udp

echo 1..46
ask=(ip netns exec "$linux" tests/integration/l4/quic_peers.sh "$work" "$python" "$peer")
ip netns exec "$tester" "$program" script tests/integration/l4/quic.lua "$work" "${ask[*]@Q}" "${others[@]}" 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok - quic.lua came to its end"
else
	echo "not ok - quic.lua ended with status $status"
fi
kill "$server"
wait "$server"
sed 's/^/# /' "$work/server.log"
if /usr/bin/python3 -c '
import json, sys
served = json.load(open(sys.argv[1]))
print("#", served)
sys.exit(served["wrong"] + served["unfinished"] > 0 or served["connections"] != 30)' "$work/served"; then
	echo "ok - aioquic's servers got every octet as it was sent, and every stream ended"
else
	echo "not ok - what aioquic's servers got"
fi

[ ${#captures[@]} -gt 0 ] || {
	echo "ok - tshark decrypts all by our key log # SKIP tshark is missing"
	exit 0
}
end_captures
decrypted=(tshark -r "$work/east.pcapng" -o "tls.keylog_file:$work/keys")
# frames of streams, each in a line of its own
"${decrypted[@]}" -Y 'udp.port in {7450..7456} && quic.stream.stream_id' -T fields \
	-e quic.stream.stream_id 2>/dev/null | tr ',' '\n' >"$work/streams"
"${decrypted[@]}" -Y 'quic && ip.src == 198.18.1.2 && (_ws.malformed || quic.decryption_failed)' \
	2>/dev/null >"$work/malformed"
if [ "$(wc -l <"$work/streams")" -ge 1000 ] && [ ! -s "$work/malformed" ]; then
	echo "ok - tshark decrypts $(wc -l <"$work/streams") STREAM frames by our key log, none is malformed"
else
	echo "not ok - tshark decrypted $(wc -l <"$work/streams") STREAM frames; malformed:"
	head -n 20 "$work/malformed"
fi
