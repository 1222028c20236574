/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who looks at what a port receives: the tap of the trial, and one that stands from trial to trial.
 */
#include <rte_mbuf_dyn.h>

#include "rx_priv.h"

static void
let_look(const struct rx_task *t, struct fg_tap *tap, struct rte_mbuf *const *frames,
	 const uint64_t *arrivals, unsigned n)
{
	if (tap == NULL)
		return;
	tap->first_id = t->first_id;
	tap->ids = t->ids;
	tap->see(tap, frames, arrivals, n);
}

void
rx_show(const struct rx_task *t, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival, bool stamped)
{
	uint64_t arrivals[BURST];

	for (unsigned i = 0; i < n; i++)
		arrivals[i] = !stamped ? arrival
				       : clock_ns(t->clock,
						  *RTE_MBUF_DYNFIELD(frames[i], t->time_offset, uint64_t *));
	rte_spinlock_lock(&t->standing->look);
	/* whoever takes the tap away either finds the lock held or is seen here; see fg_engine_untap() */
	atomic_thread_fence(memory_order_seq_cst);
	let_look(t, t->tap, frames, arrivals, n);
	let_look(t, atomic_load_explicit(&t->standing->tap, memory_order_acquire), frames, arrivals, n);
	rte_spinlock_unlock(&t->standing->look);
}
