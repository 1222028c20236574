#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page of the console, typed into a terminal (console_page.py).
if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP there is no tmux"
	exit 0
fi
exec /usr/bin/python3 "$(dirname "$0")/console_page.py" "${FRAMEGAUGE:-build/app/framegauge}"
