#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lib/tcp against Linux's own TCP over kernel:IF,offload: what l4_linux.sh does, while the veth cuts and joins
# segments for both.
cd "$(dirname "$0")/../.." || exit
exec tests/integration/l4_linux.sh offload
