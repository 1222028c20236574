/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer, another tester that sends streams which this one receives: data that only the peer has. Its
 * timestamps are by its clock: control keeps the difference of both clocks up to date, which corrects delays.
 * The peer reports the number of frames sent when the trial is over.
 */
#include "engine_priv.h"

void
fg_engine_peer_clock(struct fg_engine *e, unsigned stream, int64_t ns)
{
	const struct split *split = e->trial == NULL ? NULL : &e->trial->split;

	for (unsigned i = split == NULL ? 0 : split->first[stream];
	     split != NULL && i < split->first[stream + 1]; i++)
		__atomic_store_n(&e->trial->rx.stream[i].peer_clock, ns, __ATOMIC_RELAXED);
}

void
fg_engine_peer_sent(struct fg_engine *e, unsigned stream, uint64_t frames)
{
	e->trial->tx.stream[e->trial->split.first[stream]].sent = frames;
}

uint64_t
fg_engine_peer_planned(const struct fg_engine *e, unsigned stream)
{
	const struct trial *t = e->trial;
	uint64_t frames = 0;

	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++) {
		const struct tx_stream *tx = &t->tx.stream[i];

		for (unsigned k = tx->present; k < tx->loads; k++) {
			uint64_t total = k == tx->present ? tx->pace.total : tx->load[k].total;

			if (total == UINT64_MAX)
				return 0;
			frames += total;
		}
	}
	return frames;
}
