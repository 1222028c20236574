# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests whose cases are commands: `tap FOLDER`, then check and skip for each case, tap_end at last.
# FOLDER keeps the output of the case that runs.
tap() {
	tap_folder=$1 tap_cases=0 tap_failed=0
}

# check NAME COMMAND...: passes if the command does; the output of one that fails is printed
check() {
	local name=$1 word=ok
	shift
	tap_cases=$((tap_cases + 1))
	"$@" >"$tap_folder/tap.log" 2>&1 || { word='not ok' tap_failed=1; }
	echo "$word $tap_cases - $name"
	[ "$word" = ok ] || sed 's/^/# /' "$tap_folder/tap.log"
}

# skip NAME REASON
skip() {
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - $1 # SKIP $2"
}

tap_end() {
	echo "1..$tap_cases"
	exit "$tap_failed"
}
