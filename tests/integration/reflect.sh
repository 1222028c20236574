#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tester with one port and a reflector in another process, joined by memif: every frame comes back, none of
# it is taken for anything else, and the reflector has counted the same. A busy machine cannot keep up the
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
  far: {device: 'memif:$work/far.sock,server', ipv4: 198.18.1.1/24}
EOF
cat >"$work/near.yaml" <<EOF
test: rfc2544
ports:
  near: {device: 'memif:$work/far.sock', ipv4: 198.18.1.2/24, gateway: 198.18.1.1, line_rate: 1Gbps}
host: {max_lag: 1s}      # who waits for the processor has so long, and as long for the drain
rfc2544:
  topology: loopback
  frame_sizes: [64, 1518]
  learning_wait: 50ms
  throughput: {max: 2kfps, trial: 1s}
EOF

# reflect: start the reflector
reflect() {
	: >"$work/reflector"
	"$program" reflect "$work/reflect.yaml" >>"$work/reflector" 2>&1 &
	reflector=$!
	for _ in {1..200}; do
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
echo 1..1
