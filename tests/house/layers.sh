#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each rule of tools/check-layers is broken once in a scratch tree, and the breach must be found. A tree that
# keeps them all passes.
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
spdx='/* SPDX-License-Identifier: BSD-3-Clause */'
results=0

# file PATH LINE...: in the scratch tree, signed
file() {
	mkdir -p "$work/${1%/*}"
	printf '%s\n' "$spdx" "${@:2}" >"$work/$1"
}

# tree: one that keeps all rules: two libraries, of two sources each that call in one direction
tree() {
	rm -rf "${work:?}"/* "$work/.git"
	mkdir -p "$work/tools"
	cp "$root/tools/check-layers" "$work/tools"
	file lib/meson.build "libraries = ['base', 'tx', 'rx']"
	for library in base tx rx; do
		file "lib/$library/fg_$library.h" "int ${library}_up(void);"
		file "lib/$library/${library}_priv.h" '/* What the two share; up.c writes it. */' \
			"int ${library}_down(void);"
		file "lib/$library/up.c" "#include \"${library}_priv.h\"" \
			"int ${library}_up(void) { return ${library}_down(); }"
		file "lib/$library/down.c" "#include \"${library}_priv.h\"" \
			"static int" "${library}_no(void)" "{ return 0; }" \
			"int ${library}_down(void) { return ${library}_no(); }"
	done
	git -C "$work" init -q
	commit "tests: plant a tree"
	since=$(git -C "$work" rev-parse HEAD)
}

commit() {
	git -C "$work" -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m "$1"
}

look() {
	local source library
	rm -rf "$work/build"
	mkdir -p "$work/build/lib"
	for source in "$work"/lib/*/*.c; do
		library=$(basename "${source%/*}")
		cc -c "$source" -o "$work/build/${library}_$(basename "$source").o" || return 2
	done
	for library in base tx rx; do
		(cd "$work/build" && ar rc "lib/libfg_$library.a" "$library"_*.o)
	done
	"$work/tools/check-layers" --since "$since" >"$work/log" 2>&1
}

# found WHAT PATTERN: this breach and no other
found() {
	results=$((results + 1))
	if ! look && [ "$(wc -l <"$work/log")" -eq 1 ] && grep -qE -- "$2" "$work/log"; then
		echo "ok - found: $1"
	else
		echo "not ok - found: $1"
		sed 's/^/# /' "$work/log"
	fi
}

tree
results=1
look || echo -n "not "
echo "ok - a tree that keeps the rules"
sed 's/^/# /' "$work/log"

file lib/base/down.c '#include "base_priv.h"' '#include "fg_base.h"' \
	'int base_down(void) { return base_up(); }'
found "a circle by calls" '^lib/base:0: a circle by calls: down.c up.c$'
tree
file lib/base/up.c '#include "base_priv.h"' 'static int' 'base_no(void)' '{ return 0; }' \
	'int base_up(void) { return base_down() + base_no(); }'
found "a static name twice in a library" '^lib/base/up.c:4: static base_no\(\) is in lib/base/down.c, too$'
tree
file lib/rx/down.c '#include "rx_priv.h"' 'static int' 'tx_no(void)' '{ return 0; }' \
	'int rx_down(void) { return tx_no(); }'
found "a static name in tx and in rx" '^lib/tx/down.c:4: static tx_no\(\) is in lib/rx/down.c, too$'
tree
sed -i '2s|.*|&'"$(printf '\t/* %0100d */' 0)"'|' "$work/lib/base/up.c"
found "a line of code and comment over 110 columns" '^lib/base/up.c:2: longer than 110 columns$'
tree
printf '%0111d\n' 0 | sed 's/^/-- /' >"$work/long"
mkdir -p "$work/scripts-lua"
{ echo "-- SPDX-License-Identifier: BSD-3-Clause"; cat "$work/long"; } >"$work/scripts-lua/x.lua"
found "a line of Lua over 110 columns" '^scripts-lua/x.lua:2: longer than 110 columns$'
tree
mkdir -p "$work/scripts-lua"
printf -- '-- SPDX-License-Identifier: BSD-3-Clause\nx = "%0111d"\nx = "%0111d", "%0111d"\n' 0 0 0 \
	>"$work/scripts-lua/x.lua"
found "a line over 110 columns by more than a string" '^scripts-lua/x.lua:3: longer than 110 columns$'
tree
commit "tests: have a subject that goes on for ever and ever, and then somewhat on"
found "a subject over 72 characters" '^commit:.*: a subject of more than 72 characters'
for subject in "Plant a tree" "tests: planted a tree" "tests: planting a tree" "tests: Plant a tree"; do
	tree
	commit "$subject"
	found "the subject \"$subject\"" '^commit:.*: a subject is `area: imperative`'
done
tree
sed -i 2d "$work/lib/base/base_priv.h"
found "a shared private header without a head" '^lib/base/base_priv.h:1: a private header begins with'
tree
file lib/base/up.c '#if 0' '#include <rte_mbuf.h>' '#endif' '#include "base_priv.h"' \
	'int base_up(void) { return base_down(); }'
found "DPDK in a library below it" '^lib/base/up.c:3: libraries below DPDK may not use it$'
tree
file lib/tx/up.c '#if 0' '#include <rte_ethdev.h>' '#endif' '#include "tx_priv.h"' \
	'int tx_up(void) { return tx_down(); }'
found "an Ethernet device outside of port" '^lib/tx/up.c:3: only lib/port may use rte_ethdev$'
tree
file lib/tx/up.c '#if 0' '#include "rx_priv.h"' '#endif' '#include "tx_priv.h"' \
	'int tx_up(void) { return tx_down(); }'
found "another library's private header" '^lib/tx/up.c:3: rx_priv.h is private to another library$'
tree
file lib/base/fg_base.h '#include "base_priv.h"'
found "a private header in a public one" '^lib/base/fg_base.h:2: a public header may not include a private'
tree
file lib/base/up.c '#include <stdlib.h>' '#include "base_priv.h"' 'int base_up(void) { exit(base_down()); }'
found "a library that exits" '^lib/base/up.c:4: libraries do not print or exit'
tree
sed -i 1d "$work/lib/base/up.c"
found "a file without its licence" '^lib/base/up.c:1: no SPDX'
tree
yes '/* . */' | head -n 450 >>"$work/lib/base/up.c"
found "a file of more than 450 lines" '^lib/base/up.c:453: longer than 450 lines'
echo "1..$results"
