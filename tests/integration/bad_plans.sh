#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad plans: an error for each with its place and what was expected, exit status 2, nothing sent
# (bad-plans/check.py).
exec /usr/bin/python3 "$(dirname "$0")/bad-plans/check.py" "${FRAMEGAUGE:-build/app/framegauge}"
