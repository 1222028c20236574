#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/watched gives a test the same environment whatever the caller's is, and takes away what it leaves.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/integration/tap.bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tap "$work"

# what a test sees of its caller, with the name of its folder left out
cat >"$work/look" <<'END'
: "${TMPDIR:?}"
echo "umask $(umask), core $(ulimit -c), in $(stat -c %a "$TMPDIR" "$HOME" "$XDG_RUNTIME_DIR" | tr '\n' ' ')"
env | sort | sed "s:$TMPDIR:FOLDER:"
grep SigIgn /proc/self/status
touch "$TMPDIR/left" "$HOME/left"
mkdir -m 0 "$TMPDIR/shut"
[ ${#TMPDIR} -le 18 ] || echo "a socket's path may be too long below $TMPDIR"
echo "$TMPDIR" >"$1/where"
END

look() { # VARIABLE=VALUE...: as a caller with these; its HOME cannot be written
	(umask "$mask" && env -i "PATH=$PATH" HOME=/nonexistent "$@" tests/watched bash "$work/look" "$work")
}

same_for_all() {
	mask=022 look >"$work/plain"
	(trap '' HUP # as from nohup
		mask=077 look LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 TZ=Asia/Kolkata COLUMNS=40 TERM=xterm \
			"TMPDIR=$work/a b" XDG_DATA_HOME=/nonexistent PYTHONPATH=/nonexistent \
			http_proxy=http://192.0.2.1:1 BASH_ENV=/nonexistent >"$work/other") &&
		grep '^umask 0022, core 0, in 1777 700 700 $' "$work/plain" &&
		diff "$work/plain" "$work/other"
}

removed() {
	! ls -d "$(cat "$work/where")"
}

keeps_own() {
	mask=022 look FRAMEGAUGE_A=1 ASAN_OPTIONS=x=2 FUZZ_SEED=3 |
		grep -cxE 'FRAMEGAUGE_A=1|ASAN_OPTIONS=x=2|FUZZ_SEED=3' | grep -x 3
}

knows_its_caller() {
	env -i "PATH=$PATH" HOME=/nonexistent http_proxy=http://192.0.2.1:1 tests/watched bash -c '
		. tests/integration/as_caller.bash
		echo "${http_proxy:-none}" "$HOME"
		as_caller sh -c "echo \$http_proxy \$HOME \$TMPDIR" | sed "s:$TMPDIR:FOLDER:"' >"$work/asked"
	cat "$work/asked"
	[ "$(sed 's:/[a-z/]*/fg [A-Za-z0-9]*:FOLDER:' "$work/asked")" = 'none FOLDER/home
http://192.0.2.1:1 /nonexistent FOLDER' ]
}

removed_when_stopped() {
	tests/watched bash -c "echo \$TMPDIR >'$work/where'; sleep 60" &
	until [ -s "$work/where" ]; do sleep 0.05; done
	kill %1 && ! wait %1
	for _ in {1..600}; do
		[ -e "$(cat "$work/where")" ] || return 0
		sleep 0.1
	done
	return 1
}

goes_first() {
	tests/watched --as-root --urgent nice && tests/watched --urgent --as-root nice &&
		[ "$(tests/watched --as-root --urgent nice)" = -15 ] &&
		[ "$(tests/watched --urgent --as-root nice)" = -15 ]
}

check "the environment does not depend on the caller's" same_for_all
check "what a test leaves in its folder is removed" removed
check "the tester's, the sanitizers' and the fuzzers' variables are kept" keeps_own
check "package managers have the caller's environment" knows_its_caller
rm "$work/where"
check "the folder of a test that is stopped is removed, too" removed_when_stopped
if [ "$(tests/watched --as-root bash -c 'renice -n -15 $$ >/dev/null 2>&1; nice')" = -15 ]; then
	check "an urgent test goes before others" goes_first
else
	skip "an urgent test goes before others" "this user may not raise priorities"
fi
tap_end
