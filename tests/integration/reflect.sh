#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tester with one port and a reflector in another process, joined by memif: every frame comes back, none of
# it is taken for anything else, and the reflector has counted the same; and so do probes of STAMP and Y.1731,
# whose times show the one clock that both have. A busy machine cannot keep up the
# load, and then the throughput says nothing, which is a skip; what is counted holds anyway.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
work=$(mktemp -d)
reflector=
trap '[ -z "$reflector" ] || kill -9 "$reflector"; rm -rf "$work"' EXIT

cat >"$work/reflect.yaml" <<EOF
test: reflect
ports:
  far: {device: 'memif:$work/far.sock,server', mac: '02:00:00:00:00:77', ipv4: 198.18.1.1/24}
EOF
cat >"$work/near.yaml" <<EOF
test: rfc2544
ports:
  near: {device: 'memif:$work/far.sock', ipv4: 198.18.1.2/24, gateway: 198.18.1.1, line_rate: 1Gbps}
host: {max_lag: 1s}      # who waits for the processor has so long, and as long for the drain
rfc2544:
  topology: loopback
  frame_sizes: [64]
  learning_wait: 50ms
  throughput: {max: 2kfps, trial: 1s}
EOF

cat >"$work/oam.yaml" <<EOF
test: oam
ports:
  near: {device: 'memif:$work/far.sock', ipv4: 198.18.1.2/24, gateway: 198.18.1.1, line_rate: 1Gbps}
oam: {peer: {ipv4: 198.18.1.1, mac: '02:00:00:00:00:77'}, count: 20, interval: 5ms, drain: 1s,
  learning_wait: 0s}
EOF

# reflect SETTING...: start the reflector
reflect() {
	: >"$work/reflector"
	"$program" reflect "$work/reflect.yaml" "$@" >>"$work/reflector" 2>&1 &
	reflector=$!
	for _ in {1..1200}; do
		! grep -q '^far ' "$work/reflector" || return 0
		sleep 0.05
	done
	echo "not ok - reflect: it did not start"
	sed 's/^/# /' "$work/reflector"
	exit 1
}

reflect
"$program" run "$work/near.yaml" --quick --set rfc2544.drain=1s --out "$work/run" >"$work/log" 2>&1
kill -INT "$reflector"
wait "$reflector"
status=$? reflector=
counted=$(sed -n '/^total/,$s/^far *//p' "$work/reflector")
/usr/bin/python3 - "$work/run" "$counted" "$status" <<'EOF' || tail -n 15 "$work/log" | sed 's/^/# /'
import json, re, sys

result = json.load(open(sys.argv[1] + "/result.json"))
rows, trials = result["results"]["throughput"], result["trials"]
sent = sum(t["tx"] for t in trials)
# frames that the tester sent, and its questions for the gateway
numbers = {name: int(n.replace(",", "")) for n, name in re.findall(r"([\d,]+) ([a-z ]+)", sys.argv[2])}
problems = []

def check(what, holds):
    if not holds:
        problems.append(what)

check("the direction is %s" % rows[0]["direction"], all(row["direction"] == "near->near" for row in rows))
check("the throughput is %s" % [row["throughput_fps"] for row in rows],
      all(row["validity"] == "tester-limited" or (row["throughput_fps"], row["validity"]) == (2000, "valid")
          for row in rows))
check("%s frames sent, %s back" % (sent, sum(t["rx"] for t in trials)),
      sent > 0 and all(t["tx"] == t["rx"] for t in trials))
check("no latency: %s" % trials[-1]["latency"], trials[-1]["latency"] and trials[-1]["latency"]["min_ns"] > 0)
check("the reflector says %s; sent were %d" % (sys.argv[2], sent),
      numbers["forwarded"] == sent + numbers["answered"] and numbers["answered"] >= 1)
check("the reflector ended with %s" % sys.argv[3], sys.argv[3] == "0")
busy = any(row["validity"] != "valid" for row in rows)
print("\n".join("not ok - reflect: " + p for p in problems) if problems
      else "ok - every frame comes back from a reflector" +
      (" # SKIP this machine is too busy: tester-limited" if busy else ""))
sys.exit(len(problems) > 0)
EOF

# probes MODE TESTS: to a reflector of that mode
probes() {
	reflect --set "reflect.mode=$1"
	"$program" run "$work/oam.yaml" --set "oam.tests=$2" --out "$work/$1" >"$work/log" 2>&1
	kill -INT "$reflector"
	wait "$reflector"
	reflector=
	/usr/bin/python3 - "$work/$1/result.json" <<'EOF' || tail -n 15 "$work/log" | sed 's/^/# /'
import json, sys

problems = []
for row in json.load(open(sys.argv[1]))["results"]["oam"]:
    counts = [row[key] for key in ("sent", "received", "duplicates", "reordered", "wrong")]
    offset, ways = row["clock_offset_ns"], (row["stateful"], row["forward_lost"], row["backward_lost"])
    if counts != [20, 20, 0, 0, []]:
        problems.append("%s: %s" % (row["test"], counts))
    if ways != ((True, 0, 0) if row["test"] == "stamp" else (None, None, None)):
        problems.append("%s: by direction %s" % (row["test"], ways))
    if offset is None or abs(offset) > row["clock_offset_error_ns"]:
        problems.append("%s: one clock is %s ns from itself" % (row["test"], offset))
print("\n".join("not ok - probes: " + p for p in problems) if problems
      else "ok - every probe comes back from a reflector of its kind")
sys.exit(len(problems) > 0)
EOF
}
probes stamp '[stamp]'
probes y1731 '[delay]'
echo 1..3
