#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion in the shells that have one, in a terminal (shell.py).
if ! command -v tmux >/dev/null; then
	echo "ok - shells # SKIP there is no tmux"
	exit 77
fi
exec python3 "$(dirname "$0")/shell.py" "${FRAMEGAUGE:-build/app/framegauge}"
