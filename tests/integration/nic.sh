#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# nic.sh [GROUP]: DPDK's 82599 driver, and the program on it, against the model of the card in tests/nic82599:
# the parts of a group of nic.py, or all.
set -e
program=${FRAMEGAUGE:-build/app/framegauge}
build=$(dirname "$(dirname "$program")")
if [ ! -e "$build/tests/nic82599" ]; then
	echo "1..0 # SKIP the model of the card runs on x86-64"
	exit 77
fi
exec python3 "$(dirname "$0")/nic.py" "$program" "$build/tests/nic82599" "$@"
