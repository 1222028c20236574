/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory of two memif peers, from the handshake until no lcore uses its rings. */
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memif_guard.h"
#include "memif_priv.h"

struct memif_link *
memif_link_create(void)
{
	struct memif_link *link = calloc(1, sizeof(*link));

	for (unsigned i = 0; link != NULL && i < FG_MAX_QUEUES; i++)
		link->rx[i].wake = link->tx[i].wake = -1; /* a peer may go before they are made */
	for (unsigned i = 0; link != NULL && i < MEMIF_MAX_REGIONS; i++)
		link->region[i].guard = -1;
	return link;
}

static void
free_ends(const struct memif_end *end, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (end[i].wake >= 0)
			close(end[i].wake);
}

void
memif_link_free(struct memif_link *link)
{
	free_ends(link->rx, link->rx_rings);
	free_ends(link->tx, link->tx_rings);
	for (unsigned i = 0; i < link->regions; i++) {
		memif_guard_end(link->region[i].guard);
		if (link->region[i].at != NULL)
			munmap(link->region[i].at, link->region[i].size);
		close(link->region[i].fd);
	}
	free(link);
}

const char *
memif_region_problem(int fd, uint64_t size)
{
	struct stat status;
	struct statfs system;

	if (fstat(fd, &status) != 0 || (uint64_t)status.st_size < size)
		return "Region larger than its file";
	/* access to other memory may wait for a disk, or for ever */
	if (fstatfs(fd, &system) != 0 || (system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC &&
					  system.f_type != HUGETLBFS_MAGIC))
		return "Region is no shared memory";
	/* less than a huge page can neither be unmapped nor replaced (guard.c) */
	if (system.f_type == HUGETLBFS_MAGIC && size % (uint64_t)system.f_bsize != 0)
		return "Region not of whole huge pages";
	return NULL;
}
