#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Ansible role for agents: read by ansible-lint, and the files that it writes for the example
# (ansible.py).
cd "$(dirname "$0")/../.." && exec /usr/bin/python3 tests/integration/ansible.py \
	"${FRAMEGAUGE:-build/app/framegauge}"
