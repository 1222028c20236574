#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the pages of a thousand earlier runs cost, in a real browser (history_page.py).
if ! command -v chromium >/dev/null; then
	echo "1..0 # SKIP chromium is not installed"
	exit 0
fi
exec /usr/bin/python3 "$(dirname "$0")/history_page.py"
