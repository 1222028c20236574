#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A fleet over a NATS server with TLS and keys (nats.py).
cd "$(dirname "$0")/../.." || exit 1
program=${FRAMEGAUGE:-build/app/framegauge}
for needed in nats-server "$(dirname "$program")/bridge/framegauge-bridge"; do
	if ! command -v "$needed" >/dev/null; then
		echo "1..0 # SKIP there is no $needed"
		exit 0
	fi
done
exec /usr/bin/python3 tests/integration/nats.py "$program"
