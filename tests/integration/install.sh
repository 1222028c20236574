#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `meson install` brings to a system, and that the installed program needs no source tree.
set -u
program=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
build=${program%/app/framegauge}
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$(dirname "$0")/tap.bash"
tap "$scratch"
unset FRAMEGAUGE_LUA

has_bridge() { # built where libnats is
	[ -e "$build/app/bridge/framegauge-bridge" ]
}

# only what is installed is built: no test is
install_it() {
	local pages=(framegauge.1 framegauge-plan.5 framegauge _framegauge)
	has_bridge && pages+=(framegauge-bridge.1)
	ninja -C "$build" "${pages[@]/#/packaging/}" &&
		DESTDIR="$scratch/root" meson install -C "$build" --no-rebuild
}

# A line each: * is the name of the machine in the folder of libraries, or zsh's folder of the distribution.
is_there() {
	local file
	while read -r file; do
		compgen -G "$prefix/$file" >/dev/null || { echo "there is no $file"; return 1; }
	done <<-'END'
		bin/framegauge
		share/man/man1/framegauge.1
		share/man/man5/framegauge-plan.5
		share/bash-completion/completions/framegauge
		share/zsh/*/_framegauge
		share/doc/framegauge/README.md
		share/doc/framegauge/docs/how-to/install.md
		share/framegauge/configs/rfc2544-reference.yaml
		share/framegauge/examples/simple-load.lua
		share/framegauge/systemd/kernel-ports.conf
		lib/systemd/system/framegauge@.service
		lib/systemd/system/framegauge-agent.service
		lib/sysusers.d/framegauge.conf
	END
	if has_bridge; then
		ls "$prefix"/{bin/framegauge-bridge,share/man/man1/framegauge-bridge.1} \
			"$prefix/lib/systemd/system/framegauge-bridge.service" || return 1
	fi
	find "$prefix" -path '*/wireshark/plugins/framegauge.lua' | grep . &&
		[ ! -e "$prefix/share/doc/framegauge/docs/generate" ]
}

runs_alone() {
	cd "$scratch" && env -i PATH=/usr/bin:/bin HOME="$scratch" "$prefix/bin/framegauge" run \
		"$prefix/share/framegauge/configs/rfc2544-reference.yaml" --quick \
		--set 'rfc2544.frame_sizes=[512]' --out "$scratch/run" &&
		grep -q '"validity":"valid"' "$scratch/run/trials.jsonl"
}

lints() {
	local text
	text=$(mandoc -T lint "$prefix"/share/man/man1/*.1 "$prefix"/share/man/man5/*.5 2>&1)
	echo "$text"
	[ -z "$text" ]
}

is_hardened() { # UNIT TENTHS: of the exposure that systemd finds, at most
	sed "s|^ExecStart=.*/bin/|ExecStart=$prefix/bin/|" \
		"$prefix/lib/systemd/system/${1%lab}.service" >"$scratch/$1.service"
	systemd-analyze verify --man=no "$scratch/$1.service" >"$scratch/verify" 2>&1
	cat "$scratch/verify"
	[ ! -s "$scratch/verify" ] && systemd-analyze security --no-pager --offline=yes --threshold="$2" \
		"$scratch/$1.service"
}
# The goal is 3.0 or less; and the two traps are not in it.
are_hardened() {
	local unit
	for unit in framegauge@lab framegauge-agent; do
		is_hardened "$unit" 30 || return 1
		grep -E '^(MemoryDenyWriteExecute|ProtectClock)=' "$scratch/$unit.service" && return 1
	done
	! has_bridge || is_hardened framegauge-bridge 15
}

# We are systemd here: sd_notify(3).
tell_systemd() {
	cat >"$scratch/tester.yaml" <<-'END'
		test: rfc2544
		ports: {east: {device: wire0}, west: {device: wire1}}
		reference_device: {rate: 1Gbps}
	END
	cat >"$scratch/agent.yaml" <<-END
		test: agent
		ports: {east: {device: 'vdev:net_null0', line_rate: 1Gbps}}
		agent: {name: here, listen: $scratch/agent, state: $scratch}
	END
	python3 - "$prefix/bin/framegauge" "$scratch" <<-'END'
		import os, socket, subprocess, sys
		program, folder = sys.argv[1:]
		systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		systemd.bind(folder + '/notify')
		systemd.settimeout(60)
		for command in (['serve', folder + '/tester.yaml', '--socket', folder + '/socket'],
		                ['agent', folder + '/agent.yaml']):
		    service = subprocess.Popen([program, *command],
		                               env={**os.environ, 'NOTIFY_SOCKET': folder + '/notify'})
		    try:
		        assert systemd.recv(100) == b'READY=1'
		        service.terminate()
		        assert systemd.recv(100) == b'STOPPING=1'
		        assert service.wait(60) in (0, 130), service.returncode
		    finally:
		        service.kill()
	END
}

lists_components() {
	"$root/tools/sbom" "$build" | python3 -c '
import json, re, sys
text = open(sys.argv[1]).read()
wanted = set(re.findall(r"dependency\(.([a-z0-9.-]+)", re.search(r"(?s)package = \{(.*?)\}", text).group(1)))
listed = {one["name"] for one in json.load(sys.stdin)["packages"]}
sys.exit(f"not listed: {wanted - listed}" if not wanted or wanted - listed else 0)' "$root/lib/meson.build"
}

check "it installs" install_it
prefix=$scratch/root$(meson introspect "$build" --buildoptions | python3 -c '
import json, sys
print(next(option["value"] for option in json.load(sys.stdin) if option["name"] == "prefix"))')
check "everything has its place" is_there
check "the program runs without the source tree" runs_alone
if command -v mandoc >/dev/null; then
	check "the manual pages are flawless" lints
else
	skip "the manual pages are flawless" "mandoc is not installed"
fi
what="the units are good and hardened, without what breaks LuaJIT or the clock"
if command -v systemd-analyze >/dev/null; then
	check "$what" are_hardened
else
	skip "$what" "systemd is not installed"
fi
check "tester and agent tell systemd when they are ready, and that they end" tell_systemd
check "the list of components has every library" lists_components
tap_end
