#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several attached to one tester, some of them badly behaved (attach.py).
exec /usr/bin/python3 "$(dirname "$0")/attach.py" "${FRAMEGAUGE:-build/app/framegauge}"
