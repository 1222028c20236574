#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# DNS over TCP, TLS and HTTPS with other people's programs over veth, in two network namespaces of its own:
# our client asks dnsmasq, knotd, unbound and named, and kdig, dnsperf and curl ask our servers. tshark reads
# all of it, by our key logs.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host dot
. tests/integration/tap.bash
tap "$work"

ports="
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:dot-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: 'kernel:dot-west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
host: {max_lag: 1s}"
cat >"$work/ask.yaml" <<END
$ports
l4:
  tests: [DNS_TCP]
  connections: 4
  duration: 500ms
  drain: 500ms
  load: {cycles: 1} # each connection is opened once, with queries on it
  timeout: 3s
  peer: {kind: dns, ipv4: 198.18.1.1}
  dns: {any_answer: true, queries: $work/queries, requests: 100}
  tls: {ca_file: $work/cert.pem, key_log: $work/keys}
END
echo "$ports" >"$work/serve.yaml"
printf '%s\n' 'h1.fg.test A' 'H2.fg.test AAAA' 'text.fg.test TXT' 'nobody.fg.test A' >"$work/queries"
text=$(printf 'words%.0s' {1..40})
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key.pem" \
	-out "$work/cert.pem" -subj /CN=fg.test -addext subjectAltName=DNS:fg.test -days 3650 2>/dev/null

# listens PORT
listens() {
	for _ in {1..1200}; do
		[ -z "$(ip netns exec "$linux" ss -ltnH "sport = :$1")" ] || return 0
		sleep 0.05
	done
}

# ask NAME CONDITION SET...: our client asks, and the condition holds of the row, its answers and the queries
ask() {
	local name=$1 condition=$2 sets=() one
	for one in "${@:3}"; do sets+=(--set "$one"); done
	# a busy machine limits the rate (3), not the answers
	ip netns exec "$tester" "$program" run "$work/ask.yaml" --out "$work/asked-$name" "${sets[@]}" \
		>"$work/said" || [ $? -eq 3 ] || { cat "$work/said"; return 1; }
	/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
answers = row["dns_answers"]
print(row["answered_ratio"], answers, row["failures"], row.get("tls"))
sent = answers.get("queries", 0)
good = sum(answers.get(name, 0) for name in ("noerror", "nxdomain", "servfail", "other_rcode"))
# none is lost, cut, wrong or left over
sys.exit(row["answered_ratio"] != 1 or good < 40 or row["failures"]["bad_response"] > 0
         or not set(answers).isdisjoint({"mismatched", "malformed", "unexpected", "cut", "late",
                                         "duplicates"})
         or not eval(sys.argv[2]))
' "$work/asked-$name/result.json" "$condition"
}

captures=()
! command -v tshark >/dev/null || capture_both "port 53 or port 5300 or port 853 or port 443"

# the first queries are sent without the server's cookie, and all of them answered, with one
cookies='1 <= answers["bad_cookie"] <= 4 < answers["cookies"] and "wrong_cookie" not in answers'

if command -v dnsmasq >/dev/null; then
	on_linux "$work/dnsmasq" dnsmasq --keep-in-foreground --no-resolv --no-hosts --port=53 \
		--cache-size=0 --listen-address=198.18.1.1 --bind-interfaces --pid-file= --user=root \
		--address=/fg.test/198.18.7.7 --txt-record=text.fg.test,words
	listens 53
	# it answers one at a time
	check "dnsmasq answers our client over TCP" ask dnsmasq 'sent == good' l4.port=53 \
		l4.dns.requests=20 l4.load.cycles=5
else
	skip "dnsmasq answers our client over TCP" "dnsmasq is missing"
fi

if command -v knotd >/dev/null; then
	cat >"$work/knot.conf" <<END
server:
    listen: 198.18.1.1@5300
    rundir: $work
    pidfile: $work/knot.pid
    tcp-workers: 2
database:
    storage: $work
mod-cookies:
  - id: default
    badcookie-slip: 1
template:
  - id: default
    global-module: mod-cookies/default
zone:
  - domain: fg.test
    file: $work/zone
END
	{
		echo '$ORIGIN fg.test.'
		echo '@ 300 SOA ns admin 1 300 300 300 300'
		printf '%s\n' '@ 300 NS ns' 'ns 300 A 198.18.1.1' 'h1 300 A 198.18.7.7' \
			'h2 300 AAAA 2001:2::7'
		for i in {1..12}; do echo "text 300 TXT \"$i$text\""; done
	} >"$work/zone"
	on_linux "$work/knot" knotd -c "$work/knot.conf"
	listens 5300
	check "knotd answers our client over TCP" ask knot \
		'sent == good and answers["nxdomain"] >= 10 and row["opened"] == row["closed"] == 4' \
		l4.port=5300
	check "what knotd truncates over UDP our client asks again" ask again \
		'answers["asked_again"] == answers["truncated"] >= 10 and row["failures"]["refused"] == 0' \
		l4.port=5300 l4.tests=DNS l4.dns.rate=400
	check "knotd has its cookie back from our client" ask knot-cookies "$cookies" \
		l4.port=5300 l4.tests=DNS l4.dns.rate=400 l4.dns.cookies=on
else
	skip "knotd answers our client over TCP" "knotd is missing"
	skip "what knotd truncates over UDP our client asks again" "knotd is missing"
	skip "knotd has its cookie back from our client" "knotd is missing"
fi

if command -v unbound >/dev/null; then
	cat >"$work/unbound.conf" <<END
server:
  interface: 198.18.1.1@853
  tls-service-pem: $work/cert.pem
  tls-service-key: $work/key.pem
  chroot: ""
  username: ""
  directory: $work
  pidfile: ""
  do-daemonize: no
  use-syslog: no
  module-config: iterator
  access-control: 198.18.0.0/15 allow
  local-zone: fg.test. static
  local-data: "h1.fg.test. A 198.18.7.7"
  local-data: "h2.fg.test. AAAA 2001:2::7"
END
	for i in {1..12}; do echo "  local-data: 'text.fg.test. TXT \"$i$text\"'"; done >>"$work/unbound.conf"
	on_linux "$work/unbound" unbound -c "$work/unbound.conf"
	listens 853
	check "unbound answers our client over TLS" ask dot \
		'sent == good and row["tls"]["version"] == "TLSv1.3" and row["tls"]["truncated"] == 0' \
		l4.port=853 l4.tests=DNS_TLS l4.dns.requests=50 l4.load.cycles=3
else
	skip "unbound answers our client over TLS" "unbound is missing"
fi

if named=$(command -v named || ls /usr/sbin/named 2>/dev/null); then
	cat >"$work/named.conf" <<END
tls ours { key-file "$work/key.pem"; cert-file "$work/cert.pem"; };
http doh { endpoints { "/dns-query"; }; };
options {
	directory "$work"; pid-file none; session-keyfile none; recursion no; dnssec-validation no;
	listen-on port 443 tls ours http doh { 198.18.1.1; };
	listen-on port 5301 { 198.18.1.1; };
	listen-on-v6 { none; };
	require-server-cookie yes;
};
controls { };
zone "fg.test" { type primary; file "$work/named.zone"; };
END
	cat >"$work/named.zone" <<'END'
$ORIGIN fg.test.
$TTL 300
@ SOA ns admin 1 300 300 300 300
@ NS ns
ns A 198.18.1.1
h1 A 198.18.7.7
h2 AAAA 2001:2::7
END
	for i in {1..12}; do echo "text TXT \"$i$text\""; done >>"$work/named.zone"
	on_linux "$work/named" "$named" -g -u root -c "$work/named.conf"
	listens 443
	for post in false true; do
		check "named answers our client over HTTPS, POST $post" ask "https-$post" \
			'sent == good >= 400 and answers["nxdomain"] >= 10 and row["opened"] == row["closed"] == 4' \
			l4.port=443 l4.tests=DNS_HTTPS l4.dns.post=$post
	done
	check "named has its cookie back from our client" ask named-cookies "$cookies" \
		l4.port=5301 l4.tests=DNS l4.dns.rate=400 l4.dns.cookies=on
else
	skip "named answers our client over HTTPS" "named is missing"
	skip "named has its cookie back from our client" "named is missing"
fi

ip netns exec "$tester" "$program" script tests/integration/dns_tcp.lua "$work/serve.yaml" "$work/over" \
	"$work/keys" >"$work/server" 2>&1 &
server=$!
running+=("$server")

# by_kdig OPTION: as another implementation reads our answers, all of one connection
by_kdig() {
	local kdig=(ip netns exec "$linux" kdig @198.19.1.2 +timeout=5 +retry=3 "$@")
	for _ in {1..100}; do # until it listens
		! "${kdig[@]}" +short +timeout=1 +retry=0 h1.fg.test A 2>/dev/null | grep -q '^198' || break
	done
	"${kdig[@]}" +short h1.fg.test A | grep -E '^198\.1[89]\.' || return
	"${kdig[@]}" +noedns h1.fg.test TXT >"$work/text" || return
	grep 'Received 30[0-9][0-9] B' "$work/text" || return
	"${kdig[@]}" -c CH h1.fg.test A | grep REFUSED || return
	"${kdig[@]}" +keepopen h1.fg.test A h2.fg.test AAAA h3.fg.test MX >"$work/three" || return
	[ "$(grep -c 'status: NOERROR' "$work/three")" -eq 3 ]
}

truncated_for_kdig() {
	ip netns exec "$linux" kdig @198.19.1.2 +timeout=5 +retry=3 h1.fg.test TXT >"$work/text" || return
	cat "$work/text"
	grep 'Received 30[0-9][0-9] B' "$work/text" && grep '(TCP)' "$work/text"
}

# dnsperf counts as lost what it has not got when it ends, so it asks a given number of times
by_dnsperf() {
	printf 'h%d.fg.test A\n' {1..100} >"$work/many"
	ip netns exec "$linux" dnsperf -s 198.19.1.2 -d "$work/many" -n 20 -c 4 -t 5 -m "$1" -p "$2" \
		"${@:3}" >"$work/perf" || return
	cat "$work/perf"
	grep -E 'Queries completed: +2000 \(100' "$work/perf" && grep 'NOERROR 2000' "$work/perf"
}

if command -v kdig >/dev/null; then
	check "kdig reads our server's answers over TCP" by_kdig +tcp
	check "kdig reads our server's answers over TLS" by_kdig +tls
	check "kdig reads our server's answers over HTTPS, by POST" by_kdig +https
	check "kdig reads our server's answers over HTTPS, by GET" by_kdig +https +https-get
	check "kdig asks our server again for what was truncated" truncated_for_kdig
else
	skip "kdig reads our server's answers" "kdig is missing"
fi
if command -v dnsperf >/dev/null; then
	check "dnsperf asks our server 2,000 times over TCP" by_dnsperf tcp 53
	check "dnsperf asks our server 2,000 times over TLS" by_dnsperf dot 853
	for method in GET POST; do
		check "dnsperf asks our server 2,000 times over HTTPS, by $method" by_dnsperf doh 443 \
			-q 16 -O doh-uri=https://198.19.1.2/dns-query -O "doh-method=$method"
	done
else
	skip "dnsperf asks our server" "dnsperf is missing"
fi

# what is no query, another path, and an answer as it is
by_curl() {
	local at=https://198.19.1.2/dns-query curl=(ip netns exec "$linux" curl -sS -k --http2 -o "$work/curl")
	local query=AAABAAABAAAAAAAAAmgxAmZnBHRlc3QAAAEAAQ # of h1.fg.test A
	[ "$("${curl[@]}" -w '%{http_code} %{content_type}' "$at?dns=$query")" = \
		"200 application/dns-message" ] || return
	[ "$(stat -c %s "$work/curl")" = 44 ] || return
	[ "$("${curl[@]}" -w '%{http_code}' "$at?a=b&dns=$query&c")" = 200 ] || return
	for bad in "$at" "$at?dns=" "$at?dns=AA" "$at?dns=%%" "$at?dns=AAABAAAB="; do
		[ "$("${curl[@]}" -w '%{http_code}' "$bad")" = 400 ] || return
	done
	[ "$("${curl[@]}" -w '%{http_code}' https://198.19.1.2/dns-quer?dns=$query)" = 404 ] || return
	[ "$("${curl[@]}" -w '%{http_code}' --data-binary @/dev/null "$at")" = 415 ] || return # a form
	[ "$("${curl[@]}" -w '%{http_code}' -H 'content-type: application/dns-message' \
		--data-binary @/dev/null "$at")" = 400 ]
}

if command -v curl >/dev/null; then
	check "curl reads what our server says of bad requests" by_curl
fi

# what follows is cut and sent twice on purpose, which tshark has words for
[ ${#captures[@]} -eq 0 ] || end_captures
check "our server bears a peer that cuts, floods and falls silent" ip netns exec "$linux" \
	/usr/bin/python3 tests/integration/dns_tcp_peer.py 198.19.1.2 53
touch "$work/over"
check "the server ends" wait "$server"

# what tshark reads of ours: answers and queries over TCP and TLS, and what is malformed
by_tshark() {
	local side read ours='ip.src in {198.18.1.2, 198.19.1.2}'
	local options=(-o "tls.keylog_file:$work/keys" -d tcp.port==5300,dns)
	for side in east west; do
		tshark -r "$work/$side.pcapng" "${options[@]}" -Y "tcp && dns && $ours" \
			-T fields -e tcp.srcport -e tcp.dstport -e dns.id 2>/dev/null >"$work/$side.read"
		read=$(cut -f 3 "$work/$side.read" | tr ',' '\n' | grep -c .)
		echo "$side: $read messages, over TLS $(grep -cw 853 "$work/$side.read") frames"
		[ "$read" -ge 100 ] || return
		# of the peers of our client unbound alone speaks TLS
		[ "$side" = east ] && ! command -v unbound >/dev/null ||
			grep -qw 853 "$work/$side.read" || return
		tshark -r "$work/$side.pcapng" "${options[@]}" -Y "_ws.malformed && $ours" 2>/dev/null \
			>"$work/$side.bad"
		head -n 10 "$work/$side.bad"
		[ ! -s "$work/$side.bad" ] || return
	done
}

if [ ${#captures[@]} -gt 0 ]; then
	check "tshark reads our DNS over TCP and TLS, and finds nothing malformed" by_tshark
else
	skip "tshark reads our DNS over TCP and TLS" "tshark is missing"
fi
tap_end
