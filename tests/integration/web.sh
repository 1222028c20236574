#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of a tester in a real browser (web.py), with axe-core from npm, which is kept beside the program.
if ! command -v chromium >/dev/null; then
	echo "1..0 # SKIP chromium is not installed"
	exit 0
fi
. "$(dirname "$0")/as_caller.bash"
axe=$(dirname "${FRAMEGAUGE:-build/app/framegauge}")/../axe-core
if [ ! -e "$axe/package/axe.min.js" ] && command -v npm >/dev/null; then
	rm -rf "$axe"
	mkdir -p "$axe"
	(cd "$axe" && as_caller timeout 120 npm pack --silent --cache "${TMPDIR:-/tmp}/npm" axe-core@4 &&
		tar xzf axe-core-*.tgz) >/dev/null 2>&1
fi
AXE=$axe/package/axe.min.js exec /usr/bin/python3 "$(dirname "$0")/web.py"
