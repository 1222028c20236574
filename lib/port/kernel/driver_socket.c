/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket below a kernel port. DPDK's AF_PACKET and AF_XDP drivers open it and do not expose it, and
 * neither reads all that the kernel counts there: the frames its ring had no room for, which are the tester's
 * own loss. A descriptor belongs to the whole process, though, so the socket is the one that was not there
 * before the driver started.
 */
#include <dirent.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../port_priv.h"

static int
domain_of(int fd)
{
	socklen_t size = sizeof(int);
	int domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 ? domain : -1;
}

static bool
has(const struct fg_socket_set *set, int fd)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->fd[i] == fd)
			return true;
	return false;
}

static bool
keep(struct fg_socket_set *set, int fd)
{
	int *more = realloc(set->fd, (set->count + 1) * sizeof(*more));

	if (more == NULL)
		return false;
	set->fd = more;
	set->fd[set->count++] = fd;
	return true;
}

bool
fg_socket_list(int domain, const struct fg_socket_set *without, struct fg_socket_set *out)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	bool all = fds != NULL;

	*out = (struct fg_socket_set){.domain = domain};
	while (all && (entry = readdir(fds)) != NULL) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && domain_of(fd) == domain &&
		    (without == NULL || !has(without, fd)))
			all = keep(out, fd);
	}
	if (fds != NULL)
		closedir(fds);
	if (!all)
		out->count = 0;
	return all;
}

uint64_t
fg_socket_xdp_drops(int fd)
{
	struct xdp_statistics stats = {0};
	socklen_t size = sizeof(stats);

	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &stats, &size) != 0)
		return 0;
	return stats.rx_dropped + stats.rx_ring_full;
}

uint64_t
fg_socket_new_packet_drops(int fd)
{
	struct tpacket_stats stats = {0};
	socklen_t size = sizeof(stats);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0 ? stats.tp_drops : 0;
}

bool
fg_socket_is_zero_copy(int fd)
{
	struct xdp_options options = {0};
	socklen_t size = sizeof(options);

	return getsockopt(fd, SOL_XDP, XDP_OPTIONS, &options, &size) == 0 &&
	       (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

void
fg_socket_release(struct fg_socket_set *sockets)
{
	for (unsigned i = 0; i < sockets->count; i++)
		if (domain_of(sockets->fd[i]) == AF_XDP)
			close(sockets->fd[i]);
	if (sockets->domain == AF_XDP && sockets->count > 0)
		fg_xdp_released();
	free(sockets->fd);
	*sockets = (struct fg_socket_set){0};
}
