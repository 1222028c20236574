#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Our server of iperf3 with the real client, in a network namespace each (iperf3.py).
cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
elif ! command -v iperf3 >/dev/null; then
	echo "1..0 # SKIP iperf3 is missing"
	exit 0
fi
exec /usr/bin/python3 tests/integration/iperf3.py "${FRAMEGAUGE:-build/app/framegauge}"
