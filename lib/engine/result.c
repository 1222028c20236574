/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trial has counted: while it runs, totals from the published copies; after it has ended, everything, read
 * from the tasks themselves, which nobody writes any more.
 */
#include <string.h>

#include "tx_priv.h"

void
fg_engine_live(const struct fg_engine *e, struct fg_live *out)
{
	const struct trial *t = e->trial;
	uint64_t now;

	*out = (struct fg_live){0};
	if (t == NULL)
		return;
	for (unsigned i = 0; i < t->streams; i++)
		out->tx += __atomic_load_n(&t->tx[i].sent, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < e->config.ports; i++)
		out->rx += atomic_load_explicit(&t->rx[i].published.frames, memory_order_relaxed);
	now = RTE_MIN(atomic_load_explicit(&e->lcore[0].now, memory_order_relaxed), t->image[0].stop);
	out->elapsed_ns = now > t->image[0].start ? clock_ns(&e->clock, now - t->image[0].start) : 0;
}

void
fg_engine_stream_live(const struct fg_engine *e, unsigned i, struct fg_stream_live *out)
{
	const struct tx_stream *tx = &e->trial->tx[i];

	*out = (struct fg_stream_live){
		.tx_frames = __atomic_load_n(&tx->sent, __ATOMIC_RELAXED),
		.tx_octets = __atomic_load_n(&tx->octets, __ATOMIC_RELAXED),
	};
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

static void
rx_result(const struct fg_engine *e, const struct rx_stream *rx, const struct tx_stream *tx,
	  struct fg_stream_result *out)
{
	struct fg_sequence_counts counts;
	uint64_t start = e->trial->image[0].start; /* of traffic: the stream may have to wait for its turn */

	fg_sequence_read(rx->sequence, tx->sequence, &counts);
	out->rx = counts.unique;
	out->lost = counts.lost;
	out->duplicates = counts.duplicates;
	out->stale = counts.stale;
	out->reordered = counts.reordered;
	out->max_extent = counts.order.extent_max;
	out->loss_bursts = counts.bursts;
	out->max_loss_burst = counts.burst_max;
	out->excess = counts.excess;
	if (counts.lost > 0)
		out->last_lost_ns = tx_departure_ns(tx, counts.last_lost, start);
	out->longest_gap_ns = rx->longest_gap;
	if (rx->longest_gap > 0)
		out->gap_begin_ns = rx->gap_begin - clock_ns(&e->clock, start);
}

void
fg_engine_stream_result(const struct fg_engine *e, unsigned i, struct fg_stream_result *out)
{
	const struct rx_stream *rx = &e->trial->rx_stream[i];

	*out = (struct fg_stream_result){0};
	tx_result(&e->trial->tx[i], out);
	rx_result(e, rx, &e->trial->tx[i], out);
	latency_result(rx->latency, &out->latency);
}

unsigned
fg_engine_tags(const struct fg_engine *e, unsigned stream, int64_t *out, unsigned max)
{
	const struct rx_stream *rx = &e->trial->rx_stream[stream];
	unsigned n = RTE_MIN(rx->tagged, max);

	memcpy(out, rx->tag, n * sizeof(*out));
	return n;
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
		.polls = e->trial->image[i].polls,
		.longest_gap_ns = clock_ns(&e->clock, e->trial->image[i].longest_gap),
	};
}
