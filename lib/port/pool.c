/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers to receive into; and freeing buffers that a card may still hold. A sender hands frames over; a
 * driver gives the last few hundred back only when more follow or when it is closed, long after they left. A
 * pool whose frames are not all back therefore waits here, and is freed when the port that held them has been
 * closed. Pools that the next trial needs again wait here, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "fg_unique_name.h"
#include "port_priv.h"

#define BUFFERS 8192 /* per queue: the driver's rings, and what the receiver holds */
#define CACHE   256

static struct rte_mempool *
create_pool(unsigned count, unsigned cache, uint32_t room, int node, bool by_bus_address)
{
	struct rte_pktmbuf_pool_private shared = {.mbuf_data_room_size =
							  (uint16_t)(room + RTE_PKTMBUF_HEADROOM)};
	struct rte_mempool *pool;
	char name[32];

	fg_unique_name(name, sizeof(name), "fg_rx_");
	pool = rte_mempool_create_empty(name, count, sizeof(struct rte_mbuf) + shared.mbuf_data_room_size,
					cache, sizeof(shared), node,
					by_bus_address ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rte_pktmbuf_pool_init(pool, &shared);
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) != 0 ||
	    rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

struct rte_mempool *
fg_port_pool_create(unsigned queues, uint32_t keep, uint32_t room, int node, bool by_bus_address)
{
	return create_pool(BUFFERS * queues - 1 + keep, CACHE, room, node, by_bus_address);
}

struct rte_mempool *
fg_port_pool_create_few(unsigned count, uint32_t room)
{
	return create_pool(count, 0, room, SOCKET_ID_ANY, false);
}

/* only the control thread opens and closes */
static SLIST_HEAD(, waiting) pools = SLIST_HEAD_INITIALIZER(pools);

struct waiting {
	struct rte_mempool *pool;
	bool kept; /* to be taken again */
	SLIST_ENTRY(waiting) next;
};

static void
put_aside(struct rte_mempool *pool, bool kept)
{
	struct waiting *w = malloc(sizeof(*w));

	if (w == NULL)
		return; /* better lost than freed under a card */
	*w = (struct waiting){.pool = pool, .kept = kept};
	SLIST_INSERT_HEAD(&pools, w, next);
}

static struct rte_mempool *
take_out(struct waiting **link)
{
	struct waiting *w = *link;
	struct rte_mempool *pool = w->pool;

	*link = SLIST_NEXT(w, next);
	free(w);
	return pool;
}

void
fg_port_pool_free(struct rte_mempool *pool)
{
	if (pool == NULL || rte_mempool_full(pool))
		rte_mempool_free(pool);
	else
		put_aside(pool, false);
}

void
fg_port_pool_keep(struct rte_mempool *pool)
{
	put_aside(pool, true);
}

void
fg_port_pools_sweep(void)
{
	struct waiting *w, **link = &SLIST_FIRST(&pools);

	while ((w = *link) != NULL) {
		if (rte_mempool_full(w->pool))
			rte_mempool_free(take_out(link));
		else
			link = &SLIST_NEXT(w, next);
	}
}

struct rte_mempool *
fg_port_pool_take(unsigned count, unsigned cache, uint16_t room, int node)
{
	struct waiting *w, **link = &SLIST_FIRST(&pools);
	char name[RTE_MEMPOOL_NAMESIZE];

	for (; (w = *link) != NULL; link = &SLIST_NEXT(w, next))
		if (w->kept && w->pool->size == count && w->pool->cache_size == cache &&
		    rte_pktmbuf_data_room_size(w->pool) == room && w->pool->socket_id == node &&
		    rte_mempool_full(w->pool))
			return take_out(link);
	fg_port_pools_sweep(); /* what is of no use now may be what is missing */
	fg_unique_name(name, sizeof(name), "fg_tx_");
	return rte_pktmbuf_pool_create(name, count, cache, 0, room, node);
}
