#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The console as a person meets it, in a terminal of 80 by 24 (console.py).
if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP there is no tmux"
	exit 0
fi
exec /usr/bin/python3 "$(dirname "$0")/console.py" "${FRAMEGAUGE:-build/app/framegauge}"
