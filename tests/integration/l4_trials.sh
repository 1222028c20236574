#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a trial leaves behind for the next one at a Linux host that remembers connections: those that the host
# closed and keeps in TIME_WAIT, and those that were open when a trial was interrupted or its process killed.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
have_nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null) || {
	echo "1..0 # SKIP nginx is missing"
	exit 0
}
linux_host l4n
ip netns exec "$linux" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad
echo 1..9
cat >"$work/plan.yaml" <<'END'
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:l4n-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  west: {device: 'vdev:net_null1', ipv4: 198.19.1.2/24}
host: {max_lag: 1s}
l4:
  tests: [HTTP]
  peer: {kind: web, ipv4: 198.18.1.1}
  port: 7080
  connections: 4
  duration: 400ms
  drain: 300ms
  http: {body: 1000, requests: 5, path: /octets/1000}
END
/usr/bin/python3 tests/integration/l4/peer.py pages "$work/www/octets"
sed 's/access_log off/access_log access.log/' tests/integration/l4/nginx.conf >"$work/nginx.conf"
on_linux "$work/nginx.log" "$have_nginx" -p "$work" -c "$work/nginx.conf" -e stderr
on_linux "$work/python.log" /usr/bin/python3 -c '
import http.server, os, sys
os.chdir(sys.argv[1])
http.server.ThreadingHTTPServer.request_queue_size = 1024
http.server.ThreadingHTTPServer.address_family = 10
server = http.server.ThreadingHTTPServer(("::", 7081), http.server.SimpleHTTPRequestHandler)
server.serve_forever()' "$work/www"
on_linux "$work/server.log" /usr/bin/python3 tests/integration/l4/peer.py serve "$work/served"
appears ready "$work/server.log"

# a process for each connection, which logs the request and answers it
printf 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n' >"$work/answer"
cat "$work/www/octets/1000" >>"$work/answer"
cat >"$work/answer.sh" <<END
read -r line && echo "\$line" >>answers.log
exec cat answer
END
touch "$work/answers.log"
cd "$work"
have_socat=$(command -v socat) &&
	on_linux socat.errors socat TCP6-LISTEN:7082,fork,reuseaddr,backlog=1024,ipv6only=0 \
		EXEC:"/bin/sh answer.sh"
cd - >/dev/null

# tester NAME OPTION...: run the plan in the tester's namespace, with the result in $work/NAME
tester() {
	ip netns exec "$tester" "$program" run "$work/plan.yaml" --out "$work/$1" "${@:2}" >"$work/$1.log" \
		2>&1
}

# holds WHAT NAME CONDITION: of `row`, the first of the result
holds() {
	if /usr/bin/python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"]["l4"][0]
print("#", row["figures"], row.get("known_ports"), row["setup"] and row["setup"]["max_ns"])
sys.exit(not eval(sys.argv[2]))' "$work/$2/result.json" "$3"; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		tail -n 3 "$work/$2.log" | sed 's/^/# /'
	fi
}

# are no connections left there but those that are over?
nothing_is_left() {
	local left
	left=$(ip netns exec "$linux" ss -tnH state connected exclude time-wait "sport = :$2")
	[ -z "$left" ] && echo "ok - $1" || echo "not ok - $1: $left"
}

# steady NAME LOG OPTION...: ten trials, at a rate that is no burden; LOG gets a line for each request
rate=200
steady() {
	local log=$work/$2 before
	before=$(grep -c GET "$log")
	tester "$1" --set l4.repetitions=10 --set l4.duration=600ms --set l4.drain=400ms \
		--set l4.learning_wait=10ms --set "l4.load.rate=$rate" --set l4.http.requests=1 \
		--set l4.connections=200 "${@:3}"
	sleep 0.2
	/usr/bin/python3 tests/integration/l4/trials.py "$work/$1/result.json" \
		$(($(grep -c GET "$log") - before)) $((rate * 6 / 10))
	case $? in
	0) echo "ok - ten trials are alike: $1" ;;
	77) echo "ok - ten trials are alike: $1 # SKIP the machine is too busy" ;;
	*)
		echo "not ok - ten trials are alike: $1"
		tail -n 3 "$work/$1.log" | sed 's/^/# /'
		;;
	esac
}
ipv6=(--set 'ports.east.ipv6="2001:2:0:1::2/64"' --set 'ports.east.gateway6="2001:2:0:1::1"'
	--set 'ports.west.ipv6="2001:2:0:2::2/64"'
	--set 'l4.peer={kind: web, ipv6: "2001:2:0:1::1"}')
bare=(--set l4.tcp.timestamps=false)
python=(--set l4.port=7081)
for port in 7080 7081 ${have_socat:+7082}; do
	for _ in {1..200}; do
		[ -z "$(ip netns exec "$linux" ss -tlnH "sport = :$port")" ] || break
		sleep 0.05
	done
done
steady nginx access.log
steady nginx-ipv6-bare access.log "${ipv6[@]}" "${bare[@]}"
steady python-ipv6 python.log "${python[@]}" "${ipv6[@]}"
steady python-bare python.log "${python[@]}" "${bare[@]}"
if [ -n "$have_socat" ]; then
	rate=50
	steady socat answers.log --set l4.port=7082
else
	echo "ok - ten trials are alike: socat # SKIP socat is missing"
fi

stream=(--set 'l4.tests=[TCP_STREAM]' --set l4.peer.kind=discard --set l4.port=5001 --set l4.connections=8)
# begun and ended by: after a moment in which all connections are there
cut_off() {
	tester "$1" "${stream[@]}" --set l4.duration=60s 2>/dev/null &
	local run=$!
	for _ in {1..200}; do
		established=$(ip netns exec "$linux" ss -tnH state established 'sport = :5001')
		[ "$(wc -l <<<"$established")" -lt 8 ] || break
		sleep 0.05
	done
	cut=$(grep -c . <<<"$established")
	kill "-$2" "$(pgrep -P "$run" | head -n 1)"
	wait "$run"
}
cut_off interrupted INT
nothing_is_left "an interrupted trial leaves no connection" 5001
tester after-interrupt "${stream[@]}"
holds "and the next is as fast" after-interrupt \
	'row.get("known_ports") == 0 and row["setup"]["max_ns"] < 900e6'
cut_off killed KILL
tester after-kill "${stream[@]}"
holds "after one that was killed, the host forgets at once" after-kill \
	'row.get("known_ports") == '"$cut"' and row["setup"]["max_ns"] < 900e6'
nothing_is_left "and has nothing left, either" 5001
