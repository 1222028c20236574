#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/packages where there is no apt: it finds what is there, and names what is missing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$(dirname "$0")/tap.bash"
tap "$scratch"


# All programs of this machine but those named.
programs_without() {
	local folder program
	rm -rf "$scratch/bin"
	mkdir "$scratch/bin"
	for folder in /usr/sbin /sbin /usr/bin /bin /usr/local/bin; do
		ln -sf "$folder"/* "$scratch/bin/" 2>/dev/null
	done
	for program in apt-get dpkg-query "$@"; do
		rm -f "$scratch/bin/$program"
	done
}

packages() { # WHAT: its status in $status, what it says in $said
	said=$(PATH="$scratch/bin" "$root/tools/packages" "$1" 2>&1)
	status=$?
}

named() {
	[ "$status" -eq 1 ] && [ "$(grep -c '^  ' <<<"$said")" -eq $# ] && for one; do
		grep -qF -- "$one" <<<"$said" || return 1
	done
}

programs_without
packages build
check "what is needed to build is found" [ "$status" -eq 0 ]
programs_without ninja
export PKG_CONFIG_LIBDIR=$scratch
packages build
check "libraries and programs that are missing are named" named Ninja 'libdpdk >= 22.11' libpcap \
	'luajit >= 2.1' numa \
	yaml-0.1 libedit 'libssl >= 3.0' libmicrohttpd libnghttp2 'libngtcp2 >=' \
	libngtcp2_crypto_gnutls 'libnghttp3 >= 0.8' 'gnutls >= 3.7'
unset PKG_CONFIG_LIBDIR
programs_without meson tshark busted
printf '#!/bin/sh\necho 0.63.1\n' >"$scratch/bin/meson"
chmod +x "$scratch/bin/meson"
packages build
check "a Meson that is too old is named" named 'Meson 1.0'
packages test
check "and so is what the tests lack" named 'Meson 1.0' tshark busted
tap_end
