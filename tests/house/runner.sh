#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What tests/watched, tools/results and tools/try-again must not let pass is planted in a project of its own:
# each must be found.
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# plant NAME PROTOCOL COMMAND: a test
plant() {
	printf '%s\n' "$3" >"$work/$1.sh"
	echo "test('$1', watched, args: ['bash', files('$1.sh')], protocol: '$2', suite: 'planted')" \
		>>"$work/meson.build"
}

cat >"$work/meson.build" <<END
project('planted', meson_version: '>=1.0')
watched = find_program('$root/tests/watched')
test('another suite', watched, args: 'true', suite: 'other')
END
plant fine tap 'echo ok; echo "ok - b"; echo 1..2'
plant status exitcode 'exit 0'
plant ended_early tap 'echo ok; exit 0'
plant too_few tap 'echo 1..3; echo ok; echo ok'
plant silent tap 'exit 0'
plant says_why tap 'echo "not ok 1 - b"; echo "# because"; echo filler; echo "1..1"; exit 1'
plant crashed tap 'echo 1..1; echo ok; exit 3'
plant left_behind exitcode 'sleep 30 & exit 0'
plant skipped tap 'echo "1..0 # SKIP nobody allows this"'
plant skipped_case tap 'echo 1..2; echo ok; echo "ok - c # SKIP nor this"'
plant skipped_status exitcode 'echo nor this; exit 77'
plant hangs exitcode 'sleep 30'
sed -i "/'hangs'/s/suite:/timeout: 1, suite:/" "$work/meson.build"
plant twice tap "echo 1..2; echo ok; echo 'not ok - always'; exit 1"
# second NAME FIRST: its first run does FIRST, those after it pass
second() {
	plant "$1" tap "echo 1..1
[ -e '$work/$1.ran' ] && echo 'ok - late' || { touch '$work/$1.ran'; $2; }"
}
second once "echo 'not ok - late'; exit 1"
second busy "echo 'ok - late # SKIP this machine is too busy'"
# by the name of one that tests/skips.txt lets skip
plant reflect.sh tap "echo 1..1
[ -e '$work/reflect.ran' ] && echo 'ok - c # SKIP this machine is too busy' ||
	{ touch '$work/reflect.ran'; echo 'not ok - c'; exit 1; }"
# skips each time, and may where processors are shared
plant mesh.sh tap 'echo ok; echo "ok - c # SKIP this machine is too busy"; echo 1..2'
second signalled "echo 'ok - late'; kill -SEGV \$\$"
second sanitized "echo 'x.c:1:2: runtime error: index out of bounds'; echo 'not ok - late'; exit 1"
again='twice|once|busy|reflect.sh|mesh.sh|signalled|sanitized'
sed -i -E "/'($again)'/s/'planted'/'again'/" "$work/meson.build"

results=0
expect() { # WHAT PATTERN
	results=$((results + 1))
	grep -qE -- "$2" "$work/log" && echo "ok - $1" || { echo "not ok - $1"; }
}

meson setup "$work/build" "$work" >"$work/log" 2>&1 &&
	meson test -C "$work/build" --no-suite again >"$work/log" 2>&1
tools/results "$work/build/meson-logs/testlog" >"$work/log" 2>&1
echo $? >>"$work/log"
expect "a test without a plan fails" '^FAILED ended_early of'
expect "a test with too few results fails" '^FAILED too_few of'
expect "a test without results fails" '^FAILED silent of'
expect "what TAP says of a failed case stands after its name" "^        # because"
expect "a test with a bad exit status fails" '^FAILED crashed of'
expect "a test that leaves a process behind fails" '^FAILED left_behind of'
expect "a test that takes too long fails" '^FAILED hangs of'
expect "a test that skips itself without leave fails" '^FAILED skipped of'
expect "so does one that skips a case" '^FAILED skipped_case of'
expect "so does a program that skips itself" '^FAILED skipped_status of'
expect "results are counted one by one" '^9 passed, 10 failed$'
expect "the exit status tells" '^1$'
sed "s/^/# /" "$work/log"

again=$work/build/meson-logs/again
meson test -C "$work/build" --suite again --logbase again >"$work/log" 2>&1
{
	tools/try-again "$again"
	tools/results "$again"
} >"$work/log" 2>&1
expect "what fails each time is a failure" '^FAILED twice of'
three='^Run again, each alone: (mesh.sh )?(twice reflect.sh|reflect.sh twice)( mesh.sh)?$'
expect "and is run three times" "$three"
expect "what passes alone is named" '^unsteady once: 1 of 2$'
expect "with what failed" '^    1 - late$'
expect "and all that it printed" '^    \| not ok - late$'
expect "what a busy machine skipped runs again, too" 'planted:again / busy'
expect "but a failure is not taken back by a skip" '^FAILED reflect.sh of'
expect "a signal is a failure, whatever comes after it" '^FAILED signalled of'
expect "so is a sanitizer's report" '^FAILED sanitized of'
if grep -q '^FAILED mesh.sh of' "$work/log"; then
	expect "a busy machine is no excuse where processors are not shared" 'does not allow this skip'
else
	expect "what proved nothing is counted" '^proved nothing: 1 case of 1 program, .*: mesh.sh$'
fi
expect "each test counts once" '^(5 passed, 4 failed, 1 skipped|5 passed, 5 failed)$'
sed "s/^/# /" "$work/log"
cp "$work/build/unsteady" "$work/log"
expect "and is kept in a file" 'unsteady once: 1 of 2$'

tools/results --strict "$again" >"$work/log" 2>&1
expect "no test may be unsteady where nothing may be skipped" 'unsteady tests are failures'
sed "s/^/# /" "$work/log"

sed -i "/suite: '(planted|again)'/d" -E "$work/meson.build"
for one in 1 2 3 4 5 6; do second "late$one" "echo 'not ok - late'; exit 1"; done
meson test -C "$work/build" --suite planted --logbase again >"$work/log" 2>&1
{
	tools/try-again "$again"
	tools/results "$again"
} >"$work/log" 2>&1
expect "many unsteady tests are failures" '^7 passed, 6 failed$'
sed "s/^/# /" "$work/log"
echo "1..$results"
