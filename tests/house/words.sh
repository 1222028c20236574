#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A text with each kind of words that tools/check-words refuses is refused, with its line; plain ones pass. Of
# tests comments are read, without an argument, and names are not.
set -uo pipefail
cd "$(dirname "$0")/../.."
text=$(mktemp)
tree=$(mktemp -d)
trap 'rm -rf "$text" "$tree"' EXIT
mkdir -p "$tree/tools" "$tree/tests/lua"
cp tools/check-words "$tree/tools"
touch "$tree/README.md" "$tree/CONTRIBUTING.md"
results=0

# report TEXT CONDITION...
report() {
	local name=$1 verdict='not ok'
	shift
	"$@" && verdict=ok
	printf '%s %d - %s\n' "$verdict" $((++results)) "$name"
}

refused() {
	printf '/* plain */\n/* %s */\n' "$1" >"$text"
	[[ $(tools/check-words "$text") == *":2: '$2': write "* ]]
}

passes() {
	printf '/* %s */\n' "$1" >"$text"
	tools/check-words "$text"
}

# in_test NAME TEXT: a test of this name
in_test() {
	printf '%s\n' "$2" >"$tree/tests/$1"
	found=$("$tree/tools/check-words")
	local status=$?
	rm "$tree/tests/$1"
	return $status
}

refused_in_test() {
	! in_test "$1" "$2" && [[ $found == "tests/$1:1: '$3': write "* ]]
}

report 'a pronoun in place of a noun' refused 'longer than that of the round before' 'that of'
report 'its plural, at the begin of a sentence' refused 'Those of the port rest' 'Those of'
report 'a relative that reaches back' refused 'frames, of which one is lost' 'of which'
report 'a machine with the pronoun of a person' refused 'whoever reads it' 'whoever'
report 'an amount without its noun' refused 'at most so many frames' 'so many'
report 'a void as a noun' refused 'NULL: there is none' 'there is none'
report 'a clause in place of a noun' refused 'drop what comes late' 'what comes'
report 'plain words pass' passes 'more than the delay of the frame before, whose sender rests'
report 'a longer word is another word' passes 'it is seen that often'
report 'a comment of a spec' refused_in_test lua/x_spec.lua '-- of a rate above that of the line' 'that of'
report 'a comment behind code of a spec' refused_in_test lua/x_spec.lua 'it("is so") -- of which' 'of which'
report 'a comment of a test in C++' refused_in_test x.cc 'EXPECT_EQ(1, n); /* so many */' 'so many'
report 'the text of a module in Python' refused_in_test x.py '"""What came of it"""' 'What came'
report 'a comment of a script' refused_in_test x.sh '# those of others' 'those of'
report "a test's name passes" in_test lua/x_spec.lua 'it("is that of the line", f)'
report 'None of Python passes' in_test x.py 'if found is None:'
echo "1..$results"
