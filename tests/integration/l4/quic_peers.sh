#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Other programs as clients of our QUIC, for l4_quic.sh: quic_peers.sh FOLDER PYTHON quic_peer.py. TAP goes to
# FOLDER/peers, which is there when all have done.
folder=$1 address=198.19.1.2

gtlsclient_shakes_hands() {
	timeout 120 gtlsclient --no-quic-dump --no-http-dump --timeout=1s \
		--sni=fg.test "$address" 6454 >"$folder/gtlsclient.log" 2>&1
	grep -q 'QUIC handshake has been confirmed' "$folder/gtlsclient.log" &&
		grep -q 'Negotiated ALPN is h3' "$folder/gtlsclient.log"
}

{
	"$2" "$3" ask "$folder" "$address"
	if ! command -v gtlsclient >/dev/null; then
		echo "ok - gtlsclient # SKIP gtlsclient is missing"
	elif gtlsclient_shakes_hands; then
		echo "ok - gtlsclient shakes hands"
	else
		echo "not ok - gtlsclient shakes hands"
		tail -n 50 "$folder/gtlsclient.log" | sed 's/^/# /'
	fi
} >"$folder/peers.part" 2>"$folder/peers.log"
mv "$folder/peers.part" "$folder/peers"
