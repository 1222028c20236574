#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A replay through another process and back: dpdk-testpmd forwards, and every frame arrives in its order. Late
# it may be on a busy machine, and what the tester itself has lost proves nothing: then it is skipped.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/tap.bash
if ! command -v dpdk-testpmd >/dev/null; then
	echo "1..0 # SKIP dpdk-testpmd is not installed"
	exit 0
fi
[ "$(id -u)" -ne 0 ] || { exec 9>/run/framegauge-lab-tests.lock && flock 9; }
if [ "$(tools/lab status)" != "no lab is up" ]; then
	echo "1..0 # SKIP a lab is up; tools/lab down takes it away"
	exit 0
fi
work=$(mktemp -d)
trap 'tools/lab down >/dev/null; rm -rf "$work"' EXIT
tap "$work"

"$program" script tests/integration/capture/generate.lua "$work/frames.pcap" 20 50000 >/dev/null
tools/lab up testpmd >"$work/log" 2>&1 &&
	"$program" replay configs/lab-testpmd.yaml "$work/frames.pcap" --rate 5kfps --duration 2s --verify \
		>"$work/log" 2>&1
same() {
	cat "$work/log"
	grep -q '^verify *SAME' "$work/log"
}
name="a replay comes through dpdk-testpmd as it was sent"
if grep -qE 'LOST BY THE TESTER|^verify +NOT KNOWN' "$work/log"; then
	skip "$name" "this machine is too busy: $(tail -n 1 "$work/log")"
else
	check "$name" same
fi
tap_end
