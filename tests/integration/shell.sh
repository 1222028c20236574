#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion in the shells that have one, in a terminal (shell.py).
if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP there is no tmux"
	exit 0
fi
exec /usr/bin/python3 "$(dirname "$0")/shell.py" "${FRAMEGAUGE:-build/app/framegauge}"
