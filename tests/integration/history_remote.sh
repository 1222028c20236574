#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The history of a team in a PostgreSQL that is reached by TCP: the password comes from ~/.pgpass, sslmode
# asks for the server's certificate, and a mistake is a line that names it.
set -u
scratch=$(mktemp -d)
here=$(dirname "$0")
. "$here/postgres.bash"
silent=
trap 'stop_server; [ -z "$silent" ] || kill $silent; rm -rf "$scratch"' EXIT
. "$here/tap.bash"
tap "$scratch"
cd "$scratch" || exit 1

certificate() { # NAME HOST: of a server that only itself vouches for
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-keyout "$1.key" -out "$1.pem" -subj "/CN=$2" -addext "subjectAltName=DNS:$2" 2>/dev/null
}
certificate localhost localhost
certificate other other
make_server
cp localhost.key localhost.pem server/
chmod 600 server/localhost.key
[ "$(id -u)" -ne 0 ] || chown nobody server/localhost.*
read -r port silent_port < <(/usr/bin/python3 -c '
import socket
ends = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[end.getsockname()[1] for end in ends])')
encrypted=(-c ssl=on -c ssl_cert_file="$scratch/server/localhost.pem"
	-c ssl_key_file="$scratch/server/localhost.key")
serve() { # OPTION...
	start_server -c listen_addresses=127.0.0.1 -c port="$port" "$@"
}
serve "${encrypted[@]}"

export HOME=$scratch/home
mkdir home
(umask 077 && echo "localhost:$port:*:lab:$secret" >home/.pgpass)
cat >lab.yaml <<'END'
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: 700kfps, time: free}
rfc2544: {frame_sizes: [512], tests: [throughput], throughput: {resolution: 5%}}
END
check "there is a run" "$FRAMEGAUGE" run lab.yaml --quick --out runs/a

at() { # QUERY [HOST:PORT/DATABASE]
	echo "postgresql://lab@${2:-localhost:$port/postgres}?$1"
}
shared() { # URL [ARGUMENTS]
	"$FRAMEGAUGE" history --in runs --database "$@"
}
seen() { # URL: by which the run is put there and read again
	shared "$1" --json | grep '/runs/a"'
}
# A line of ours, with what libpq says, and without the password.
fails() { # PATTERN URL
	local text status
	text=$(shared "$2" 2>&1)
	status=$?
	echo "$text"
	[ "$status" -eq 4 ] && grep "^framegauge: the database: .*$1" <<<"$text" &&
		! grep "$secret" <<<"$text"
}

check "a run is shared over TCP, with the password of ~/.pgpass" seen "$(at '')"
is_encrypted() {
	PGPASSWORD=$secret psql -qAt "$(at sslmode=verify-full\&sslrootcert="$scratch/localhost.pem")" \
		-c "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()" | grep -x t &&
		seen "$(at sslmode=verify-full\&sslrootcert="$scratch/localhost.pem")"
}
check "with TLS, and a certificate that is the server's" is_encrypted
check "not with one that somebody else vouches for" fails "certificate verify failed" \
	"$(at sslmode=verify-full\&sslrootcert="$scratch/other.pem")"
check "nor where nobody is said to vouch for it" fails "root certificate file .* does not exist" \
	"$(at sslmode=verify-full)"
echo "127.0.0.1:$port:*:lab:$secret" >>home/.pgpass
check "nor under another name" fails 'server certificate for .* does not match host name "127.0.0.1"' \
	"$(at sslmode=verify-full\&sslrootcert="$scratch/localhost.pem" "127.0.0.1:$port/postgres")"
chmod 644 home/.pgpass
check "a ~/.pgpass that others can read gives no password" fails "no password supplied" "$(at '')"
chmod 600 home/.pgpass
check "a database that is not there is named" fails 'database "nowhere" does not exist' \
	"$(at '' "localhost:$port/nowhere")"
psql() {
	PGPASSWORD=$secret command psql -q "$(at '')" -c "$1"
}
psql "CREATE ROLE guest LOGIN PASSWORD '$secret'"
echo "localhost:$port:*:guest:$secret" >>home/.pgpass
check "a user without the right to the tables is told what to ask for" fails \
	"guest may not use the schema .* GRANT USAGE" \
	"postgresql://guest@localhost:$port/postgres"
stop_server
check "where nothing listens, it says where it asked" fails \
	"\"localhost\".*port $port failed: Connection refused" "$(at '')"
serve
check "a server without TLS is refused where TLS is asked for" fails "server does not support SSL" \
	"$(at sslmode=require)"
check "a host without an address is named" fails 'host name "nowhere.invalid"' \
	"$(at '' nowhere.invalid/postgres)"
/usr/bin/python3 -c '
import socket, sys, time
end = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open("silent", "w").close()
time.sleep(600)' "$silent_port" &
silent=$!
until [ -e silent ] || ! kill -0 "$silent"; do sleep 0.05; done
check "a server that does not answer is waited for as long as the URL says" fails "timeout expired" \
	"$(at connect_timeout=2 "localhost:$silent_port/postgres")"
tap_end
