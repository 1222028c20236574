#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ports over DPDK's own devices and over kernel interfaces: test_port.cc, test_port_kernel.cc.
exec "$(dirname "$0")/gtest-tap" port
