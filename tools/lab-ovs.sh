# SPDX-License-Identifier: BSD-3-Clause
# The labs whose device is Open vSwitch with its datapath in user space; tools/lab sources it. Database and
# switch have their sockets in the folder of the lab, and the switch runs in the namespace of the device:
# nothing of an Open vSwitch that this machine may have is used or changed.

# ovs_start PROGRAM [COMMAND OF ovs-vsctl...]: a database, changed by the commands, and a switch; sets
# `control`
ovs_start() {
	mkdir -p "$folder"
	export OVS_RUNDIR=$folder OVS_LOGDIR=$folder OVS_DBDIR=$folder OVS_SYSCONFDIR=$folder
	control=(ovs-vsctl --timeout=60 "--db=unix:$folder/db.sock")
	ovsdb-tool create "$folder/ovs.db" /usr/share/openvswitch/vswitch.ovsschema
	start ovsdb-server "$folder/ovs.db" --remote="punix:$folder/db.sock" >"$folder/ovsdb.log" 2>&1
	echo "$pid" >"$folder/ovsdb-server.pid"
	"${control[@]}" --retry --no-wait init "${@:2}"
	start ip netns exec "$dut" "$1" "unix:$folder/db.sock" >"$folder/ovs.log" 2>&1
	echo "$pid" >"$folder/ovs-vswitchd.pid"
}

# ovs_bridge [COMMAND OF ovs-vsctl...]: the bridge `lab`, which forwards as switches do
ovs_bridge() {
	"${control[@]}" add-br lab -- set bridge lab datapath_type=netdev "$@" && return
	tail -n 5 "$folder/ovs.log" >&2
	down
	die "Open vSwitch does not start"
}

# With DPDK and two interfaces of one memif socket. Without huge pages; on the first CPU, like testpmd. A
# bridge is an interface of the kernel's, too: in a namespace.
up_ovs() {
	local switch=/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk cpu k card
	have ovs-vsctl && [ -x "$switch" ] ||
		die "Open vSwitch with DPDK is missing: apt-get install openvswitch-switch-dpdk"
	cpu=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
	ip netns add "$dut"
	ovs_start "$switch" -- set Open_vSwitch . other_config:dpdk-init=true \
		"other_config:dpdk-lcore-mask=$((1 << cpu))" "other_config:pmd-cpu-mask=$((1 << cpu))" \
		'other_config:dpdk-extra=--no-huge --no-pci --no-shconf --legacy-mem -m 256'
	for k in 0 1; do
		card=net_memif$k,role=server,id=$k,socket=$folder/ovs.sock,socket-abstract=no
		set -- "${@}" -- add-port lab "memif$k" -- set Interface "memif$k" type=dpdk \
			"options:dpdk-devargs=$card"
	done
	ovs_bridge "$@"
	[ -S "$folder/ovs.sock" ] || die "Open vSwitch does not open its socket: $folder/ovs.log"
}

# With eight interfaces of the kernel's, and a small table of addresses. 15 s is the shortest time after which
# Open vSwitch forgets one.
up_ovs8() {
	local k
	have ovs-vsctl && have ovs-vswitchd ||
		die "Open vSwitch is missing: apt-get install openvswitch-switch"
	make_namespaces
	quiet "$dut"
	connect {1..8}
	for k in {1..8}; do
		ip -n "$dut" link set "dut-$k" up
		set -- "$@" -- add-port lab "dut-$k"
	done
	ovs_start ovs-vswitchd
	ovs_bridge "other_config:mac-table-size=$addresses" other_config:mac-aging-time=15 "$@"
}
