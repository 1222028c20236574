#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Replay and capture on the virtual wire: test_capture*.cc.
exec "$(dirname "$0")/gtest-tap" capture
