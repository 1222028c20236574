#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The lab frr of tools/lab: when the routes of FRRouting's router moved, by our figures, by zebra's log, which
# has the time just before it changes each of them, and by the kernel's messages, which come after the change.
set -uo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
if [ ! -x /usr/lib/frr/bgpd ]; then
	echo "1..0 # SKIP needs FRRouting"
	exit 0
fi
exec 9>/run/framegauge-lab-tests.lock && flock 9 # tests of another tree wait for the lab to be gone
if [ "$(tools/lab status)" != "no lab is up" ]; then
	echo "1..0 # SKIP a lab is up; tools/lab down takes it away"
	exit 0
fi
program=${FRAMEGAUGE:-build/app/framegauge}
work=$(mktemp -d)
monitor=
clean() {
	[ -z "$monitor" ] || { kill "$monitor"; wait "$monitor"; } 2>/dev/null
	tools/lab down
	rm -rf "$work"
}
trap clean EXIT

# the program of the plan, that notes when it began and ended
cat >"$work/event" <<-END
	#!/bin/bash
	began=\$EPOCHREALTIME
	"\$@" && echo "\$began \$EPOCHREALTIME" >>"$work/events"
END
chmod +x "$work/event"
vtysh="$work/event, vtysh, --vty_socket, /run/framegauge-lab/first, -f, /run/framegauge-lab"

echo 1..3
if ! tools/lab up frr >"$work/log" 2>&1; then
	echo "not ok - the lab is set up"
	sed 's/^/# /' "$work/log"
	exit 1
fi
ip -n fgdut -ts monitor route >"$work/monitor" &
monitor=$!
ip netns exec fgtester "$program" run configs/lab-frr.yaml --quick --set host.max_lag=1s \
	--set convergence.watch=2s --set "convergence.command=[$vtysh/withdraw]" \
	--set "convergence.revert_command=[$vtysh/announce]" --out "$work/run" >"$work/log" 2>&1
python3 tests/integration/frr.py "$work" /run/framegauge-lab/dut/zebra.log || sed 's/^/# /' "$work/log"
