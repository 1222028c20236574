/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel:INTERFACE, the way to any card without a DPDK driver and to the labs in network namespaces.
 *
 * AF_XDP is preferred: frames bypass the network stack, and the buffers of what was sent are the driver's own. It does
 * not work everywhere (a card with several queues spreads what it receives over all of them, and a socket sees one), so
 * AF_PACKET, which always works, is the second choice and the report says why.
 *
 * The evidence matters as much as the frames. Both DPDK drivers leave out what the kernel dropped before the frame
 * reached them, and that is exactly the loss which must not be blamed on the device under test. So the port finds the
 * driver's socket among the process's descriptors and asks the kernel itself: PACKET_STATISTICS or XDP_STATISTICS for
 * what did not fit into the ring, and the interface's own counters for what was lost before.
 *
 * An interface the host's default route uses is never opened: a test at line rate would cut off whoever started it.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "fg_log.h"
#include "port_priv.h"

#define OVERHEAD          (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)
#define PACKET_RING       4096 /* slots each way: 20 ms at 200,000 frames per second */
#define PACKET_BLOCK      65536u
#define PACKET_SLOT_EXTRA 128 /* of a slot's octets, for the kernel's header and a VLAN tag */
#define XDP_RING          2048
#define MOST_SOCKETS      32

struct fg_kernel {
	struct fg_ethdev dev; /* first */
	char interface[IFNAMSIZ];
	int netlink; /* in the interface's network namespace */
	int socket;  /* the driver's, not ours; -1: not found */
	bool xdp;
	struct fg_link base; /* when the port was opened */
	uint64_t ring_full;  /* AF_PACKET: the kernel forgets when it is asked */
};

static inline struct fg_kernel *
of(struct fg_port *port)
{
	return (struct fg_kernel *)port;
}

static int
domain_of(int fd)
{
	socklen_t size = sizeof(int);
	int domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 ? domain : -1;
}

struct sockets {
	int fd[MOST_SOCKETS];
	unsigned count;
};

/* The process's sockets of one kind */
static void
list_sockets(int domain, struct sockets *out)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;

	out->count = 0;
	if (fds == NULL)
		return;
	while ((entry = readdir(fds)) != NULL && out->count < MOST_SOCKETS) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && domain_of(fd) == domain)
			out->fd[out->count++] = fd;
	}
	closedir(fds);
}

/* The one that was not there before */
static int
find_new_socket(int domain, const struct sockets *before)
{
	struct sockets now;

	list_sockets(domain, &now);
	for (unsigned i = 0; i < now.count; i++) {
		unsigned known = 0;

		while (known < before->count && before->fd[known] != now.fd[i])
			known++;
		if (known == before->count)
			return now.fd[i];
	}
	return -1;
}

static int
ethtool(int fd, const char *interface, void *request)
{
	struct ifreq query = {.ifr_data = request};

	snprintf(query.ifr_name, sizeof(query.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &query) == 0 ? 0 : -errno;
}

/* Receive queues a frame may arrive on; an interface that knows none has one */
static unsigned
count_queues(int fd, const char *interface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	if (ethtool(fd, interface, &channels) != 0)
		return 1;
	return RTE_MAX(channels.combined_count + channels.rx_count, 1u);
}

/* Bits per second; 0: the driver tells none. The kernel says how long its list of link modes is, then fills it. */
static uint64_t
ask_line_rate(int fd, const char *interface)
{
	struct {
		struct ethtool_link_settings settings;
		uint32_t modes[3 * SCHAR_MAX];
	} answer = {.settings.cmd = ETHTOOL_GLINKSETTINGS};

	if (ethtool(fd, interface, &answer) != 0 || answer.settings.link_mode_masks_nwords >= 0)
		return 0;
	answer.settings.link_mode_masks_nwords = (int8_t)-answer.settings.link_mode_masks_nwords;
	answer.settings.cmd = ETHTOOL_GLINKSETTINGS;
	if (ethtool(fd, interface, &answer) != 0 || answer.settings.speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return answer.settings.speed * 1000000ull;
}

/* Frames the driver's ring could not take, since the port was opened */
static uint64_t
count_ring_drops(struct fg_kernel *kernel)
{
	struct xdp_statistics xdp = {0};
	struct tpacket_stats packet = {0};
	socklen_t size = kernel->xdp ? sizeof(xdp) : sizeof(packet);

	if (kernel->socket < 0)
		return 0;
	if (kernel->xdp)
		return getsockopt(kernel->socket, SOL_XDP, XDP_STATISTICS, &xdp, &size) == 0
			       ? xdp.rx_dropped + xdp.rx_ring_full
			       : 0;
	if (getsockopt(kernel->socket, SOL_PACKET, PACKET_STATISTICS, &packet, &size) == 0)
		kernel->ring_full += packet.tp_drops;
	return kernel->ring_full;
}

static void
counters(struct fg_port *port, struct fg_port_counters *out)
{
	struct fg_kernel *kernel = of(port);
	const struct fg_link *base = &kernel->base;
	uint64_t ring = count_ring_drops(kernel), before;
	struct fg_link now;

	fg_ethdev_counters(port, out);
	if (kernel->xdp)
		out->tx_errors = 0; /* that driver counts what it refused, which is still the caller's */
	out->rx_missed = ring;
	if (fg_netlink_link(kernel->netlink, NULL, base->index, &now) != 0)
		return;
	before = now.rx_dropped + now.rx_missed - base->rx_dropped - base->rx_missed;
	/* an interface counts what a full AF_XDP ring turned away as well, or not, as its driver likes */
	out->rx_missed = kernel->xdp ? RTE_MAX(ring, before) : ring + before;
	out->rx_errors = now.rx_errors - base->rx_errors;
	out->tx_errors += now.tx_dropped + now.tx_errors - base->tx_dropped - base->tx_errors;
	out->link_changes = now.carrier_changes - base->carrier_changes;
}

static bool
link_up(struct fg_port *port)
{
	struct fg_link now;

	/* a device unplugged is not up */
	if (fg_netlink_link(of(port)->netlink, NULL, of(port)->base.index, &now) != 0)
		return false;
	return (now.flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

static void
close_port(struct fg_port *port)
{
	struct fg_kernel *kernel = of(port);

	fg_ethdev_stop(&kernel->dev);
	/* DPDK 22.11's AF_XDP driver forgets its socket, which would keep the interface's queue busy */
	if (kernel->xdp && kernel->socket >= 0 && domain_of(kernel->socket) == AF_XDP)
		close(kernel->socket);
	close(kernel->netlink);
	free(kernel);
}

static const struct fg_port_ops kernel_ops = {.counters = counters, .link_up = link_up, .close = close_port};

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
	if (fg_netlink_has_default_route(name))
		return fg_error_set(
			err, EPERM, "device",
			"%s carries this host's default route; a test there would cut the host off", name);
	if (!link->ethernet || (link->flags & IFF_LOOPBACK) != 0)
		return fg_error_set(err, ENOTSUP, "device", "%s is not an Ethernet interface", name);
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
			"raw frames on %s: %s; run as root or give the program the right to: setcap "
			"cap_net_raw,cap_net_admin=ep PROGRAM",
			name, strerror(errno));
	close(raw);
	return 0;
}

static int
start(struct fg_kernel *kernel, const struct fg_ethdev_config *wanted, int domain, struct fg_error *err)
{
	struct sockets before;
	int ret;

	list_sockets(domain, &before);
	memset(&kernel->dev, 0, sizeof(kernel->dev));
	ret = fg_ethdev_start(&kernel->dev, wanted, err);
	if (ret != 0)
		return ret;
	kernel->xdp = domain == AF_XDP;
	kernel->socket = find_new_socket(domain, &before);
	if (kernel->socket < 0)
		fg_log(FG_LOG_WARNING, "%s: the driver's socket is hidden: drops in its ring are not counted",
		       kernel->interface);
	return 0;
}

static int
start_xdp(struct fg_kernel *kernel, const struct fg_port_config *config, struct fg_error *err)
{
	const struct fg_link *link = &kernel->base;
	unsigned queues = count_queues(kernel->netlink, kernel->interface);
	uint32_t room = RTE_MAX(link->mtu + OVERHEAD + XDP_PACKET_HEADROOM + RTE_VLAN_HLEN, 2048u);
	char device[FG_PORT_DEVICE_NAME], args[64];
	struct fg_ethdev_config wanted = {
		.port = config,
		.bus = "vdev",
		.device = device,
		.args = args,
		.max_frame = link->mtu + OVERHEAD,
		.room = room,
	};

	if (link->xdp_program != 0)
		return fg_error_set(err, EBUSY, "device", "a program is attached; ip link set %s xdp off",
				    kernel->interface);
	if (queues > 1)
		return fg_error_set(err, ENOTSUP, "device", "%u queues; ethtool -L %s combined 1", queues,
				    kernel->interface);
	if (sizeof(struct rte_mbuf) + 2 * RTE_PKTMBUF_HEADROOM + room > (uint32_t)getpagesize())
		return fg_error_set(err, EMSGSIZE, "device", "MTU %u does not fit into a page", link->mtu);
	fg_port_number_device(device, sizeof(device), "net_af_xdp");
	snprintf(args, sizeof(args), "iface=%s", kernel->interface);
	return start(kernel, &wanted, AF_XDP, err);
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
	};
	int ret;

	if (slot > PACKET_BLOCK)
		return fg_error_set(err, EMSGSIZE, "device",
				    "%s has an MTU of %u; the largest supported is %u", kernel->interface,
				    kernel->base.mtu, PACKET_BLOCK / 2 - OVERHEAD - PACKET_SLOT_EXTRA);
	fg_port_number_device(device, sizeof(device), "net_af_packet");
	snprintf(args, sizeof(args), "iface=%s,qdisc_bypass=1,framesz=%u,blocksz=%u,framecnt=%u",
		 kernel->interface, slot, PACKET_BLOCK, PACKET_RING);
	ret = start(kernel, &wanted, AF_PACKET, err);
	if (ret == 0)
		kernel->dev.port.caps.rx_ring = kernel->dev.port.caps.tx_ring = PACKET_RING;
	return ret;
}

static const char *
describe_xdp(const struct fg_kernel *kernel)
{
	struct xdp_options options = {0};
	socklen_t size = sizeof(options);
	struct fg_link link;

	if (kernel->socket >= 0 && getsockopt(kernel->socket, SOL_XDP, XDP_OPTIONS, &options, &size) == 0 &&
	    (options.flags & XDP_OPTIONS_ZEROCOPY) != 0)
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

/* The card's NUMA node; the kernel tells it of the namespace /sys belongs to, and a veth has none anyway */
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
	port = &kernel->dev.port;
	port->ops = &kernel_ops;
	port->caps.numa_node = find_node(kernel->interface);
	port->caps.max_frame = kernel->base.mtu + OVERHEAD;
	port->caps.line_rate_bps = ask_line_rate(kernel->netlink, kernel->interface);
	*out = port;
	return 0;
}
