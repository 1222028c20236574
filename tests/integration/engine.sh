#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Trials on the virtual wire and on DPDK's rings: test_engine*.cc.
exec "$(dirname "$0")/gtest-tap" engine
