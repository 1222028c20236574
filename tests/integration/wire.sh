#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The virtual wire and the reference device: test_wire*.cc.
exec "$(dirname "$0")/gtest-tap" wire
