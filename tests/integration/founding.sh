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

# Each column has a cell that is not a dash; and the share is of what stands in front of it.
readable() {
	/usr/bin/python3 - "$work/out/index.html" <<'END'
import html, re, sys
def number(text):
    found = re.match(r"([\d.,]+) ?([kMGT])?", text)
    return float(found[1].replace(",", "")) * {None: 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found[2]]
bad = 0
for table in re.findall(r"<table.*?</table>", open(sys.argv[1]).read(), re.S):
    rows = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)]
            for row in re.findall(r"<tr.*?</tr>", table, re.S)]
    head, lines = [re.sub(r"(%|ms|Mbit/s|median, ms)$", "", one) for one in rows[0]], rows[1:]
    empty = [name for i, name in enumerate(head) if all(line[i] == "–" for line in lines)]
    wrong = [line for line in lines for one in [dict(zip(head, line))] if one.get("Share", "–") != "–" and
             abs(100 * number(one["Measured"]) / number(one["Possible"]) - float(one["Share"])) > 0.3]
    print(len(lines), "rows", head, empty, wrong[:3])
    bad += bool(empty or wrong)
sys.exit(bad)
END
}

mkdir "$work/out"
check "all methods are measured" "$program" script tools/founding.lua "$work/out"
check "no row is beyond what its line allows" shares
check "the page has a table of each" test "$(grep -o '<table' "$work/out/index.html" | wc -l)" -eq \
	"$(find "$work/out" -mindepth 1 -maxdepth 1 -type d | wc -l)"
check "no column is empty, and shares are of what is possible" readable
tap_end
