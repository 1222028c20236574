# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of this folder share; they source it. It moves to the top of the source tree.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Put in front of a command that needs root: nothing for root, else sudo, which may not ask without a
# terminal.
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if [ -t 0 ] && [ -t 2 ]; then as_root=(sudo); else as_root=(sudo -n); fi
fi

have() {
	command -v "$1" >/dev/null 2>&1
}

# configure DIR [MESON ARGUMENT...]: a build folder fit for use, whatever was there. An earlier Meson, another
# source tree or an interrupted setup leave folders that cannot be reconfigured; such a one is made anew.
configure() {
	local dir=$1 log
	shift
	log=$(mktemp)
	if [ -e "$dir" ]; then
		if [ -f "$dir/build.ninja" ] && meson setup --reconfigure "$dir" "$@" >"$log" 2>&1; then
			rm -f "$log"
			return
		fi
		[ -d "$dir/meson-private" ] || rmdir "$dir" 2>/dev/null || {
			rm -f "$log"
			die "$dir is in the way and is not a build folder: move it"
		}
		say "$dir cannot be used again; making it anew"
		rm -rf "$dir"
	fi
	if ! meson setup "$dir" "$@" >"$log" 2>&1; then
		cat "$log"
		rm -f "$log"
		die "cannot configure $dir"
	fi
	rm -f "$log"
}
