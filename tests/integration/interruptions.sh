#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a run that is interrupted leaves, by method, phase and signal (interruptions.py).
exec python3 "$(dirname "$0")/interruptions.py" "${FRAMEGAUGE:-build/app/framegauge}" "$@"
