#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Testers share their history in a real PostgreSQL: the database follows the folders of each, shows what the
# index of a folder shows, keeps no password where it can be read, and is never the only copy.
set -u
scratch=$(mktemp -d)
here=$(dirname "$0")
. "$here/postgres.bash"
trap 'stop_server; rm -rf "$scratch"' EXIT
. "$here/tap.bash"
tap "$scratch"

make_server
start_server -c listen_addresses=
cd "$scratch" || exit 1
url="postgresql://lab@/postgres?host=$scratch/server"
umask 077
echo "*:*:*:lab:$secret" >pgpass
export PGPASSFILE=$scratch/pgpass
umask 022

cat >lab.yaml <<'END'
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, capacity: 700kfps, time: free}
rfc2544: {frame_sizes: [512], tests: [throughput], throughput: {resolution: 5%}}
END
run() { # FOLDER [OPTIONS]
	"$FRAMEGAUGE" run lab.yaml --quick --out "$@"
}
shared() { # FOLDER [ARGUMENTS]: what the database says, asked beside the runs of a folder
	"$FRAMEGAUGE" history --database "$url" --in "$@"
}
folders() { # of what shared prints
	sed -n 's|.*:'"$scratch"'/\([^"]*\)".*|\1|p' | sort | tr '\n' ' '
}

share_runs() {
	run one/a && run one/b && run two/c || return 1
	shared one >/dev/null && shared two >/dev/null || return 1
	local all
	all=$(shared nowhere --json | folders)
	echo "$all"
	[ "$all" = "one/a one/b two/c " ]
}
check "a tester sees the runs of all testers" share_runs

equal() {
	shared one --csv shared.csv && "$FRAMEGAUGE" history --in one --csv own.csv || return 1
	grep -v ":$scratch/two/" shared.csv | sed "s|[^,]*:$scratch/one/||" >ours.csv
	diff own.csv ours.csv && [ "$(wc -l <own.csv)" -ge 3 ]
}
check "its figures are those of the index in the folder, digit by digit" equal
check "and so are the levels" eval 'shared nowhere lab --trend | grep "up to 3 runs, "'

follow() {
	rm -r one/b && sed -i 's/"validity": *"valid"/"validity": "invalid"/' one/a/result.json
	shared one --json >json
	cat json
	[ "$(folders <json)" = "one/a two/c " ] && grep '"validity": *"invalid"' json
}
check "it follows the folders of one tester, and leaves those of others" follow

together() {
	local pids=() pid i
	for i in 1 2 3 4; do
		cp -r two/c "two/d$i"
		shared two --rebuild >/dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return 1
	done
	[ "$(shared two --json | folders)" = "one/a two/c two/d1 two/d2 two/d3 two/d4 " ]
}
check "testers that write at once do not disturb each other" together

no_secret() { # COMMAND...: it fails and does not print the password
	local text
	text=$("$@" 2>&1) && return 1
	echo "$text"
	[ -n "$text" ] && ! grep "$secret" <<<"$text"
}
check "a URL with the password is refused and not repeated" no_secret \
	"$FRAMEGAUGE" history --database "postgresql://lab:$secret@/postgres?host=$scratch/server"
check "nor is one that is no URL" no_secret "$FRAMEGAUGE" history --database "postgresql://lab:$secret@["
PGPASSFILE=/nowhere PGPASSWORD=$secret-not check "nor a password that is wrong" no_secret shared one
check "and no file has it" eval '! grep -r "$secret" one two server.log'

stop_server
gone() {
	local text status
	text=$(shared one 2>&1)
	status=$?
	echo "$text"
	[ "$status" -eq 4 ] && grep 'the database: connection' <<<"$text"
}
check "without a server it says so" gone
keeps() {
	cat >>lab.yaml <<-END
		hooks:
		  team: {command: ['$FRAMEGAUGE', history, --in, '$scratch/one', --database, '$url']}
	END
	run one/late >late.log 2>&1 || return 1
	cat late.log
	grep 'Hook team: it failed' late.log && "$FRAMEGAUGE" history --in one --json | grep '"late"'
}
check "a run loses nothing by that" keeps
start_server -c listen_addresses=
check "and is there when the server is back" eval '[[ $(shared one --json | folders) == *one/late* ]]'
ask() { # SQL
	PGPASSWORD=$secret psql -qAt -h "$scratch/server" -U lab postgres -c "$1" 2>/dev/null
}
ask "DROP SCHEMA $(ask "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'framegauge%'") CASCADE"
check "tables that were lost are made again from the folders" eval \
	'[[ $(shared one --json | folders) == "one/a one/late " ]]'
tap_end
