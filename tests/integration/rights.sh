#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an ordinary user needs: nothing for the wire and for memif; for ports of the kernel what the files in
# packaging/drop-ins give for AF_PACKET and for AF_XDP, and not one capability less. For these CAP_IPC_LOCK
# stands for the unit's LimitMEMLOCK=infinity, which not every machine may give to a test.
set -u
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP needs root"
	exit 0
fi
program=$(realpath "${FRAMEGAUGE:-build/app/framegauge}")
drop_ins=$(cd "$(dirname "$0")/../.." && pwd)/packaging/drop-ins
unset FRAMEGAUGE_LUA
id=$(mktemp -u XXXXXX)
space=fg-rights-$id
scratch=$(mktemp -d)
trap 'ip netns del "$space" 2>/dev/null; rm -rf "$scratch"' EXIT
chmod 777 "$scratch"
ip netns add "$space" && ip -n "$space" link add ra type veth peer name rb || exit 1
ip -n "$space" link set ra up && ip -n "$space" link set rb up || exit 1
for kind in af_packet af_xdp; do
	cat >"$scratch/$kind.yaml" <<-END
		test: traffic
		isolated_network: true
		ports:
		  east: {device: 'kernel:ra,$kind', ipv4: 198.18.0.1/24}
		  west: {device: 'kernel:rb,$kind', ipv4: 198.18.0.2/24}
		streams: {s: {rate: 100fps}}
		traffic: {duration: 100ms}
	END
done
two_ports() { # KIND DEVICE DEVICE
	cat >"$scratch/$1.yaml" <<-END
		test: traffic
		ports:
		  east: {device: '$2', ipv4: 198.18.0.1/24}
		  west: {device: '$3', ipv4: 198.18.0.2/24}
		streams: {s: {rate: 100fps}}
		traffic: {duration: 100ms}
	END
}
two_ports wire wire0 wire1
two_ports memif "memif:$scratch/far,server" "memif:$scratch/far"
two_ports closed "memif:$scratch/closed" "memif:$scratch/near"
# a user may not come to where the program was built
cp "$program" "$scratch/framegauge" && chmod 755 "$scratch/framegauge"

. "$(dirname "$0")/tap.bash"
tap "$scratch"

runs_with() { # KIND [CAPABILITY...]
	local kind=$1 caps=-all one
	[ $# -eq 1 ] || caps+=,+ipc_lock
	for one in "${@:2}"; do
		caps+=,+$one
	done
	rm -rf "$scratch/run"
	ip netns exec "$space" setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs \
		--inh-caps="$caps" --ambient-caps="$caps" --bounding-set="$caps" \
		env HOME="$scratch" XDG_RUNTIME_DIR="$scratch" \
		"$scratch/framegauge" run "$scratch/$kind.yaml" --out "$scratch/run"
	cat "$scratch/run/trials.jsonl" # a verdict is the machine's matter here
}
fails_with() { # PATTERN KIND CAPABILITY...
	local text
	text=$(runs_with "${@:2}" 2>&1) && return 1
	echo "$text"
	grep -E "$1" <<<"$text"
}
gives() { # FILE CAPABILITY...: these and no others, as what the unit has and as what it may have
	local line
	for line in AmbientCapabilities CapabilityBoundingSet; do
		grep -x "$line=${*:2}" "$drop_ins/$1" || return 1
	done
}

check "the wire works without any capability" runs_with wire
check "and so does memif" runs_with memif
check "AF_PACKET works with CAP_NET_RAW and CAP_NET_ADMIN" runs_with af_packet net_raw net_admin
check "and not without CAP_NET_ADMIN" fails_with "not permitted" af_packet net_raw
check "nor without CAP_NET_RAW" fails_with "not permitted" af_packet net_admin sys_admin
check "its drop-in gives both" gives kernel-ports.conf CAP_NET_RAW CAP_NET_ADMIN
no_xdp="not permitted|no AF_XDP on ra"
check "AF_XDP works with CAP_SYS_ADMIN besides" runs_with af_xdp net_raw net_admin sys_admin
check "and not with CAP_BPF in its place" fails_with "$no_xdp" af_xdp net_raw net_admin bpf perfmon
check "nor without CAP_NET_ADMIN" fails_with "$no_xdp" af_xdp net_raw sys_admin
check "nor without CAP_NET_RAW" fails_with "$no_xdp" af_xdp net_admin sys_admin
check "its drop-in gives it" gives af-xdp.conf CAP_SYS_ADMIN

# the socket of another user's server, who lets nobody else write to it
/usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$scratch/closed"
chmod 755 "$scratch/closed"
check "a memif server that this user may not join is told from one that is not there" \
	fails_with "may not join the memif server at $scratch/closed" closed
tap_end
