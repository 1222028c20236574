/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stream has sent, read after the trial from the task that sent it.
 */
#include "tx_priv.h"

/* load @p i of a stream as it is now */
static const struct fg_pace *
load_at(const struct tx_task *tx, unsigned i)
{
	return i == tx->present ? &tx->pace : &tx->load[i];
}

void
tx_result(const struct tx_task *tx, struct fg_stream_result *out)
{
	uint64_t worst_lag = 0;

	for (unsigned i = 0; i < tx->loads; i++) {
		const struct fg_pace *pace = load_at(tx, i);

		out->intended += pace->total;
		out->late += pace->late;
		out->unsent += pace->total - pace->next;
		worst_lag = RTE_MAX(worst_lag, pace->worst_lag);
	}
	out->tx = tx->sequence;
	out->refused = tx->refused;
	out->no_mbuf = tx->no_mbuf;
	/* a port with launch times gets its frames early: what looks like lag is lead */
	out->worst_lag_ns = tx->lead > 0 ? 0 : clock_ns(tx->clock, worst_lag);
	out->tx_duration_ns = clock_ns(tx->clock, tx->last - tx->first);
}

uint64_t
tx_departure_ns(const struct tx_task *tx, uint64_t number, uint64_t start)
{
	unsigned i = 0;

	while (i + 1 < tx->loads && number >= tx->load[i].total)
		number -= tx->load[i++].total;
	return clock_ns(tx->clock, fg_pace_at(&tx->load[i], number) - start);
}
