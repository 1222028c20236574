/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other tester: what it must tell us of the streams that it sends, and we receive. Its stamps are of its clock, and
 * delays become right by the difference of both, which control keeps up to date; how many frames it sent it knows when
 * the trial is over.
 */
#include "rx_priv.h"
#include "tx_priv.h"

void
fg_engine_other_clock(struct fg_engine *e, int64_t ns)
{
	for (unsigned i = 0; e->trial != NULL && i < e->lanes; i++)
		atomic_store_explicit(&e->trial->rx[i].other_clock, ns, memory_order_relaxed);
}

void
fg_engine_other_sent(struct fg_engine *e, unsigned stream, uint64_t frames)
{
	e->trial->tx[e->trial->first[stream]].sent = frames;
}
