/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <rte_mbuf.h>

/* Frames are handed to ports, and taken from them, by the burst: what every task does with one. */

enum { FG_BURST = 32 };

/** Free @p n frames: at once if they are of one pool and nothing special, as frames of a trial are. */
static inline void
fg_burst_free(struct rte_mbuf **frames, unsigned n)
{
	struct rte_mempool *pool = frames[0]->pool;

	for (unsigned i = 0; i < n; i++) {
		const struct rte_mbuf *m = frames[i];

		if (unlikely(m->pool != pool || m->nb_segs != 1 || !RTE_MBUF_DIRECT(m) ||
			     rte_mbuf_refcnt_read(m) != 1)) {
			rte_pktmbuf_free_bulk(frames, n);
			return;
		}
	}
	rte_mempool_put_bulk(pool, (void **)frames, n);
}
