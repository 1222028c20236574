#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ports over DPDK's own devices and over kernel interfaces (test_port.cc, test_port_kernel.cc), as one step of
# tools/test. The program is built here when the build folder has not got it yet.
set -o pipefail
build=$(dirname "$(dirname "${FRAMEGAUGE:-build/app/framegauge}")")
ninja -C "$build" tests/integration/integration_port >/dev/null || exit 1
"$build/tests/integration/integration_port" |
	sed -E -n '
		s/^\[       OK \] /ok - /p
		s/^\[  SKIPPED \] ([A-Za-z].*) \(.*/ok - \1 # SKIP needs root/p
		s/^\[  FAILED  \] ([A-Za-z].*) \(.*/not ok - \1/p
		/Failure$/,/^\[/{/^\[/!p}'
