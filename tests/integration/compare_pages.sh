#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/compare-pages: Chromium and our tests load the same page from nginx through the emulator, neither
# faster than the path is nor many times slower than the other, with a picture, and nothing is left behind.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root, for network namespaces"
	exit 0
fi
PATH=$PATH:/usr/sbin
for peer in nginx chromium; do
	if ! command -v "$peer" >/dev/null; then
		echo "1..0 # SKIP compare_pages needs $peer, which is not installed"
		exit 0
	fi
done
. tests/integration/tap.bash
work=$(mktemp -d)
mkdir "$work/tmp"
trap 'rm -rf "$work"' EXIT
export RELAYED_ID=$(mktemp -u XXXXXX)

compared() {
	TMPDIR=$work/tmp tools/compare-pages --build "$(dirname "$(dirname "$program")")" --loads 1 \
		--picture "$work/page.svg" 0%/10ms/0% >"$work/out" 2>&1
	local status=$?
	cat "$work/out"
	return $status
}

# 841,728 bytes take 0.337 s of 20 Mbit/s, and the document three round trips of 20 ms over TLS, two without
figures_are_possible() {
	/usr/bin/python3 - "$work/out" <<'EOF'
import sys
rows = [[cell.strip() for cell in line.strip(" |\n").split("|")]
        for line in open(sys.argv[1]) if line.startswith("| 0%")]
assert [row[2] for row in rows] == ["HTTP/1.1", "HTTP/2", "HTTP/1.1, TLS"], rows
for row in rows:
    round_trips = 2 if row[2] == "HTTP/1.1" else 3
    for first, load in (row[3:5], row[5:7]):
        assert float(first) >= 20 * round_trips - 1, row
        assert float(load.split()[0]) >= 337 + 20 * round_trips, row
    assert 0.5 < float(row[8]) < 10, row
EOF
}

picture_has_both() {
	/usr/bin/python3 - "$work/page.svg" <<'EOF'
import sys, xml.etree.ElementTree as tree
texts = ["".join(one.itertext()) for one in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text")]
assert sum(one.startswith(("Chromium: ", "Framegauge: ")) for one in texts) == 2, texts
assert texts.count("photo-8.jpg") == 2, texts
EOF
}

nothing_is_left() {
	! ip netns | grep "^fgtcp.-$RELAYED_ID" && ! ls -A "$work/tmp" | grep .
}

tap "$work"
check "the comparison ends well" compared
check "no load is faster than its path" figures_are_possible
check "the picture has both loads" picture_has_both
check "nothing is left behind" nothing_is_left
tap_end
