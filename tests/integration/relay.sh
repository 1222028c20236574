#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The relay and the reflector between ports that the test plays: test_relay.cc.
exec "$(dirname "$0")/gtest-tap" relay
