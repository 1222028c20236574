#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of addresses of a Linux bridge with eight ports (switch.sh): its size, how long it keeps them, and
# how fast it learns.
exec "$(dirname "$0")/switch.sh" table
