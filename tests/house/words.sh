#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A text with each kind of words that tools/check-words refuses is refused, with its line; plain ones pass.
set -uo pipefail
cd "$(dirname "$0")/../.."
text=$(mktemp)
trap 'rm -f "$text"' EXIT
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

report 'a pronoun in place of a noun' refused 'longer than that of the round before' 'that of'
report 'its plural, at the begin of a sentence' refused 'Those of the port rest' 'Those of'
report 'a relative that reaches back' refused 'frames, of which one is lost' 'of which'
report 'a machine with the pronoun of a person' refused 'whoever reads it' 'whoever'
report 'an amount without its noun' refused 'at most so many frames' 'so many'
report 'a void as a noun' refused 'NULL: there is none' 'there is none'
report 'a clause in place of a noun' refused 'drop what comes late' 'what comes'
report 'plain words pass' passes 'more than the delay of the frame before, whose sender rests'
report 'a longer word is another word' passes 'it is seen that often'
echo "1..$results"
