#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Other programs as clients of our TLS, for l4_tls.sh: tls_peers.sh FOLDER ADDRESS PORT. They trust the
# authority in FOLDER/ca.pem alone. TAP goes to FOLDER/peers, which is there when all have done.
folder=$1 address=$2 port=$3
cd "$folder" || exit
url=https://fg.test:$port/octets/20000
ask=$'GET /octets/20000 HTTP/1.1\r\nHost: fg.test\r\nConnection: close\r\n\r\n'

# is what stands behind the head what our server sends?
is_page() { # FILE
	/usr/bin/python3 - "$1" www/octets/20000 <<-'END'
		import sys
		given, wanted = (open(name, 'rb').read() for name in sys.argv[1:])
		sys.exit(not given.partition(b'\r\n\r\n')[2].startswith(wanted))
	END
}

# the request, and then no end of the input until FILE has these words
ask_until() { # WORDS FILE
	printf %s "$ask"
	await "$@"
}

await() { # WORDS FILE
	for _ in {1..600}; do
		! grep -qsa "$1" "$2" || return 0
		sleep 0.1
	done
}

check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then echo "ok - $name"; else echo "not ok - $name"; fi
}

curl_gets() { # OPTION...
	timeout 120 curl -sS -i --cacert ca.pem --resolve "fg.test:$port:$address" "$@" -o got "$url" \
		2>curl.err
	is_page got
}

openssl_gets() { # OPTION...
	: >got
	ask_until HTTP/1.1 got | timeout 120 openssl s_client -connect "$address:$port" -servername fg.test \
		-CAfile ca.pem -verify_return_error -quiet "$@" >got 2>openssl.err
	is_page got
}

resumes() { # VERSION
	: >first
	: >second
	ask_until HTTP/1.1 first | timeout 120 openssl s_client -connect "$address:$port" \
		-servername fg.test "$1" -sess_out session >first 2>&1
	ask_until HTTP/1.1 second | timeout 120 openssl s_client -connect "$address:$port" \
		-servername fg.test "$1" -sess_in session >second 2>&1
	grep -q '^New, TLS' first && grep -q '^Reused, TLS' second
}

# Two requests, in a record each, for openssl reads 8192 bytes at a time; the second waits in our server for
# its turn. The first connection gets the ticket.
openssl_asks_early() {
	local first=$'GET /octets/20000 HTTP/1.1\r\nHost: fg.test\r\nFiller: ' end=$'\r\n\r\n'
	printf '%s%0*d%s%s' "$first" $((8192 - ${#first} - ${#end})) 0 "$end" "$ask" >early
	: >first
	: >got
	ask_until HTTP/1.1 first | timeout 120 openssl s_client -connect "$address:$port" \
		-servername fg.test -tls1_3 -sess_out session >first 2>&1
	await 'Content-Length: *20000' got | timeout 120 openssl s_client -connect "$address:$port" \
		-servername fg.test -tls1_3 -sess_in session -early_data early >got 2>&1
	grep -qa 'Early data was accepted' got && [ "$(grep -ca 'Content-Length: *20000' got)" -eq 2 ]
}

# it connects twice; what a file has goes with the first time, so that there is nothing left to be early
gnutls_resumes() {
	: >got
	ask_until HTTP/1.1 got | timeout 120 gnutls-cli --x509cafile ca.pem --verify-hostname fg.test \
		--sni-hostname fg.test -p "$port" -r --waitresumption --earlydata=/dev/null \
		"$address" >got 2>gnutls.err
	grep -qa 'This is a resumed session' got && grep -qa 'Content-Length: *20000' got
}

# K at the begin of a line asks both sides for new keys
updates_keys() {
	: >got.updated
	{
		echo K
		await KEYUPDATE got.updated
		ask_until HTTP/1.1 got.updated
	} | timeout 120 openssl s_client -connect "$address:$port" \
		-servername fg.test -tls1_3 >got.updated 2>&1
	grep -q KEYUPDATE got.updated && grep -qa 'Content-Length: *20000' got.updated
}

gnutls_gets() { # PRIORITY
	: >got
	ask_until HTTP/1.1 got | timeout 120 gnutls-cli --x509cafile ca.pem --verify-hostname fg.test \
		--sni-hostname fg.test -p "$port" \
		--priority "$1" --logfile gnutls.log "$address" >got 2>gnutls.err
	is_page got
}

curl_gets_http2() { # URL OPTION...
	local url=$1
	curl_gets "${@:2}" && grep -qa '^HTTP/2 200' got
}

posts() { # OPTION... URL
	head -c 300000 /dev/zero >upload
	[ "$(timeout 120 curl -sS --data-binary @upload -o /dev/null -w '%{http_version} %{http_code}' "$@" \
		2>>curl.err)" = "2 200" ]
}

loads() { # URL
	timeout 120 h2load -n 2000 -c 10 -m 32 "$@" >h2load.log 2>&1
	grep -q '2000 succeeded, 0 failed' h2load.log
}

asks_by_nghttp() {
	timeout 120 nghttp -m 20 "http://$address:$((port + 2))/octets/20000" >got.nghttp 2>nghttp.err
	[ "$(wc -c <got.nghttp)" -eq 400000 ]
}

{
	check "curl gets a page by HTTP/2 over TLS" \
		curl_gets_http2 "https://fg.test:$((port + 1))/octets/20000" --http2 \
		--resolve "fg.test:$((port + 1)):$address"
	check "curl gets a page by HTTP/2 in the clear" \
		curl_gets_http2 "http://$address:$((port + 2))/octets/20000" --http2-prior-knowledge
	check "curl posts by HTTP/2" posts --http2-prior-knowledge "http://$address:$((port + 2))/"
	if command -v h2load >/dev/null; then
		check "h2load gets all over TLS" loads "https://$address:$((port + 1))/octets/1000"
		check "h2load gets all in the clear" loads "http://$address:$((port + 2))/octets/1000"
		check "nghttp gets twenty at a time" asks_by_nghttp
	else
		for what in "gets all over TLS" "gets all in the clear" "gets twenty at a time"; do
			echo "ok - nghttp2 $what # SKIP nghttpd is missing"
		done
	fi
	check "curl gets a page over TLS 1.3" curl_gets --tlsv1.3
	check "curl gets a page over TLS 1.2" curl_gets --tlsv1.2 --tls-max 1.2
	for suite in TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
		check "openssl gets a page by $suite" openssl_gets -ciphersuites "$suite"
	done
	for suite in ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-ECDSA-CHACHA20-POLY1305; do
		check "openssl gets a page by $suite" openssl_gets -tls1_2 -cipher "$suite"
	done
	check "openssl resumes a session of TLS 1.3" resumes -tls1_3
	check "openssl resumes a session of TLS 1.2" resumes -tls1_2
	check "openssl asks by early data" openssl_asks_early
	check "openssl changes the keys of both sides" updates_keys
	if command -v gnutls-cli >/dev/null; then
		check "gnutls gets a page over TLS 1.3" gnutls_gets NORMAL:-VERS-ALL:+VERS-TLS1.3
		check "gnutls gets a page over TLS 1.2" gnutls_gets NORMAL:-VERS-ALL:+VERS-TLS1.2
		check "gnutls resumes with early data of no bytes" gnutls_resumes
	else
		echo "ok - gnutls gets a page over TLS 1.3 # SKIP gnutls-cli is missing"
		echo "ok - gnutls gets a page over TLS 1.2 # SKIP gnutls-cli is missing"
		echo "ok - gnutls resumes with early data of no bytes # SKIP gnutls-cli is missing"
	fi
} >peers.part
mv peers.part peers
