# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A PostgreSQL server in $scratch/server, for the user lab with the password $secret. To be sourced; the
# caller calls stop_server at its end.
postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -z "$postgres" ]; then
	echo "1..0 # SKIP PostgreSQL is not installed"
	exit 0
fi
unset "${!PG@}" # settings of the user who tests
secret=open-sesame-17
server=

as_server=() # it does not run as root
[ "$(id -u)" -ne 0 ] || as_server=(setpriv --reuid=nobody --regid=nogroup --clear-groups)

make_server() { # in $scratch, which it must be able to reach
	chmod 755 "$scratch"
	echo "$secret" >"$scratch/password"
	mkdir "$scratch/server"
	[ "$(id -u)" -ne 0 ] || chown nobody "$scratch/server"
	"${as_server[@]}" "$postgres/initdb" -D "$scratch/server/data" -U lab -A scram-sha-256 \
		--pwfile="$scratch/password" -N >"$scratch/server.log" 2>&1
}

start_server() { # OPTION...
	"${as_server[@]}" "$postgres/postgres" -D "$scratch/server/data" -k "$scratch/server" -F "$@" \
		>>"$scratch/server.log" 2>&1 &
	server=$!
	for _ in {1..600}; do
		"$postgres/pg_isready" -q -h "$scratch/server" -p "${port:-5432}" && return 0
		sleep 0.1
	done
	cat "$scratch/server.log"
	return 1
}

stop_server() {
	[ -z "$server" ] || { kill -INT "$server" && wait "$server"; } 2>/dev/null
	server=
}
