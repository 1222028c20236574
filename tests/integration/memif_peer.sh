#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A memif peer in another process that is killed in mid-trial and comes back: memif_peer.lua.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpus=$(taskset -cp $$ | sed -E 's/.*: //')

cat >"$work/reflect.yaml" <<EOF2
test: reflect
ports:
  far: {device: 'memif:$work/far.sock,server', ipv4: 198.18.1.1/24}
EOF2
cat >"$work/near.yaml" <<EOF2
test: rfc2544
ports:
  near: {device: 'memif:$work/far.sock', ipv4: 198.18.1.2/24, gateway: 198.18.1.1, line_rate: 1Gbps}
host: {max_lag: 1s}
rfc2544: {topology: loopback, frame_sizes: [64]}
EOF2
FRAMEGAUGE=$program "$program" script tests/integration/memif_peer.lua "$work/near.yaml" \
	"$work/reflect.yaml" "$cpus" ||
	echo "# status $?: results are missing"
echo 1..3
