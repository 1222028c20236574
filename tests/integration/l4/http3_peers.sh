#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Other programs as clients of our HTTP/3, for l4_http3.sh: http3_peers.sh FOLDER PYTHON http3_peer.py. TAP
# goes to FOLDER/peers, which is there when all have done.
folder=$1 address=198.19.1.2 port=6470

# gtlsclient_gets NAME PAGE OPTION...: what it has got at the end is what our server sends
gtlsclient_gets() {
	local name=$1 page=$2
	shift 2
	rm -rf "$folder/got"
	mkdir "$folder/got"
	if timeout 120 gtlsclient -q --exit-on-all-streams-close --no-quic-dump --no-http-dump --sni=fg.test \
		--download="$folder/got" "$@" "$address" "$port" "https://fg.test/octets/$page" \
		>"$folder/gtlsclient.log" 2>&1 && cmp -s "$folder/got/$page" "$folder/www/octets/$page"; then
		echo "ok - gtlsclient $name"
	else
		echo "not ok - gtlsclient $name"
		ls -l "$folder/got" | sed 's/^/# /'
		tail -n 50 "$folder/gtlsclient.log" | sed 's/^/# /'
	fi
}

{
	"$2" "$3" ask "$folder" "$address"
	if command -v gtlsclient >/dev/null; then
		gtlsclient_gets "gets a page" 20000
		gtlsclient_gets "gets a large page" 8000000
		gtlsclient_gets "gets a page forty times" 1000 -n 40
		gtlsclient_gets "goes on from another port" 8000000 --change-local-addr=10ms
		# It sends all the while. A client that only receives, and has acknowledged all that came,
		# sends nothing from the new port, and no server can know that port.
		gtlsclient_gets "sends a body as behind a NAT" 0 --change-local-addr=10ms --nat-rebinding \
			--timeout=20s -m POST --data="$folder/www/octets/8000000"
		port=6473 gtlsclient_gets "gets a large page by datagrams that are marked" 8000000
		for time in first second; do
			gtlsclient_gets "gets a page the $time time in a session" 20000 \
				--session-file="$folder/session" --tp-file="$folder/parameters"
		done
	else
		for name in "gets a page" "gets a large page" "gets a page forty times" \
			"goes on from another port" "sends a body as behind a NAT" \
			"gets a large page by datagrams that are marked" \
			"gets a page the first time in a session" \
			"gets a page the second time in a session"; do
			echo "ok - gtlsclient $name # SKIP gtlsclient is missing"
		done
	fi
} >"$folder/peers.part" 2>"$folder/peers.log"
mv "$folder/peers.part" "$folder/peers"
