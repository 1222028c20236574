# SPDX-License-Identifier: BSD-3-Clause
# Runs in the machine of tools/lab-pci, in busybox: what a user without any capability needs for cards at
# vfio-pci, behind an IOMMU. It gives what packaging/60-framegauge-vfio.rules and the unit give: the device
# files for a group, and memory that may be locked.

user=tester id=990
echo "$user:x:$id:$id::/tmp:/bin/sh" >>/etc/passwd
echo "$user:x:$id:" >/etc/group
chmod 1777 /tmp /run
cat >/tmp/plan.yaml <<-END
	isolated_network: true
	ports:
	  east: {device: '0000:00:02.0', ipv4: 198.18.1.2/24}
	  west: {device: '0000:00:04.0', ipv4: 198.18.1.3/24}
	host: {max_lag: 1s}
	test: traffic
	traffic: {duration: 2s}
	streams:
	  there: {from: west, to: east, rate: 10fps, size: 128}
END

# run NAME: as the user; the outcome is left in /lab
run() {
	echo "$1: at $(cut -d ' ' -f 1 /proc/uptime) s"
	su $user -c "grep ^Cap /proc/self/status; ulimit -l; ls -l /dev/vfio
		framegauge run /tmp/plan.yaml --out /tmp/$1" >"$1.log" 2>&1
	echo "$?" >"$1.status"
	cp -r "/tmp/$1" . 2>/dev/null
}

framegauge setup --bind 0000:00:02.0 --bind 0000:00:04.0
group() { # ID MODE
	for file in /dev/vfio/[0-9]*; do
		chgrp "$1" "$file"
		chmod "$2" "$file"
	done
}
ulimit -l unlimited
group 0 600
run others
group $id 660
run group
ulimit -l 1024
run unlocked
