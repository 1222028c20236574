#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sampler for JMeter: its own tests, then JMeter without a window, from Maven's index, which runs a test
# of the reference device with it, makes its dashboard of that and of our result.jtl, and is ended in between.
# What Maven makes stays beside the program, and what it downloads in its own folder.
cd "$(dirname "$0")/../.." || exit 1
program=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
for need in java mvn; do
	if ! command -v "$need" >/dev/null; then
		echo "1..0 # SKIP $need is missing"
		exit 0
	fi
done
. tests/integration/tap.bash
. tests/integration/as_caller.bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
project=$(dirname "$program")/../jmeter-plugin
mkdir -p "$project"
rm -rf "$project/src"
cp -r integrations/jmeter/pom.xml integrations/jmeter/src "$project"
project=$(realpath "$project")

# The first time several hundred files are fetched, so one who waits is not kept from it; later none is.
built=yes
build() { # SECONDS OPTIONS...
	as_caller timeout "$1" mvn -B -q "${@:2}" -f "$project" -P jmeter package >"$work/maven.log" 2>&1
}
lacks_files() {
	[ ! -s "$work/maven.log" ] || grep -qiE \
		'could not (transfer|resolve|find)|cannot access|not been downloaded' "$work/maven.log"
}
if ! build 110 -o && { ! lacks_files || ! build 440; }; then
	if lacks_files; then
		echo "1..0 # SKIP JMeter cannot be had from Maven's index"
		exit 0
	fi
	built=no
fi

home=$project/target/jmeter
mkdir -p "$home/lib/junit"
java=(java "-Djava.util.prefs.userRoot=$work" -jar "$home/bin/ApacheJMeter.jar"
	"-Jjmeter.reportgenerator.temp_dir=$work/temp")
jmeter() {
	timeout 120 "${java[@]}" -j "$work/jmeter.log" "$@" 2>&1 | sed /StatusConsoleListener/d
}
run() { # NAME OPTIONS...: leaves NAME.jtl
	jmeter -n -t integrations/jmeter/example.jmx -Jprogram="$program" -Jfolder="$work/runs" \
		-l "$work/$1.jtl" "${@:2}"
}
# The samples of NAME.jtl: label, response code, success, message
samples() {
	/usr/bin/python3 -c 'import csv, sys
for s in csv.DictReader(open(sys.argv[1])):
    print(s["label"], s["responseCode"], s["success"], s["responseMessage"], sep="|")' "$work/$1.jtl"
}

unit_tests() {
	cat "$work/maven.log"
	[ "$built" = yes ]
}

a_sample_for_each_row() {
	run some -Jexpect='throughput>=95%@64' -e -o "$work/some"
	samples some >"$work/samples"
	cat "$work/samples"
	fell='the device fell short of throughput>=95%@64: 899[0-9]* frames/s'
	grep -qx "RFC 2544|1|false|throughput: 64 bytes, both directions: $fell; criteria: .*" \
		"$work/samples" &&
		grep -q "^criteria: throughput>=95%@64|1|false|" "$work/samples" &&
		grep -qx "throughput: 64 bytes, both directions|1|false|$fell" "$work/samples" &&
		grep -qx "throughput: 512 bytes, both directions|0|true|valid" "$work/samples" &&
		[ "$(wc -l <"$work/samples")" = 5 ]
}

# dashboard FOLDER SAMPLES ERRORS: its figures are finite, and as many
dashboard() {
	/usr/bin/python3 -c 'import json, sys
every = json.load(open(sys.argv[1] + "/statistics.json"))
print(json.dumps(every, indent=1))
assert all(isinstance(value, (int, float)) for one in every.values() for key, value in one.items()
           if key != "transaction")
total = every["Total"]
assert [total["sampleCount"], total["errorCount"]] == [int(n) for n in sys.argv[2:]]' "$@" &&
		[ -s "$1/index.html" ]
}

dashboard_of_ours() {
	"$program" run configs/l4-battery-reference.yaml --quick --out "$work/l4" &&
		jmeter -g "$work/l4/result.jtl" -o "$work/l4-dashboard" &&
		dashboard "$work/l4-dashboard" "$(($(wc -l <"$work/l4/result.jtl") - 1))" 0
}

a_bad_plan() {
	printf 'test: rfc2544\nports: 5\n' >"$work/bad.yaml"
	run bad -Jplan="$work/bad.yaml"
	samples bad | tee "$work/samples"
	grep -q "^RFC 2544|2|false|.*bad.yaml:2:8: ports: " "$work/samples" &&
		[ "$(wc -l <"$work/samples")" = 1 ]
}

started() {
	pgrep -f " run .*$work/stopped/"
}

# JMeter is ended while it runs the first of many runs: that one keeps its result, and no other begins.
ended_with_jmeter() {
	local plan=$PWD/configs/rfc2544-reference.yaml
	sed 's/forever">false/forever">true/' integrations/jmeter/example.jmx >"$work/loop.jmx"
	"${java[@]}" -j "$work/stop.log" -n -t "$work/loop.jmx" -Jprogram="$program" -Jplan="$plan" \
		-Jset=reference_device.time=real -Jfolder="$work/stopped" -l "$work/stopped.jtl" &
	local jmeter=$!
	for _ in $(seq 600); do
		# its plan is there when it has opened its ports
		ls "$work"/stopped/*/plan.yaml >/dev/null 2>&1 && break
		sleep 0.1
	done
	started || { kill -9 "$jmeter"; return 1; }
	kill "$jmeter"
	wait "$jmeter"
	! started && ls "$work"/stopped/* && [ "$(ls "$work/stopped" | wc -l)" = 1 ] &&
		ls "$work"/stopped/*/result.jtl
}

tap "$work"
check "the sampler passes its own tests" unit_tests
check "JMeter has a sample for the run, each row and criterion" a_sample_for_each_row
check "JMeter makes its dashboard of them" dashboard "$work/some" 5 3
check "JMeter makes its dashboard of our own result.jtl" dashboard_of_ours
check "a bad plan is a failed sample with the program's message" a_bad_plan
check "a run ends with JMeter" ended_with_jmeter
tap_end
