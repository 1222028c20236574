#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strings in pieces, planted in a scratch tree, are found by tools/join-strings and made whole; what is no
# message, or must stay apart, is left.
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/lib" "$work/scripts-lua"
cp tools/join-strings "$work/tools"
results=0

# becomes WHAT c|lua FILE BEFORE AFTER: the check finds it unless both are the same, and joining makes it so
becomes() {
	local found=0
	results=$((results + 1))
	printf '%b\n' "$4" >"$work/$3"
	"$work/tools/join-strings" --check "$2" >"$work/log" || found=1
	"$work/tools/join-strings" "$2"
	if [ "$(cat "$work/$3")" = "$(printf '%b' "$5")" ] && [ $found = "$([ "$4" = "$5" ]; echo $?)" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		sed 's/^/# /' "$work/$3" "$work/log"
	fi
	rm "$work/$3"
}

lua() { becomes "$1" lua scripts-lua/x.lua "$2" "$3"; }
c() { becomes "$1" c lib/x.c "$2" "$3"; }
lua "a message in two lines" 'error("no " ..\n   "port")' 'error("no port")'
lua "in three parts" 'x = "no " .. "port "\n   .. "is" .. d' 'x = "no port is" .. d'
lua "a frame in hex" 'x = "0800"\n   .. "45"' 'x = "0800"\n   .. "45"'
lua "quotes of both kinds" "x = \"it's \"\n   .. 'a \"b\"'" "x = \"it's a \\\\\"b\\\\\"\""
lua "an argument without brackets" 'x = f "a" .. "b"' 'x = f "a" .. "b"'
lua "a line break between" 'x = "a\\n" .. "b"' 'x = "a\\n" .. "b"'
lua "bytes as numbers" 'x = "\\1" .. "2"' 'x = "\\1" .. "2"'
lua "a variable between" 'x = "a" .. b .. "c"' 'x = "a" .. b .. "c"'
lua "a comment" '-- "a" .. "b"' '-- "a" .. "b"'
c "a message in two lines" 'f("no "\n  "port");' 'f("no port");'
c "a macro between" 'f("%" PRIu64 " frames");' 'f("%" PRIu64 " frames");'
c "a line break between" 'f("a\\n"\n  "b");' 'f("a\\n"\n  "b");'
c "a comment" '/* "a" "b" */' '/* "a" "b" */'
echo "1..$results"
