/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries to the kernel about an interface, over rtnetlink and ethtool's ioctl. The files under
 * /sys/class/net belong to the network namespace in which /sys was mounted, so a tester moved into a lab's
 * namespace would read the counters of another interface of the same name there; a socket answers for the
 * namespace it was opened in, and keeps doing so.
 */
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <rte_common.h>

#include "../port_priv.h"

#define MAX_ROUTES    16
#define DEEPEST_STACK 8

int
fg_netlink_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct timeval patience = {.tv_sec = 2};

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* An attribute's value as far as it fits, for the kernel's structures grow with its versions */
static void
read_attribute(const struct rtattr *attribute, void *out, size_t size)
{
	size_t have = RTA_PAYLOAD(attribute);

	memcpy(out, RTA_DATA(attribute), have < size ? have : size);
}

static void
netlink_read_counters(const struct rtattr *attribute, struct fg_link *out)
{
	struct rtnl_link_stats64 stats = {0};

	read_attribute(attribute, &stats, sizeof(stats));
	out->rx_packets = stats.rx_packets;
	out->rx_dropped = stats.rx_dropped;
	out->rx_missed = stats.rx_missed_errors;
	out->rx_errors = stats.rx_errors;
	out->tx_packets = stats.tx_packets;
	out->tx_dropped = stats.tx_dropped;
	out->tx_errors = stats.tx_errors;
}

static void
read_xdp(const struct rtattr *nest, struct fg_link *out)
{
	const struct rtattr *attribute = RTA_DATA(nest);
	size_t left = RTA_PAYLOAD(nest);

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		uint8_t mode = 0;

		if (attribute->rta_type == IFLA_XDP_PROG_ID)
			read_attribute(attribute, &out->xdp_program, sizeof(out->xdp_program));
		if (attribute->rta_type == IFLA_XDP_ATTACHED) {
			read_attribute(attribute, &mode, sizeof(mode));
			out->xdp_native = mode == XDP_ATTACHED_DRV || mode == XDP_ATTACHED_HW;
		}
	}
}

static void
read_link(const struct nlmsghdr *message, struct fg_link *out)
{
	const struct ifinfomsg *info = NLMSG_DATA(message);
	const struct rtattr *attribute = IFLA_RTA(info);
	size_t left = IFLA_PAYLOAD(message);
	bool elsewhere = false;

	memset(out, 0, sizeof(*out));
	out->index = info->ifi_index;
	out->flags = info->ifi_flags;
	out->ethernet = info->ifi_type == ARPHRD_ETHER;
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		switch (attribute->rta_type & NLA_TYPE_MASK) {
		case IFLA_MTU:
			read_attribute(attribute, &out->mtu, sizeof(out->mtu));
			break;
		case IFLA_LINK:
			read_attribute(attribute, &out->lower, sizeof(out->lower));
			break;
		case IFLA_LINK_NETNSID: /* of a veth: its peer, in another namespace */
			elsewhere = true;
			break;
		case IFLA_MASTER:
			read_attribute(attribute, &out->master, sizeof(out->master));
			break;
		case IFLA_CARRIER_CHANGES:
			read_attribute(attribute, &out->carrier_changes, sizeof(out->carrier_changes));
			break;
		case IFLA_STATS64:
			netlink_read_counters(attribute, out);
			break;
		case IFLA_XDP:
			read_xdp(attribute, out);
			break;
		default:
			break;
		}
	}
	if (elsewhere)
		out->lower = 0;
}

struct link_request {
	struct nlmsghdr header;
	struct ifinfomsg info;
	struct rtattr name_header;
	char name[RTA_ALIGN(IFNAMSIZ)];
};

static void
fill_request(struct link_request *request, const char *name, int index)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_len = NLMSG_LENGTH(sizeof(request->info));
	request->header.nlmsg_type = RTM_GETLINK;
	request->header.nlmsg_flags = NLM_F_REQUEST;
	request->info.ifi_family = AF_UNSPEC;
	request->info.ifi_index = index;
	if (name == NULL)
		return;
	snprintf(request->name, sizeof(request->name), "%s", name);
	request->name_header.rta_type = IFLA_IFNAME;
	request->name_header.rta_len = (unsigned short)RTA_LENGTH(strlen(name) + 1);
	request->header.nlmsg_len += RTA_ALIGN(request->name_header.rta_len);
}

int
fg_netlink_link(int fd, const char *name, int index, struct fg_link *out)
{
	union {
		struct nlmsghdr header;
		char bytes[16384];
	} answer;
	struct link_request request;
	ssize_t length;

	fill_request(&request, name, index);
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		return -errno;
	length = recv(fd, &answer, sizeof(answer), 0);
	if (length < 0)
		return -errno;
	if (!NLMSG_OK(&answer.header, (size_t)length))
		return -EBADMSG;
	if (answer.header.nlmsg_type == NLMSG_ERROR)
		return ((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
	if (answer.header.nlmsg_type != RTM_NEWLINK)
		return -EBADMSG;
	read_link(&answer.header, out);
	return 0;
}

/* Send a request and read the kernel's answer to it, which is an error number */
static int
order(int fd, struct nlmsghdr *request)
{
	union {
		struct nlmsghdr header;
		char bytes[1024];
	} answer;
	ssize_t length;

	request->nlmsg_type = RTM_NEWLINK;
	request->nlmsg_flags |= NLM_F_ACK;
	if (send(fd, request, request->nlmsg_len, 0) < 0)
		return -errno;
	length = recv(fd, &answer, sizeof(answer), 0);
	if (length < 0)
		return -errno;
	if (!NLMSG_OK(&answer.header, (size_t)length) || answer.header.nlmsg_type != NLMSG_ERROR)
		return -EBADMSG;
	return ((const struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
}

int
fg_netlink_set_flag(int fd, int index, unsigned flag, bool on)
{
	struct link_request request;

	fill_request(&request, NULL, index);
	request.info.ifi_flags = on ? flag : 0;
	request.info.ifi_change = flag;
	return order(fd, &request.header);
}

int
fg_netlink_detach_xdp(int fd, int index, bool is_native)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
		struct rtattr nest, program_header;
		int32_t program;
		struct rtattr flags_header;
		uint32_t flags;
	} request = {
		.header = {.nlmsg_len = sizeof(request), .nlmsg_flags = NLM_F_REQUEST},
		.info = {.ifi_family = AF_UNSPEC, .ifi_index = index},
		.nest = {.rta_len = sizeof(request) - offsetof(__typeof__(request), nest),
			 .rta_type = IFLA_XDP | NLA_F_NESTED},
		.program_header = {.rta_len = RTA_LENGTH(sizeof(int32_t)), .rta_type = IFLA_XDP_FD},
		.program = -1, /* none */
		.flags_header = {.rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = IFLA_XDP_FLAGS},
		.flags = is_native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE,
	};

	return order(fd, &request.header);
}

static int
ethtool(int fd, const char *interface, void *request)
{
	struct ifreq query = {.ifr_data = request};

	snprintf(query.ifr_name, sizeof(query.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &query) == 0 ? 0 : -errno;
}

/* Receive queues a frame may arrive on; an interface that knows none has one */
unsigned
fg_link_queues(int fd, const char *interface)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	if (ethtool(fd, interface, &channels) != 0)
		return 1;
	return RTE_MAX(channels.combined_count + channels.rx_count, 1u);
}

/* The kernel first reports the length of its list of link modes, then fills it */
uint64_t
fg_link_rate(int fd, const char *interface)
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

/* Their rate is a constant, or what the host of a virtual machine says */
static bool
has_made_up_rate(int fd, const char *interface)
{
	static const char *const drivers[] = {"veth", "tun", "virtio_net", "dummy", "ifb"};
	struct ethtool_drvinfo known = {.cmd = ETHTOOL_GDRVINFO};

	if (ethtool(fd, interface, &known) != 0)
		return false;
	for (unsigned i = 0; i < RTE_DIM(drivers); i++)
		if (strcmp(known.driver, drivers[i]) == 0)
			return true;
	return false;
}

bool
fg_link_makes_up_rate(int fd, const char *interface)
{
	struct ifreq at = {0};
	struct fg_link link;

	snprintf(at.ifr_name, sizeof(at.ifr_name), "%s", interface);
	for (unsigned depth = 0; depth < DEEPEST_STACK; depth++) {
		if (has_made_up_rate(fd, at.ifr_name))
			return true;
		if (fg_netlink_link(fd, at.ifr_name, 0, &link) != 0 || link.lower == 0)
			return false;
		at.ifr_ifindex = link.lower;
		if (ioctl(fd, SIOCGIFNAME, &at) != 0)
			return false;
	}
	return false;
}

/* The interfaces that default routes of the main table leave through */
struct names {
	char name[MAX_ROUTES][IFNAMSIZ];
	unsigned count;
};

static void
add_name(struct names *names, const char *name)
{
	if (names->count < MAX_ROUTES)
		memcpy(names->name[names->count++], name, IFNAMSIZ);
}

static void
read_default_routes4(struct names *out)
{
	FILE *in = fopen("/proc/net/route", "re");
	char line[256], interface[IFNAMSIZ] = "";
	unsigned destination, flags, mask;

	while (in != NULL && fgets(line, sizeof(line), in) != NULL)
		if (sscanf(line, "%15s %x %*s %x %*s %*s %*s %x", interface, &destination, &flags, &mask) ==
			    4 &&
		    destination == 0 && mask == 0 && (flags & RTF_REJECT) == 0)
			add_name(out, interface);
	if (in != NULL)
		fclose(in);
}

/* Without a default route of IPv6 the loopback interface has one that rejects */
static void
read_default_routes6(struct names *out)
{
	FILE *in = fopen("/proc/net/ipv6_route", "re");
	char line[256], interface[IFNAMSIZ] = "";
	unsigned length, flags;

	while (in != NULL && fgets(line, sizeof(line), in) != NULL)
		if (sscanf(line, "%*s %x %*s %*s %*s %*s %*s %*s %x %15s", &length, &flags, interface) == 3 &&
		    length == 0 && (flags & RTF_REJECT) == 0)
			add_name(out, interface);
	if (in != NULL)
		fclose(in);
}

/*
 * Whether what leaves through the interface @p upper goes over the one with index @p lower: it is that one, a
 * VLAN or the like on it, or the bridge or bond it belongs to.
 */
static bool
goes_over(int fd, const char *upper, int lower)
{
	struct fg_link link, member;
	int ret = fg_netlink_link(fd, upper, 0, &link);

	for (int depth = 0; ret == 0 && depth < DEEPEST_STACK; depth++) {
		if (link.index == lower)
			return true;
		for (int index = lower, up = 0; up < DEEPEST_STACK && index != 0; up++) {
			if (fg_netlink_link(fd, NULL, index, &member) != 0)
				break;
			if (member.master == link.index)
				return true;
			index = member.master;
		}
		if (link.lower == 0)
			break;
		ret = fg_netlink_link(fd, NULL, link.lower, &link);
	}
	return false;
}

bool
fg_netlink_has_default_route(const char *name)
{
	struct names routes = {.count = 0};
	int fd = fg_netlink_open();
	struct fg_link link;
	bool found = false;

	read_default_routes4(&routes);
	read_default_routes6(&routes);
	if (fd >= 0 && fg_netlink_link(fd, name, 0, &link) == 0)
		for (unsigned i = 0; i < routes.count && !found; i++)
			found = goes_over(fd, routes.name[i], link.index);
	if (fd >= 0)
		close(fd);
	return found;
}
