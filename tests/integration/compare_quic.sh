#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/compare-quic: both programs of others and both of our clients get the file over the path, none faster
# than the path is, and nothing is left behind. Which of them is the faster one is no matter of a test.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
for peer in gtlsserver gtlsclient curl; do
	if ! command -v "$peer" >/dev/null; then
		echo "1..0 # SKIP compare_quic needs $peer"
		exit 0
	fi
done
echo 1..3
work=$(mktemp -d)
mkdir "$work/tmp"
trap 'rm -rf "$work"' EXIT

export RELAYED_ID=$(mktemp -u XXXXXX)
TMPDIR=$work/tmp tools/compare-quic --build "$(dirname "$(dirname "$program")")" --octets 300000 0.5%/5ms/0% \
	>"$work/out" 2>&1
status=$?
check() { # WHAT STATUS
	if [ "$2" -eq 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		sed 's/^/# /' "$work/out"
	fi
}
check "the comparison ends well" "$status"
python3 - "$work/out" <<'EOF'
import sys
rows = [line for line in open(sys.argv[1]) if line.startswith("| 0.5%")]
rates = [cell.split()[0] for cell in rows[0].strip(" |\n").split(" | ")[3:7]]
sys.exit(not (len(rows) == 1 and all(0 < float(rate) < 40 for rate in rates)))
EOF
check "each of the four gets the file, no faster than the path" $?
[ -z "$(ip netns | grep "^fgtcp.-$RELAYED_ID")" ] && [ -z "$(ls "$work/tmp")" ] &&
	[ -z "$(find /proc -maxdepth 2 -name cwd -lname "$work*" 2>/dev/null)" ]
check "nothing is left behind" $?
