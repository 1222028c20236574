#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Pages of nginx by HTTP/1.1, with TLS and without, and by HTTP/2, and of gtlsserver by HTTP/3, over AF_PACKET
# on veth: every byte is as our own server sends it. The two network namespaces are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host pages
here=$PWD/tests/integration/l4

# listens WHAT PORT
listens() {
	for _ in {1..1200}; do
		[ -z "$(ip netns exec "$linux" ss "-${1}naH" "sport = :$2")" ] || return 0
		sleep 0.05
	done
}

for folder in plain tls; do
	/usr/bin/python3 "$here/peer.py" pages "$work/$folder/www/octets" 30000 700 0 150001 8000
done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/tls/key.pem" \
	-out "$work/tls/cert.pem" -subj /CN=fg.test -addext subjectAltName=DNS:fg.test -days 3650 2>/dev/null

# pages OF PORT TEST [KEY=VALUE...]: make it, into $work/of-OF
pages() {
	cat >"$work/plan.yaml" <<-END
		test: l4
		ports:
		  east: {device: 'kernel:pages-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
		  west: {device: 'kernel:pages-west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
		isolated_network: true
		l4:
		  tests: [$3]
		  port: $2
		  peer: {kind: web, ipv4: 198.18.1.1}
		  duration: 2s
		  connections: 3
		  tls: {verify: none}
		  page:
		    objects:
		      - 30000
		      - 700
		      - 0
		      - {size: 150001, after: 2}
		      - {size: 8000, after: 4, think: 3ms}
		      - 700
	END
	local sets=() set
	for set in "${@:4}"; do
		sets+=(--set "$set")
	done
	ip netns exec "$tester" "$program" run "$work/plan.yaml" --out "$work/of-$1" "${sets[@]}" \
		>"$work/of-$1.log" 2>&1
}

# judge OF EXPRESSION WORDS: of the row, `page` and what was bad
judge() {
	if /usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1] + "/result.json"))["results"]["l4"][0]
page, bad = row["page"], row.get("bad_responses", {})
print("#", row["test"], row["wrong_bytes"], bad, {k: page[k] for k in ("loaded", "failed", "bytes", "load")})
sys.exit(not (row["wrong_bytes"] == 0 and eval(sys.argv[2])))' "$work/of-$1" "$2"; then
		echo "ok - $3"
	else
		sed 's/^/# /' "$work/of-$1.log"
		echo "not ok - $3"
	fi
}

whole='page["loaded"] > 0 and page["failed"] == 0 and not bad and page["bytes"] == 189401'
echo 1..5
if nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null); then
	on_linux "$work/plain.log" "$nginx" -p "$work/plain" -c "$here/nginx.conf" -e stderr
	cp "$here/nginx_tls.conf" "$work/tls" # it looks for certificates beside it
	on_linux "$work/tls.log" "$nginx" -p "$work/tls" -c "$work/tls/nginx_tls.conf" -e stderr
	listens t 7080
	listens t 7443
	pages h1 7080 PAGE
	judge h1 "$whole and max(o['connection'] for o in page['objects']) > 1" \
		"pages of nginx by HTTP/1.1"
	pages missing 7080 PAGE 'l4.page.objects=[30000, 1]'
	judge missing 'page["loaded"] == 0 < page["failed"] <= bad["http_4xx"] <= page["failed"] + 3' \
		"a page without one of its objects has failed, but for what the end cuts off"
	pages tls 7443 TLS_PAGE
	judge tls "$whole" "pages of nginx by HTTP/1.1 over TLS"
	pages h2 7443 PAGE2
	judge h2 "$whole and all(o.get('connection') is None for o in page['objects'])" \
		"pages of nginx by HTTP/2"
else
	for what in HTTP/1.1 "HTTP/1.1, an object missing" "HTTP/1.1 over TLS" HTTP/2; do
		echo "ok - pages of nginx by $what # SKIP nginx is not installed"
	done
fi
if command -v gtlsserver >/dev/null; then
	on_linux "$work/gtls.log" gtlsserver -q -d "$work/tls/www" 198.18.1.1 7480 "$work/tls/key.pem" \
		"$work/tls/cert.pem"
	listens u 7480
	# it has no file without bytes
	pages h3 7480 PAGE3 \
		'l4.page.objects=[30000, 700, 700, {size: 150001, after: 2}, {size: 8000, after: 4}]'
	judge h3 "$whole" "pages of gtlsserver by HTTP/3"
else
	echo "ok - pages of gtlsserver by HTTP/3 # SKIP gtlsserver is not installed"
fi
