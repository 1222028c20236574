#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# TCP and UDP between two agents in processes of their own, through a Linux bridge (fleet_l4.py).
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/bridge.bash
bridge fl4 2 mcast_snooping 0
ip netns exec "$tester" /usr/bin/python3 tests/integration/fleet_l4.py "$program" "$work" "$dut"
