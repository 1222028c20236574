#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two testers in two processes, joined by memif, the far one doing what the near one says (two_testers.py).
cd "$(dirname "$0")/../.." && exec /usr/bin/python3 tests/integration/two_testers.py \
	"${FRAMEGAUGE:-build/app/framegauge}"
