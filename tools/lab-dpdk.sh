# SPDX-License-Identifier: BSD-3-Clause
# The lab whose device is DPDK's testpmd behind memif; tools/lab sources it.

# Both of testpmd's lcores share the first CPU we may use: there the tester has only its main thread, and both
# main threads sleep.
up_testpmd() {
	local cpu
	have dpdk-testpmd || die "dpdk-testpmd is missing: apt-get install dpdk-dev"
	cpu=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
	mkdir -p "$folder"
	mkfifo "$folder/input" # it waits there for a key
	start stdbuf -oL dpdk-testpmd \
		--no-huge --no-shconf --no-telemetry --no-pci -m 256 --lcores="0@$cpu,1@$cpu" \
		--vdev="net_memif0,role=server,socket=$folder/east.sock,socket-abstract=no" \
		--vdev="net_memif1,role=server,socket=$folder/west.sock,socket-abstract=no" \
		-- --forward-mode=io --auto-start --disable-link-check --total-num-mbufs=16384 \
		<>"$folder/input" >"$folder/testpmd.log" 2>&1
	echo "$pid" >"$folder/testpmd.pid"
	# 22.11's sometimes crashes when a client leaves while it forwards; that is no news by then
	disown "$pid"
	for _ in {1..600}; do
		# a client that comes before the forwarding has started is turned away
		! grep -qs "io packet forwarding - ports=2" "$folder/testpmd.log" || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	tail -n 5 "$folder/testpmd.log" >&2
	down
	die "dpdk-testpmd does not start"
}
