#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Our server of the Open Traffic Generator API with the real client, snappi from the Python package index, in
# a virtual environment beside the program (otg.py).
cd "$(dirname "$0")/../.." || exit 1
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/python_index.bash
if ! command -v tshark >/dev/null; then
	echo "1..0 # SKIP tshark is missing"
	exit 0
fi
if ! from_index snappi snappi 'snappi>=1.58,<2'; then
	echo "1..0 # SKIP snappi cannot be had from the Python package index"
	exit 0
fi
exec "$python" tests/integration/otg.py "$program"
