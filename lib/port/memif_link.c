/* SPDX-License-Identifier: BSD-3-Clause */
/* What two memif peers share, from before they agree on it until nobody is on its rings any more. */
#include <stdlib.h>
#include <sys/mman.h>
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
