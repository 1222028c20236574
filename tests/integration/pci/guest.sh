# SPDX-License-Identifier: BSD-3-Clause
# Runs in the machine of tools/lab-pci, in busybox: trials while the cable is pulled, and with several queues.
# The outcome is left in /lab for check.py to judge. The emulator's monitor listens at /dev/monitor.

# ports QUEUES
ports() {
	cat <<-END
		isolated_network: true
		ports:
		  east: {device: '0000:00:02.0', ipv4: 198.18.1.2/24, queues: $1}
		  west: {device: '0000:00:04.0', ipv4: 198.18.1.3/24, queues: $1}
		host: {max_lag: 1s}
		test: traffic
		traffic: {duration: 8s}
		streams:
	END
}

# one stream each way
pair() {
	ports "$1"
	echo '  there: {from: west, to: east, rate: 10fps, size: 128}'
	echo '  back: {from: east, to: west, rate: 10fps, size: 128}'
}

# flows that a card may spread over its queues
flows() {
	ports "$1"
	for flow in 1 2 3 4 5 6 7 8; do
		echo "  there$flow: {from: west, to: east, rate: 2fps, size: 128," \
			"frame: [ethernet, ipv4, {udp: {destination: 500$flow}}]}"
		echo "  back$flow: {from: east, to: west, rate: 2fps, size: 128," \
			"frame: [ethernet, ipv4, {udp: {destination: 600$flow}}]}"
	done
}

# run NAME PLAN [COMMAND]: the command is for the middle of the first trial
run() {
	echo "$1: at $(cut -d ' ' -f 1 /proc/uptime) s"
	framegauge run "$2" --out "$1" >"$1.log" 2>&1 &
	program=$!
	while [ ! -e "$1/run.json" ] && kill -0 "$program" 2>/dev/null; do
		sleep 0.1
	done
	sleep 3
	eval "${3:-:}"
	wait "$program"
	echo "$?" >"$1.status"
	pull on
	sleep 2
}

pull() {
	echo "set_link east $1" >/dev/monitor
}

sysctl -w vm.nr_hugepages=256
framegauge setup >before
framegauge setup --bind 0000:00:02.0 --bind 0000:00:04.0
pair 1 >pair.yaml
framegauge doctor pair.yaml >doctor
run still pair.yaml
run back pair.yaml 'pull off; sleep 1; pull on'
run short pair.yaml 'pull off; usleep 5000; pull on'
run gone pair.yaml 'pull off'
for queues in 2 3 4; do
	pair $queues >pair$queues.yaml
	flows $queues >flows$queues.yaml
	run pair$queues pair$queues.yaml
	[ $queues = 3 ] || run flows$queues flows$queues.yaml
done
framegauge setup --unbind 0000:00:02.0 --unbind 0000:00:04.0
framegauge setup >after
