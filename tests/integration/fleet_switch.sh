#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of switches between the ports of agents in processes of their own, through a Linux bridge with four
# ports that snoops (fleet_switch.py).
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/bridge.bash
bridge fswitch 4 mcast_snooping 1
ip -n "$dut" link set fgbridge type bridge mcast_query_response_interval 50 mcast_query_interval 500 \
	mcast_startup_query_interval 50 mcast_last_member_interval 10 mcast_last_member_count 2
ip -n "$dut" link set fgbridge type bridge mcast_querier 1
ip netns exec "$tester" /usr/bin/python3 tests/integration/fleet_switch.py "$program" "$work" "$dut"
