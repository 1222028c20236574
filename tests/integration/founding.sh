#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/founding.lua: each method has its table, all rows are valid, and no share is beyond the line's.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/integration/tap.bash
tap "$work"

# A flow of payload that began before what is measured ends in it: a share may be that much above 100 %.
shares() {
	/usr/bin/python3 - "$work/out" <<'END'
import glob, json, sys
rows = [row for path in glob.glob(sys.argv[1] + "/*/result.json")
        for row in json.load(open(path))["results"]["l4"]]
wrong = [(row["test"], row.get("case"), row["theoretical_percent"]) for row in rows
         if row["validity"] != "valid" or (row["theoretical_percent"] or 0) > 101.5]
print(len(rows), "rows", wrong)
sys.exit(len(rows) < 200 or wrong != [])
END
}

mkdir "$work/out"
check "all methods are measured" "$program" script tools/founding.lua "$work/out"
check "no row is beyond what its line allows" shares
check "the page has a table of each" test "$(grep -o '<table' "$work/out/index.html" | wc -l)" -eq \
	"$(find "$work/out" -mindepth 1 -maxdepth 1 -type d | wc -l)"
tap_end
