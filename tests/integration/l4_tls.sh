#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# TLS and HTTP/2 over lib/tcp against other programs over AF_PACKET on veth: our client asks nginx, nghttpd,
# openssl and gnutls, our server is asked by curl, h2load, nghttp, openssl and gnutls, and tshark decrypts all
# of it by our key log. Two network namespaces of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host tls

# listens PORT
listens() {
	for _ in {1..1200}; do
		[ -z "$(ip netns exec "$linux" ss -ltnH "sport = :$1")" ] || return 0
		sleep 0.05
	done
}

here=$PWD/tests/integration
/usr/bin/python3 "$here/l4/peer.py" pages "$work/www/octets"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" \
	-out "$work/cert.pem" -subj /CN=fg.test -addext subjectAltName=DNS:fg.test -days 3650 2>/dev/null
servers=(openssl)
cd "$work/www"
on_linux ../s_server.log openssl s_server -accept 7444 -cert ../cert.pem -key ../key.pem -WWW -quiet
on_linux ../s_server2.log openssl s_server -accept 7446 -cert ../cert.pem -key ../key.pem -WWW -quiet \
	-Verify 1
cd - >/dev/null
listens 7444
listens 7446
if nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null); then
	cp "$here/l4/nginx_tls.conf" "$work" # it looks for certificates beside it
	on_linux "$work/nginx.log" "$nginx" -p "$work" -c "$work/nginx_tls.conf" -e stderr
	listens 7443
	listens 7449
	servers+=(nginx)
fi
if command -v gnutls-serv >/dev/null; then
	on_linux "$work/gnutls.log" gnutls-serv --quiet --http --earlydata -p 7445 \
		--x509certfile "$work/cert.pem" --x509keyfile "$work/key.pem"
	listens 7445
	servers+=(gnutls)
fi
if command -v nghttpd >/dev/null; then
	on_linux "$work/nghttpd.log" nghttpd -d "$work/www" 7447 "$work/key.pem" "$work/cert.pem"
	on_linux "$work/nghttpd2.log" nghttpd -d "$work/www" --no-tls 7448
	listens 7447
	listens 7448
	servers+=(nghttpd)
fi
captures=()
! command -v tshark >/dev/null || capture_both tcp
echo 1..48
ip netns exec "$tester" "$program" script tests/integration/l4/tls.lua "$work" "$linux" \
	"$here/l4/tls_peers.sh" "${servers[@]}" 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok - tls.lua came to its end"
else
	echo "not ok - tls.lua ended with status $status"
fi

[ ${#captures[@]} -gt 0 ] || {
	echo "ok - tshark decrypts all by our key log # SKIP tshark is missing"
	echo "ok - tshark reads HTTP/2 # SKIP tshark is missing"
	exit 0
}
end_captures
frames=0 streams=0
for side in east west; do
	ports=(-d tcp.port==7443,tls -d tcp.port==7444,tls -d tcp.port==7445,tls -d tcp.port==7446,tls
		-d tcp.port==7449,tls -d tcp.port==6443,tls -d tcp.port==6444,tls -d tcp.port==7447,tls
		-d tcp.port==6445,http2 -d tcp.port==7448,http2)
	tshark -r "$work/$side.pcapng" -o "tls.keylog_file:$work/keys" "${ports[@]}" -Y http.request \
		2>/dev/null >"$work/$side.http"
	frames=$((frames + $(wc -l <"$work/$side.http")))
	# a line for each HEADERS of a packet, which may hold several
	tshark -r "$work/$side.pcapng" -o "tls.keylog_file:$work/keys" "${ports[@]}" -Y http2.headers.path \
		-T fields -e http2.headers.path 2>/dev/null | tr ',' '\n' >"$work/$side.http2"
	streams=$((streams + $(grep -c '^/octets/' "$work/$side.http2")))
	tshark -r "$work/$side.pcapng" -o "tls.keylog_file:$work/keys" "${ports[@]}" \
		-Y "(ip.src in {198.18.1.2, 198.19.1.2}) && _ws.malformed" 2>/dev/null >>"$work/malformed"
done
if [ "$frames" -ge 100 ] && [ ! -s "$work/malformed" ]; then
	echo "ok - tshark decrypts $frames requests by our key log, and nothing of ours is malformed"
else
	echo "not ok - tshark decrypted $frames requests; malformed:"
	head -n 20 "$work/malformed"
fi
if [ "$streams" -ge 200 ]; then
	echo "ok - tshark reads $streams requests of HTTP/2"
else
	echo "not ok - tshark reads $streams requests of HTTP/2"
fi
