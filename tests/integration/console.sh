#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The console as a person meets it, in a terminal of 80 by 24 (console.py).
if ! command -v tmux >/dev/null; then
	echo "ok - console # SKIP there is no tmux"
	exit 77
fi
exec python3 "$(dirname "$0")/console.py" "${FRAMEGAUGE:-build/app/framegauge}"
