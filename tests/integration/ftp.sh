#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# FTP against other programs over AF_PACKET on veth: our client gets from and puts to vsftpd, our server is
# asked by curl and wget, in every mode, by IPv4 and IPv6, and every byte is compared. Two network namespaces
# of its own, which are gone afterwards.
set -uo pipefail
cd "$(dirname "$0")/../.."
program=${FRAMEGAUGE:-build/app/framegauge}
. tests/integration/linux_host.bash
linux_host ftp
ip netns exec "$linux" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
ip -n "$linux" address add 2001:2:0:1::1/64 dev peer-east nodad
ip -n "$linux" address add 2001:2:0:8000::1/64 dev peer-west nodad
here=$PWD/tests/integration/l4

mkdir -p "$work/www/up" "$work/empty"
/usr/bin/python3 "$here/peer.py" pages "$work/www/octets"
PYTHONPATH=$here /usr/bin/python3 -c '
from streams import CLIENT, octets
import sys
sys.stdout.buffer.write(octets(CLIENT, 0, 20000))' >"$work/client"
chmod 755 "$work" "$work/www" "$work/www/octets" "$work/empty"
chmod 777 "$work/www/up"
vsftpd=
if have_vsftpd=$(command -v vsftpd || ls /usr/sbin/vsftpd 2>/dev/null); then
	vsftpd=vsftpd
	printf '%s\n' listen_ipv6=YES background=NO anonymous_enable=YES local_enable=NO write_enable=YES \
		anon_upload_enable=YES anon_other_write_enable=YES anon_umask=022 ftp_username=daemon \
		nopriv_user=nobody anon_root="$work/www" secure_chroot_dir="$work/empty" isolate=NO \
		isolate_network=NO seccomp_sandbox=NO connect_from_port_20=YES \
		max_per_ip=0 max_login_fails=1 delay_failed_login=0 >"$work/vsftpd.conf"
	on_linux "$work/vsftpd.log" "$have_vsftpd" "$work/vsftpd.conf"
	for _ in {1..1200}; do
		[ -z "$(ip netns exec "$linux" ss -ltnH 'sport = :21')" ] || break
		sleep 0.05
	done
fi

# our client is tried in 15 ways, or skipped; our server by 14 clients, which it is asked about 3 things
# after; two checks stand here
echo "1..$((${vsftpd:+14+} 1 + 17 + 2))"
ask=(ip netns exec "$linux" "$here/ftp_peers.sh" "$work")
ip netns exec "$tester" "$program" script "$here/ftp.lua" "$work" "${ask[*]@Q}" $vsftpd 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok - ftp.lua came to its end"
else
	echo "not ok - ftp.lua ended with status $status"
fi
if [ -z "$vsftpd" ]; then
	echo "ok - vsftpd got every byte as it was sent # SKIP vsftpd is missing"
elif cmp "$work/www/up/20000" "$work/client"; then
	echo "ok - vsftpd got every byte as it was sent"
else
	echo "not ok - what vsftpd got"
	sed 's/^/# /' "$work/vsftpd.log"
fi
