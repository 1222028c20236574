# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The life of the packages in /package, in a clean root: tools/package --check runs this there. What it prints
# is for a person; it fails at the first thing that is not as it should be.
set -eu
export DEBIAN_FRONTEND=noninteractive
say() { printf '  %s\n' "$*"; }
install() {
	apt-get -qq -y -o Dpkg::Use-Pty=0 install "$@" >/root/apt.log 2>&1 || {
		tail /root/apt.log
		exit 1
	}
}
as_framegauge() { setpriv --reuid framegauge --regid framegauge --clear-groups env HOME=/tmp "$@"; }
left() {
	find / -xdev \( -path /package -o -path /tmp -o -path /root \) -prune -o -iname '*framegauge*' -print
}
until_true() { # COMMAND...: within 30 s
	for _ in {1..300}; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "never true: $*"
	inside journalctl --no-pager --lines 30 2>/dev/null || true
	exit 1
}

# systemd as the first process of namespaces of its own, without a network; $manager is its id here.
boot() {
	unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net bash -c '
		mount -t proc proc /proc
		umount -l /sys
		mount -t sysfs sysfs /sys
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		mount -t tmpfs run /run
		mount -t tmpfs tmp /tmp
		ip link set lo up
		exec env -i container=framegauge /lib/systemd/systemd --unit=basic.target' &
	until_true has_booted $!
}
has_booted() { # ID: of the parent of systemd
	manager=$(cat "/proc/$1/task/$1/children")
	manager=${manager// /}
	[ -n "$manager" ] && [ "$(inside systemctl is-system-running)" = running ]
}
inside() { nsenter --target "$manager" --all -- "$@"; }
is_active() { inside systemctl --quiet is-active "$@"; }
runs() { inside pgrep -u framegauge -f "$1"; }
# shellcheck disable=SC2016
attach() { # NAME COMMAND: what a tester that systemd started answers
	inside setpriv --reuid framegauge --regid framegauge --clear-groups bash -c \
		'framegauge attach "/run/framegauge/$0/socket" <<<"$1"' "$@"
}

apt-get -qq update
install /package/framegauge_*.deb
say "installed: $(framegauge --version | head -n 1)"
getent passwd framegauge >/dev/null
as_framegauge framegauge run /usr/share/framegauge/configs/rfc2544-reference.yaml --quick \
	--set 'rfc2544.frame_sizes=[64]' --out /tmp/run >/tmp/run.log
grep -q '"validity":"valid"' /tmp/run/trials.jsonl
as_framegauge framegauge script /usr/share/framegauge/examples/simple-load.lua >/dev/null
say "used without a source tree, and without root"

echo '# mine' >>/etc/framegauge/reference.yaml
mkdir -p /tmp/next && dpkg-deb -R /package/framegauge_*.deb /tmp/next
sed -i 's/^Version: .*/&+next/' /tmp/next/DEBIAN/control
dpkg-deb --root-owner-group -b /tmp/next /tmp/next.deb >/dev/null
install -o Dpkg::Options::=--force-confold /tmp/next.deb
framegauge --version >/dev/null
tail -n 1 /etc/framegauge/reference.yaml | grep -qx '# mine'
say "upgraded to $(dpkg-query -W -f '${Version}' framegauge); a plan that was changed stays"
install --allow-downgrades /package/framegauge_*.deb /package/framegauge-bridge_*.deb \
	systemd iproute2 procps nats-server openssl
rm -r /tmp/next /tmp/next.deb /tmp/run

boot
say "booted: $(systemctl --version | head -n 1)"
is_active framegauge-agent framegauge-bridge && { echo "something runs that nobody has enabled"; exit 1; }
cp /etc/framegauge/reference.yaml /etc/framegauge/second.yaml
inside systemctl start framegauge@reference framegauge@second
attach reference ports | grep -q wire0
attach second ports | grep -q wire0
say "two testers are started by systemd, and answer"

# what docs/how-to/fleet.md says: two invitations, and their line is all that the hosts are told
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout /root/server.key -out /root/server.pem 2>/dev/null
cat >/root/nats.conf <<'END'
listen: "127.0.0.1:4222"
max_payload: 8MB
tls { cert_file: "/root/server.pem", key_file: "/root/server.key" }
include "users.conf"
END
invite() {
	framegauge fleet invite "$@" --server tls://localhost:4222 --users /root/users.conf \
		--ca /root/server.pem 2>/dev/null | sed 's/^framegauge fleet join \(fg1-[0-9a-f]*\).*/\1/'
}
invite rack1 |
	framegauge fleet join - --port east=vdev:net_null0 --port west=vdev:net_null1 >/root/join.log
grep -qx 'systemctl enable --now framegauge-agent framegauge-bridge' /root/join.log
invite desk --controller | framegauge fleet join - --folder /root/desk >/root/desk.log
grep -qsw localhost /etc/hosts || echo 127.0.0.1 localhost >>/etc/hosts # which a root like this has not
inside nats-server -c /root/nats.conf >/root/nats.log 2>&1 &
inside systemctl start framegauge-agent framegauge-bridge
is_connected() { inside journalctl --no-pager --unit framegauge-bridge | grep 'connected to '; }
until_true is_connected
is_active framegauge-agent framegauge-bridge
say "an agent that was invited and its bridge are started by systemd, and meet a NATS server with TLS"

# as on the host of the controllers, where the same unit has other options
sed 's/bridge\.\(conf\|nkey\)/control.\1/; s,framegauge/bridge$,framegauge/control,' \
	/lib/systemd/system/framegauge-bridge.service >/etc/systemd/system/framegauge-control.service
sed 's,/root/desk/bridge-ca,/etc/framegauge/control-ca,; s,framegauge/bridge/,framegauge/control/,' \
	/root/desk/bridge.conf >/etc/framegauge/control.conf
cp -p /root/desk/bridge.nkey /etc/framegauge/control.nkey
cp -p /root/desk/bridge-ca.pem /etc/framegauge/control-ca.pem
cat >/etc/framegauge/fleet.yaml <<'END'
test: traffic
fleet: {bus: /run/framegauge/control/bus}
ports:
  a: {device: 'agent:rack1/east', ipv4: 198.18.0.1/24}
  b: {device: 'agent:rack1/west', ipv4: 198.18.0.2/24}
streams: {s: {rate: 1fps}}
END
inside systemctl daemon-reload
inside systemctl start framegauge-control
fleet_ports() {
	inside setpriv --reuid framegauge --regid framegauge --clear-groups \
		framegauge fleet ports /etc/framegauge/fleet.yaml
}
fleet_ports | grep -q '^rack1/east .* free '
say "a controller finds the agent's ports through both bridges"
inside systemctl stop framegauge-control

inside apt-get -qq -y remove framegauge framegauge-bridge >/root/apt.log 2>&1 || {
	tail /root/apt.log
	exit 1
}
! command -v framegauge >/dev/null
if is_active 'framegauge*' || runs framegauge; then
	echo "runs on after the packages were removed"
	exit 1
fi
[ -e /etc/framegauge/reference.yaml ] && [ -d /var/lib/framegauge ]
say "removed; nothing runs on, plans and results stay"
rm /etc/framegauge/{second,agent,fleet}.yaml /etc/framegauge/{bridge,control}{.conf,.nkey,-ca.pem} \
	/etc/systemd/system/framegauge-control.service
apt-get -qq -y purge framegauge framegauge-bridge >/dev/null 2>&1
[ -z "$(left)" ] || { echo "left after purge:"; left; exit 1; }
say "purged; nothing is left but the user"
