/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freeing buffers that a card may still hold. Who sends hands frames over; a driver gives the last few hundred back only
 * when more follow or when it is closed, long after they left. A pool whose frames are not all back therefore waits
 * here, and is freed when the port that held them has been closed.
 */
#include <stdlib.h>
#include <sys/queue.h>

#include <rte_mempool.h>

#include "port_priv.h"

/* only the control thread opens and closes */
static SLIST_HEAD(, waiting) pools = SLIST_HEAD_INITIALIZER(pools);

struct waiting {
	struct rte_mempool *pool;
	SLIST_ENTRY(waiting) next;
};

void
fg_port_pool_free(struct rte_mempool *pool)
{
	struct waiting *w;

	if (pool == NULL || rte_mempool_full(pool)) {
		rte_mempool_free(pool);
		return;
	}
	w = malloc(sizeof(*w));
	if (w == NULL)
		return; /* better lost than freed under a card */
	w->pool = pool;
	SLIST_INSERT_HEAD(&pools, w, next);
}

void
fg_port_pools_sweep(void)
{
	struct waiting *w, **link = &SLIST_FIRST(&pools);

	while ((w = *link) != NULL) {
		if (!rte_mempool_full(w->pool)) {
			link = &SLIST_NEXT(w, next);
			continue;
		}
		*link = SLIST_NEXT(w, next);
		rte_mempool_free(w->pool);
		free(w);
	}
}
