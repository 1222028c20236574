#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The campaign of faults: refused memory, kills, full disks, lost descriptors (faults.py).
exec python3 "$(dirname "$0")/faults.py" "${FRAMEGAUGE:-build/app/framegauge}" "$@"
