# SPDX-License-Identifier: BSD-3-Clause
# Sourced: AXE is the file of axe-core from npm, which is kept beside the program; where it cannot be had, there
# is no such file.
. "$(dirname "$0")/as_caller.bash"
axe=$(dirname "${FRAMEGAUGE:-build/app/framegauge}")/../axe-core
if [ ! -e "$axe/package/axe.min.js" ] && command -v npm >/dev/null; then
	rm -rf "$axe"
	mkdir -p "$axe"
	(cd "$axe" && as_caller timeout 120 npm pack --silent --cache "${TMPDIR:-/tmp}/npm" axe-core@4 &&
		tar xzf axe-core-*.tgz) >/dev/null 2>&1
fi
export AXE=$axe/package/axe.min.js
