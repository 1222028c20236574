#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A mesh of agents in processes of their own, through a Linux bridge with four ports (fleet_mesh.py).
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/bridge.bash
bridge fmesh 4 mcast_snooping 0
ip netns exec "$tester" /usr/bin/python3 tests/integration/fleet_mesh.py "$program" "$work" "$dut"
