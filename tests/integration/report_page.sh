#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of all methods in a real browser: nothing overlaps, nothing is cut (report_page.py).
if ! command -v chromium >/dev/null; then
	echo "1..0 # SKIP chromium is not installed"
	exit 0
fi
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FRAMEGAUGE_FIXTURES=$folder/runs # root's own, which nobody else needs to read
"${FRAMEGAUGE:-build/app/framegauge}" script "$here/report_runs.lua" >"$folder/reports" || exit 1
mapfile -t reports <"$folder/reports"
. "$here/axe.bash"
/usr/bin/python3 "$here/report_page.py" "${reports[@]}"
