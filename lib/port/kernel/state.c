/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a kernel interface that a test changes, and the way back. A killed tester cannot go it itself:
 * DPDK's drivers set the promiscuous flag and the XDP program on the interface, not on a socket, so both
 * outlive the process. Another process puts them back from here.
 */
#include <errno.h>
#include <linux/if.h>
#include <unistd.h>

#include "../fg_port_about.h"
#include "../port_priv.h"

static int
find_link(const char *name, int *fd, struct fg_link *link)
{
	int ret;

	*fd = fg_netlink_open();
	if (*fd < 0)
		return *fd;
	ret = fg_netlink_link(*fd, name, 0, link);
	if (ret != 0)
		close(*fd);
	return ret;
}

int
fg_interface_state(const char *name, struct fg_interface_state *out)
{
	struct fg_link link;
	int fd, ret = find_link(name, &fd, &link);

	*out = (struct fg_interface_state){0};
	if (ret != 0)
		return ret;
	close(fd);
	out->index = link.index;
	out->up = (link.flags & IFF_UP) != 0;
	out->promiscuous = (link.flags & IFF_PROMISC) != 0;
	out->xdp = link.xdp_program != 0;
	return 0;
}

int
fg_interface_set(const char *name, enum fg_interface_part part, bool on)
{
	struct fg_link link;
	int fd, ret = find_link(name, &fd, &link);

	if (ret != 0)
		return ret;
	if (part != FG_INTERFACE_XDP)
		ret = fg_netlink_set_flag(fd, link.index, part == FG_INTERFACE_UP ? IFF_UP : IFF_PROMISC, on);
	else if (on)
		ret = -EINVAL;
	else if (link.xdp_program != 0 && (ret = fg_xdp_at_work(&link)) == 0)
		ret = fg_netlink_detach_xdp(fd, link.index, link.xdp_native);
	close(fd);
	return ret;
}
