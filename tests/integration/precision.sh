#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stamps of cards with clocks of their own: test_probe.cc, test_port_stamps.cc.
exec "$(dirname "$0")/gtest-tap" precision
