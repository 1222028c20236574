/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer, another tester that sends streams which this one receives: what is known from it alone. Its
 * stamps are of its clock, and delays become right by the difference of both clocks, which control keeps up
 * to date; how many frames it sent it knows when the trial is over.
 */
#include "engine_priv.h"

void
fg_engine_peer_clock(struct fg_engine *e, int64_t ns)
{
	for (unsigned i = 0; e->trial != NULL && i < e->queues; i++)
		__atomic_store_n(&e->trial->rx.task[i].peer_clock, ns, __ATOMIC_RELAXED);
}

void
fg_engine_peer_sent(struct fg_engine *e, unsigned stream, uint64_t frames)
{
	e->trial->tx.stream[e->trial->split.first[stream]].sent = frames;
}
