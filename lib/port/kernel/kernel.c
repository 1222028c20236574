/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel:INTERFACE, the way to any card without a DPDK driver and to the labs in network namespaces.
 *
 * AF_XDP is preferred: frames bypass the network stack, and the buffers of what was sent are the driver's
 * own. It does not work everywhere (a card with several queues spreads what it receives over all of them, and
 * a socket sees one), so AF_PACKET, which always works, is the second choice and the report says why.
 *
 * The evidence matters as much as the frames. Both DPDK drivers leave out what the kernel dropped before the
 * frame reached them, and that is exactly the loss which must not be blamed on the device under test. So the
 * port asks the kernel itself: the driver's socket for what did not fit into its ring (driver_socket.c), the
 * interface for what was lost before (netlink.c).
 *
 * An interface the host's default route uses is never opened: a test at line rate would cut off everybody
 * that started it.
 */
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "fg_log.h"
#include "fg_unique_name.h"
#include "kernel_priv.h"

#define OVERHEAD          (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)
#define PACKET_RING       4096 /* slots each way: 20 ms at 200,000 frames per second */
#define PACKET_BLOCK      65536u
#define PACKET_SLOT_EXTRA 128 /* of a slot's bytes, for the kernel's header and a VLAN tag */

static inline struct fg_kernel *
kernel_of(struct fg_port *port)
{
	return (struct fg_kernel *)port;
}

/* Frames the driver's ring could not take, since the port was opened */
static uint64_t
count_ring_drops(struct fg_kernel *kernel)
{
	if (kernel->socket < 0)
		return 0;
	if (kernel->xdp)
		return fg_socket_xdp_drops(kernel->socket);
	kernel->ring_full += fg_socket_new_packet_drops(kernel->socket);
	return kernel->ring_full;
}

/*
 * With DPDK's AF_PACKET driver the kernel drops without a count what is longer than the MTU. The port takes
 * no such frame unless the MTU became less; then what the interface did not count is missing.
 */
static uint64_t
count_discarded(struct fg_kernel *kernel, const struct fg_link *now, uint64_t handed)
{
	const struct fg_link *base = &kernel->base;
	uint64_t left = now->tx_packets + now->tx_dropped + now->tx_errors - base->tx_packets -
			base->tx_dropped - base->tx_errors;

	kernel->mtu_was_less |= now->mtu < base->mtu;
	if (!kernel->mtu_was_less || kernel->xdp || kernel->packet != NULL)
		return 0;
	if (handed > left) /* what the host itself sends makes the difference smaller again */
		kernel->discarded = RTE_MAX(kernel->discarded, handed - left);
	return kernel->discarded;
}

/* Whether the program that was attached at open is no longer the one, or another process uses it */
static bool
is_intercepted(const struct fg_kernel *kernel, const struct fg_link *now)
{
	return kernel->xdp ? now->xdp_program != kernel->base.xdp_program : fg_xdp_at_work(now) != 0;
}

static void
counters(struct fg_port *port, struct fg_port_counters *out)
{
	struct fg_kernel *kernel = kernel_of(port);
	const struct fg_link *base = &kernel->base;
	uint64_t ring = count_ring_drops(kernel), before;
	struct fg_link now;
	int ret;

	if (kernel->packet != NULL)
		fg_packet_counters(kernel->packet, out);
	else
		fg_ethdev_counters(port, out);
	if (kernel->xdp)
		out->tx_errors = 0; /* that driver counts what it did not take; that is still the caller's */
	ring += kernel->packet != NULL ? out->rx_missed : 0;
	out->rx_missed = ring;
	out->intercepts = kernel->intercepts;
	ret = fg_netlink_link(kernel->netlink, NULL, base->index, &now);
	out->removed = ret == -ENODEV;
	if (ret != 0)
		return;
	out->intercepted = is_intercepted(kernel, &now);
	before = now.rx_dropped + now.rx_missed - base->rx_dropped - base->rx_missed;
	/* an interface counts what a full AF_XDP ring turned away as well, or not, as its driver likes */
	out->rx_missed = kernel->xdp ? RTE_MAX(ring, before) : ring + before;
	out->rx_errors = now.rx_errors - base->rx_errors;
	out->tx_errors += count_discarded(kernel, &now, out->tx_frames);
	out->tx_errors += now.tx_dropped + now.tx_errors - base->tx_dropped - base->tx_errors;
	out->link_changes = now.carrier_changes - base->carrier_changes;
}

static bool
kernel_link_up(struct fg_port *port)
{
	struct fg_kernel *kernel = kernel_of(port);
	struct fg_link now;

	/* a device unplugged is not up */
	if (fg_netlink_link(kernel->netlink, NULL, kernel->base.index, &now) != 0)
		return false;
	if (now.xdp_program != kernel->xdp_program) { /* asked once, for it can take a moment */
		kernel->xdp_program = now.xdp_program;
		kernel->intercepts += is_intercepted(kernel, &now);
	}
	return (now.flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

static int
kernel_set_link(struct fg_port *port, bool up)
{
	return fg_netlink_set_flag(kernel_of(port)->netlink, kernel_of(port)->base.index, IFF_UP, up);
}

static void
close_port(struct fg_port *port)
{
	struct fg_kernel *kernel = kernel_of(port);

	if (kernel->packet == NULL)
		fg_ethdev_stop(&kernel->dev);
	fg_packet_stop(kernel->packet);
	close(kernel->netlink);
	free(kernel);
}

static const struct fg_port_ops kernel_ops = {
	.counters = counters,
	.link_up = kernel_link_up,
	.close = close_port,
	.set_link = kernel_set_link,
};

/* Whether the interface may and can be used at all */
static int
examine(struct fg_kernel *kernel, struct fg_error *err)
{
	const char *name = kernel->interface;
	struct fg_link *link = &kernel->base;
	int ret = fg_netlink_link(kernel->netlink, name, 0, link), raw;

	if (ret != 0)
		return fg_error_set(
			err, -ret, "device",
			"there is no interface %s in this network namespace; `ip link` lists them", name);
	if (!link->ethernet || (link->flags & IFF_LOOPBACK) != 0)
		return fg_error_set(err, ENOTSUP, "device", "%s is not an Ethernet interface", name);
	if (fg_netlink_has_default_route(name))
		return fg_error_set(
			err, EPERM, "device",
			"%s carries this host's default route; a test there would cut the host off", name);
	if (link->master != 0)
		return fg_error_set(
			err, EBUSY, "device",
			"%s belongs to a bridge or bond of this host; take it out: ip link set %s nomaster",
			name, name);
	if ((link->flags & IFF_UP) == 0)
		return fg_error_set(err, ENETDOWN, "device", "%s is down; ip link set %s up", name, name);
	raw = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (raw < 0)
		return fg_error_set(
			err, errno, "device",
			"raw frames on %s: %s; run as root or give the program the right to: setcap cap_net_raw,cap_net_admin=ep PROGRAM",
			name, strerror(errno));
	close(raw);
	return fg_xdp_refuse_foreign(name, link, err);
}

static int
start(struct fg_kernel *kernel, const struct fg_ethdev_config *wanted, struct fg_error *err)
{
	int ret = fg_ethdev_start(&kernel->dev, wanted, err);

	if (ret != 0)
		return ret;
	kernel->xdp = wanted->sockets == AF_XDP;
	kernel->socket = kernel->dev.sockets.count > 0 ? kernel->dev.sockets.fd[0] : -1;
	if (kernel->socket < 0)
		fg_log(FG_LOG_WARNING, "%s: the driver's socket is hidden: drops in its ring are not counted",
		       kernel->interface);
	return 0;
}

static int
start_xdp(struct fg_kernel *kernel, const struct fg_port_config *config, struct fg_error *err)
{
	const struct fg_link *link = &kernel->base;
	unsigned queues = fg_link_queues(kernel->netlink, kernel->interface);
	uint32_t room = RTE_MAX(link->mtu + OVERHEAD + XDP_PACKET_HEADROOM + RTE_VLAN_HLEN, 2048u);
	char device[FG_PORT_DEVICE_NAME], args[64];
	struct fg_ethdev_config wanted = {
		.port = config,
		.bus = "vdev",
		.device = device,
		.args = args,
		.max_frame = link->mtu + OVERHEAD,
		.room = room,
		.one_piece = true,
		.sockets = AF_XDP,
	};

	if (queues > 1)
		return fg_error_set(err, ENOTSUP, "device", "%u queues; ethtool -L %s combined 1", queues,
				    kernel->interface);
	if (sizeof(struct rte_mbuf) + 2 * RTE_PKTMBUF_HEADROOM + room > (uint32_t)getpagesize())
		return fg_error_set(err, EMSGSIZE, "device", "MTU %u does not fit into a page", link->mtu);
	fg_unique_name(device, sizeof(device), "net_af_xdp");
	snprintf(args, sizeof(args), "iface=%s", kernel->interface);
	return start(kernel, &wanted, err);
}

static int
start_packet(struct fg_kernel *kernel, const struct fg_port_config *config, struct fg_error *err)
{
	char device[FG_PORT_DEVICE_NAME], args[128];
	uint32_t slot = rte_align32pow2(RTE_MAX(kernel->base.mtu + OVERHEAD + PACKET_SLOT_EXTRA, 2048u));
	struct fg_ethdev_config wanted = {
		.port = config,
		.bus = "vdev",
		.device = device,
		.args = args,
		.max_frame = kernel->base.mtu + OVERHEAD,
		.room = slot,
		.sockets = AF_PACKET,
	};
	int ret;

	if (slot > PACKET_BLOCK)
		return fg_error_set(err, EMSGSIZE, "device",
				    "%s has an MTU of %u; the largest supported is %u", kernel->interface,
				    kernel->base.mtu, PACKET_BLOCK / 2 - OVERHEAD - PACKET_SLOT_EXTRA);
	fg_unique_name(device, sizeof(device), "net_af_packet");
	snprintf(args, sizeof(args), "iface=%s,qdisc_bypass=1,framesz=%u,blocksz=%u,framecnt=%u",
		 kernel->interface, slot, PACKET_BLOCK, PACKET_RING);
	ret = start(kernel, &wanted, err);
	if (ret == 0)
		kernel->dev.port.caps.rx_ring = kernel->dev.port.caps.tx_ring = PACKET_RING;
	return ret;
}

static const char *
describe_xdp(const struct fg_kernel *kernel)
{
	struct fg_link link;

	if (fg_socket_is_zero_copy(kernel->socket))
		return "AF_XDP (zero copy)";
	if (fg_netlink_link(kernel->netlink, NULL, kernel->base.index, &link) == 0 && link.xdp_native)
		return "AF_XDP (copy, in the driver)";
	return "AF_XDP (copy, on socket buffers)";
}

static int
start_best(struct fg_kernel *kernel, const struct fg_port_config *config, enum fg_kernel_mode mode,
	   struct fg_error *err)
{
	char *text = kernel->dev.port.caps.mode;
	const size_t size = sizeof(kernel->dev.port.caps.mode);
	struct fg_error why;
	int ret;

	if (mode == FG_KERNEL_OFFLOAD) {
		ret = fg_packet_start(kernel, config, err);
		if (ret == 0)
			kernel->socket = fg_packet_socket(kernel->packet);
		snprintf(text, size, "AF_PACKET (TCP segments are cut and joined by the interface)");
		return ret;
	}
	if (mode == FG_KERNEL_AF_PACKET) {
		ret = start_packet(kernel, config, err);
		snprintf(text, size, "AF_PACKET (as asked for)");
		return ret;
	}
	ret = start_xdp(kernel, config, &why);
	if (ret == 0) {
		snprintf(text, size, "%s", describe_xdp(kernel));
		return 0;
	}
	if (mode == FG_KERNEL_AF_XDP)
		return fg_error_set(err, -ret, "device", "no AF_XDP on %s: %s", kernel->interface,
				    why.message);
	fg_log(FG_LOG_INFO, "%s: no AF_XDP (%s), taking AF_PACKET", kernel->interface, why.message);
	ret = start_packet(kernel, config, err);
	snprintf(text, size, "AF_PACKET (AF_XDP: %.72s)", why.message);
	return ret;
}

/* The card's NUMA node; the kernel knows it for the namespace of /sys, and a veth has none anyway */
static int
find_node(const char *interface)
{
	char path[64];
	FILE *in;
	int node = -1;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device/numa_node", interface);
	in = fopen(path, "re");
	if (in == NULL)
		return -1;
	if (fscanf(in, "%d", &node) != 1)
		node = -1;
	fclose(in);
	return node;
}

int
fg_kernel_open(const struct fg_port_config *config, const struct fg_port_name *name, struct fg_port **out,
	       struct fg_error *err)
{
	struct fg_kernel *kernel = calloc(1, sizeof(*kernel));
	struct fg_port *port;
	int ret;

	if (kernel == NULL)
		return fg_error_set(err, ENOMEM, "device", "no memory for the port");
	strlcpy(kernel->interface, name->text, sizeof(kernel->interface));
	kernel->netlink = fg_netlink_open();
	ret = kernel->netlink < 0 ? fg_error_set(err, -kernel->netlink, "device", "no rtnetlink socket") : 0;
	if (ret == 0)
		ret = examine(kernel, err);
	if (ret == 0)
		ret = start_best(kernel, config, name->mode, err);
	if (ret != 0) {
		if (kernel->netlink >= 0)
			close(kernel->netlink);
		free(kernel);
		return ret;
	}
	fg_netlink_link(kernel->netlink, NULL, kernel->base.index, &kernel->base);
	kernel->xdp_program = kernel->base.xdp_program;
	port = &kernel->dev.port;
	port->ops = &kernel_ops;
	port->caps.numa_node = find_node(kernel->interface);
	port->caps.max_frame = kernel->base.mtu + OVERHEAD;
	port->caps.partial_checksums = true;
	port->caps.line_rate_bps = fg_link_rate(kernel->netlink, kernel->interface);
	port->caps.made_up_rate = fg_link_makes_up_rate(kernel->netlink, kernel->interface);
	*out = port;
	return 0;
}
