#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a careless or unlucky user does to the program and its files (abuse.py).
exec python3 "$(dirname "$0")/abuse.py" "${FRAMEGAUGE:-build/app/framegauge}"
