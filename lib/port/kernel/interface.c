/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel tells about the driver of an interface: its name (ethtool), and what of XDP it can do
 * itself (generic netlink, family "netdev", since Linux 6.3). The numbers are from the kernel's netdev.h,
 * which the headers of older systems do not have.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "../fg_port_about.h"
#include "../port_priv.h"

enum { DEV_GET = 1, DEV_IFINDEX = 1, DEV_XDP_FEATURES = 3 };
enum { XDP_BASIC = 1 << 0, XDP_REDIRECT = 1 << 1, XDP_ZERO_COPY = 1 << 3 };

#define REPLY 8192 /* of the family's description, the longer of the two */

struct request {
	struct nlmsghdr head;
	struct genlmsghdr command;
	char attributes[64];
};

static void
begin(struct request *r, uint16_t type, uint8_t command)
{
	*r = (struct request){
		.head = {.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			 .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST},
		.command = {.cmd = command, .version = 1},
	};
}

static void
add(struct request *r, uint16_t type, const void *data, uint16_t length)
{
	struct nlattr *attribute = (struct nlattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = (uint16_t)(NLA_HDRLEN + length);
	memcpy(attribute + 1, data, length);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + NLA_ALIGN(attribute->nla_len);
}

/* Ask, and find one attribute of the answer. @return its bytes, at most @p length of them; or -errno */
static int
query(int fd, const struct request *r, uint16_t wanted, void *out, uint16_t length)
{
	union {
		struct nlmsghdr head;
		char octets[REPLY];
	} reply;
	ssize_t got = send(fd, r, r->head.nlmsg_len, 0) < 0 ? -1 : recv(fd, &reply, sizeof(reply), 0);
	size_t at = NLMSG_LENGTH(GENL_HDRLEN);

	if (got < 0)
		return -errno;
	if ((size_t)got < NLMSG_HDRLEN || reply.head.nlmsg_len > (size_t)got)
		return -EPROTO;
	if (reply.head.nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)NLMSG_DATA(&reply.head))->error;
	while (at + NLA_HDRLEN <= reply.head.nlmsg_len) {
		const struct nlattr *a = (const struct nlattr *)(reply.octets + at);
		uint16_t size = (uint16_t)(a->nla_len - NLA_HDRLEN);

		if (a->nla_len < NLA_HDRLEN || at + a->nla_len > reply.head.nlmsg_len)
			return -EPROTO;
		if ((a->nla_type & NLA_TYPE_MASK) == wanted) {
			memcpy(out, a + 1, RTE_MIN(size, length));
			return RTE_MIN(size, length);
		}
		at += NLA_ALIGN(a->nla_len);
	}
	return -ENOENT;
}

static int
ask_xdp_features(uint32_t index, uint64_t *features)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), ret;
	struct request r;
	uint16_t family;

	if (fd < 0)
		return -errno;
	begin(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	add(&r, CTRL_ATTR_FAMILY_NAME, "netdev", sizeof("netdev"));
	ret = query(fd, &r, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	if (ret == sizeof(family)) {
		begin(&r, family, DEV_GET);
		add(&r, DEV_IFINDEX, &index, sizeof(index));
		ret = query(fd, &r, DEV_XDP_FEATURES, features, sizeof(*features));
	}
	close(fd);
	return ret == sizeof(*features) ? 0 : ret < 0 ? ret : -EPROTO;
}

static void
ask_driver_name(const char *name, char *out, size_t size)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ifreq request = {.ifr_data = (char *)&info};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0)
		snprintf(out, size, "%.31s", info.driver);
	if (fd >= 0)
		close(fd);
}

int
fg_interface_about(const char *name, struct fg_interface_about *out)
{
	uint32_t index = if_nametoindex(name);
	uint64_t features = 0;

	*out = (struct fg_interface_about){0};
	if (index == 0)
		return -ENODEV;
	ask_driver_name(name, out->driver, sizeof(out->driver));
	out->xdp_known = ask_xdp_features(index, &features) == 0;
	/* AF_XDP needs the program to redirect what it takes */
	out->xdp_native = (features & XDP_BASIC) != 0 && (features & XDP_REDIRECT) != 0;
	out->xdp_zero_copy = (features & XDP_ZERO_COPY) != 0;
	return 0;
}
