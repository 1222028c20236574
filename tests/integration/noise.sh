#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The noise campaign of a fixed seed, in short form but for the long tests: the tester is held up at seeded
# moments, and no figure may be wrong.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
FRAMEGAUGE=$program NOISE=$(dirname "$program")/../tests/noise exec python3 tests/noise/campaign.py \
	$([ -n "${FRAMEGAUGE_LONG-}" ] && echo 1-4 || echo 1 --short)
