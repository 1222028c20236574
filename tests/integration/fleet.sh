#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents in processes of their own, joined by memif, and controllers that use their ports, lose them, or are
# stopped (fleet.py).
cd "$(dirname "$0")/../.." && exec /usr/bin/python3 tests/integration/fleet.py \
	"${FRAMEGAUGE:-build/app/framegauge}"
