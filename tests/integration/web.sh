#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of a tester in a real browser (web.py), with axe-core from npm, which is kept beside the program.
if ! command -v chromium >/dev/null; then
	echo "1..0 # SKIP chromium is not installed"
	exit 0
fi
. "$(dirname "$0")/axe.bash"
exec /usr/bin/python3 "$(dirname "$0")/web.py"
