/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trial has counted: while it runs, totals from the published copies; after it has ended, everything, read
 * from the tasks themselves, which nobody writes any more.
 */
#include <string.h>

#include "engine_priv.h"

void
fg_engine_live(const struct fg_engine *e, struct fg_live *out)
{
	const struct trial *t = e->trial;
	uint64_t now;

	*out = (struct fg_live){0};
	if (t == NULL)
		return;
	for (unsigned i = 0; i < t->streams; i++) {
		out->tx += atomic_load_explicit(&t->tx[i].published.frames, memory_order_relaxed);
		out->late += atomic_load_explicit(&t->tx[i].published.late, memory_order_relaxed);
	}
	for (unsigned i = 0; i < e->config.ports; i++)
		out->rx += atomic_load_explicit(&t->rx[i].published.frames, memory_order_relaxed);
	now = RTE_MIN(atomic_load_explicit(&e->lcore[0].now, memory_order_relaxed), t->image[0].stop);
	out->elapsed_ns = now > t->image[0].start ? clock_ns(&e->clock, now - t->image[0].start) : 0;
}

static void
latency_result(const struct fg_histogram *h, struct fg_latency *out)
{
	if (h->count == 0)
		return;
	out->count = h->count;
	out->min_ns = fg_histogram_min(h);
	out->max_ns = h->max;
	out->mean_ns = fg_histogram_mean(h);
	out->p50_ns = fg_histogram_percentile(h, 0.5);
	out->p99_ns = fg_histogram_percentile(h, 0.99);
	out->p999_ns = fg_histogram_percentile(h, 0.999);
	out->relative_error = fg_histogram_error(h);
	out->negative = fg_histogram_negative(h);
}

void
fg_engine_stream_result(const struct fg_engine *e, unsigned i, struct fg_stream_result *out)
{
	const struct tx_task *tx = &e->trial->tx[i];
	struct fg_sequence_counts rx;

	fg_sequence_read(e->trial->rx_stream[i].sequence, tx->sequence, &rx);
	*out = (struct fg_stream_result){
		.intended = tx->pace.total,
		.tx = tx->sequence,
		.late = tx->pace.late,
		.unsent = tx->pace.total - tx->pace.next,
		.refused = tx->refused,
		.no_mbuf = tx->no_mbuf,
		.worst_lag_ns = tx->lead > 0 ? 0 : clock_ns(&e->clock, tx->pace.worst_lag),
		.tx_duration_ns = clock_ns(&e->clock, tx->last - tx->first),
		.rx = rx.unique,
		.lost = rx.lost,
		.duplicates = rx.duplicates,
		.stale = rx.stale,
		.reordered = rx.reordered,
		.max_extent = rx.extent_max,
		.loss_bursts = rx.bursts,
		.max_loss_burst = rx.burst_max,
		.excess = rx.excess,
	};
	latency_result(e->trial->rx_stream[i].latency, &out->latency);
}

void
fg_engine_port_result(const struct fg_engine *e, unsigned i, struct fg_port_result *out)
{
	const struct rx_task *rx = &e->trial->rx[i];
	const struct fg_port_counters *before = &e->port[i].before;
	struct fg_port_counters after;

	rx->port->ops->counters(rx->port, &after);
	*out = (struct fg_port_result){
		.rx_missed = after.rx_missed - before->rx_missed,
		.rx_no_mbuf = after.rx_no_mbuf - before->rx_no_mbuf,
		.rx_errors = after.rx_errors - before->rx_errors,
		.tx_errors = after.tx_errors - before->tx_errors,
		.link_changes = after.link_changes - before->link_changes,
		.misdirected = rx->misdirected,
		.foreign = rx->foreign,
	};
}

void
fg_engine_lcore_result(const struct fg_engine *e, unsigned i, struct fg_lcore_result *out)
{
	*out = (struct fg_lcore_result){
		.lcore = e->lcore[i].id,
		.polls = e->lcore[i].polls,
		.longest_gap_ns = clock_ns(&e->clock, e->lcore[i].longest_gap),
	};
}
