#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# DNS with other people's programs over veth, in two network namespaces of its own: our client asks dnsmasq,
# and kdig and dnsperf ask our server.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host dns
. tests/integration/tap.bash
tap "$work"

ports="
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:dns-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: 'kernel:dns-west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
host: {max_lag: 1s}"
cat >"$work/ask.yaml" <<END
$ports
l4:
  tests: [DNS]
  connections: 8
  duration: 1s
  drain: 3s
  port: 53
  timeout: 2s
  peer: {kind: dns, ipv4: 198.18.1.1}
  dns: {any_answer: true, queries: $work/queries}
END
printf '%s\n' 'h1.fg.test A' 'H2.fg.test AAAA' 'text.fg.test TXT' 'nobody.elsewhere A' >"$work/queries"

ask_dnsmasq() {
	# a busy machine limits the rate (3), not the answers
	{ ip netns exec "$tester" "$program" run "$work/ask.yaml" --out "$work/asked" || [ $? -eq 3 ]; } \
		>/dev/null && /usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
answers = row["dns_answers"]
print(row["answered_ratio"], answers, row["failures"])
good = sum(answers.get(name, 0) for name in ("noerror", "nxdomain", "servfail", "other_rcode"))
# each of the four questions has an outcome of its own; none is lost, wrong or left over
sys.exit(row["answered_ratio"] != 1 or good < 40 or row["failures"]["bad_response"] > 0
         or answers["noerror"] < good / 2
         or not set(answers).isdisjoint({"mismatched", "malformed", "unexpected"}))
' "$work/asked/result.json"
}

# nobody listens at port 54, and Linux reports so, though not many times a second: a few queries fail at
# once, the rest after the timeout
ask_nobody() {
	sed -e 's/port: 53/port: 54/' "$work/ask.yaml" >"$work/nobody.yaml"
	ip netns exec "$tester" "$program" run "$work/nobody.yaml" --out "$work/nobody" >/dev/null
	/usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
print(row["failures"])
sys.exit(row["failures"]["refused"] < 1 or row["answered_ratio"] > 0)
' "$work/nobody/result.json"
}
check "a closed port ends queries at once" ask_nobody

if command -v dnsmasq >/dev/null; then
	on_linux "$work/dnsmasq" dnsmasq --keep-in-foreground --no-resolv --no-hosts --port=53 \
		--cache-size=0 --listen-address=198.18.1.1 --bind-interfaces --pid-file= --user=root \
		--address=/fg.test/198.18.7.7 --txt-record=text.fg.test,words
	for _ in {1..1200}; do
		[ -z "$(ip netns exec "$linux" ss -lunH 'sport = :53')" ] || break
		sleep 0.05
	done
	check "dnsmasq answers our client" ask_dnsmasq
else
	skip "dnsmasq answers our client" "dnsmasq is missing"
fi

echo "$ports" >"$work/serve.yaml"

ip netns exec "$tester" "$program" script tests/integration/dns.lua "$work/serve.yaml" "$work/over" \
	>"$work/server" 2>&1 &
server=$!
running+=("$server")

# by_kdig: names, types, sizes and what is refused, as another implementation reads our answers
by_kdig() {
	local kdig=(ip netns exec "$linux" kdig @198.19.1.2 +timeout=5 +retry=3)
	for _ in {1..100}; do # until it listens
		! "${kdig[@]}" +short +timeout=1 +retry=0 h1.fg.test A 2>/dev/null | grep -q '^198' || break
	done
	"${kdig[@]}" +short h1.fg.test A | grep -E '^198\.1[89]\.' || return
	"${kdig[@]}" +short H1.FG.TEST AAAA | grep '^2001:2:' || return
	"${kdig[@]}" +short h1.fg.test TXT | grep -E '^"[a-z]{64}"$' || return
	"${kdig[@]}" +noedns h1.fg.test MX | grep 'NOERROR.*' || return
	"${kdig[@]}" h1.fg.test ANY | grep RFC8482 || return
	"${kdig[@]}" -c CH h1.fg.test A | grep REFUSED || return
	"${kdig[@]}" h1.gg.test A | grep REFUSED || return
	"${kdig[@]}" +edns=3 h1.fg.test A | grep BADVERS
}

# the server wants its own cookie: kdig gets it with BADCOOKIE, and asks again with it
by_kdig_with_cookies() {
	local kdig=(ip netns exec "$linux" kdig @198.19.1.2 +timeout=5 +retry=3 h1.fg.test A)
	"${kdig[@]}" +cookie=0011223344556677 +nobadcookie >"$work/cookie" && cat "$work/cookie" || return
	grep -q BADCOOKIE "$work/cookie" && ! grep -q '198\.1[89]\.[0-9.]*$' <(grep -v '^;' "$work/cookie") || return
	"${kdig[@]}" +cookie=0011223344556677 >"$work/cookie" && cat "$work/cookie" || return
	grep -q NOERROR "$work/cookie" && grep -E 'COOKIE: *0011223344556677 *01000000' "$work/cookie" || return
	"${kdig[@]}" +tcp +cookie=0011223344556677 | grep NOERROR
}

by_dnsperf() {
	printf 'h%d.fg.test A\n' {1..100} >"$work/many"
	ip netns exec "$linux" dnsperf -s 198.19.1.2 -d "$work/many" -n 20 -c 4 -t 5 >"$work/perf" || return
	cat "$work/perf"
	grep -E 'Queries completed: +2000 \(100' "$work/perf" && grep 'NOERROR 2000' "$work/perf"
}

if command -v kdig >/dev/null; then
	check "kdig reads our server's answers" by_kdig
	check "kdig gets a cookie, and is answered with it" by_kdig_with_cookies
else
	skip "kdig reads our server's answers" "kdig is missing"
	skip "kdig gets a cookie, and is answered with it" "kdig is missing"
fi
if command -v dnsperf >/dev/null; then
	check "dnsperf asks our server 2,000 times, and each is answered" by_dnsperf
else
	skip "dnsperf asks our server" "dnsperf is missing"
fi
touch "$work/over"
check "the server ends" wait "$server"
tap_end
