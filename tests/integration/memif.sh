#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Memif ports whose peers come and go: test_memif.cc.
exec "$(dirname "$0")/gtest-tap" memif
