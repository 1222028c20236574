/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was received of a stream, read after the trial from what its receiver wrote.
 */
#include <string.h>

#include "rx_fault.h"
#include "rx_priv.h"

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
longer_outage(struct fg_loss_result *out, uint64_t begin, uint64_t end, uint64_t start)
{
	if (end <= begin || end - begin <= out->longest_outage_ns)
		return;
	out->longest_outage_ns = end - begin;
	out->outage_begin_ns = begin > start ? begin - start : 0;
}

/* without any delay but the least, frames arrive from @p first to @p last */
static void
outage_result(const struct rx_stream *rx, const struct tx_stream *tx, uint64_t start,
	      struct fg_stream_result *out)
{
	uint64_t least = fg_histogram_min(rx->latency);
	uint64_t first = clock_ns(tx->clock, tx->first) + least, last = clock_ns(tx->clock, tx->last) + least;
	uint64_t nominal = out->tx > 1 ? out->tx_duration_ns / (out->tx - 1) : 0;

	if (out->tx == 0)
		return;
	if (out->rx == 0) {
		longer_outage(&out->loss, first, last + nominal, start);
		return;
	}
	longer_outage(&out->loss, rx->gap_begin,
		      rx->gap_begin + rx->longest_gap - RTE_MIN(nominal, rx->longest_gap), start);
	if (out->lost > 0) {
		longer_outage(&out->loss, first, rx->first_arrival, start);
		longer_outage(&out->loss, rx->last_arrival, last, start);
	}
}

static void
sequence_result(const struct fg_sequence_counts *counts, struct fg_stream_result *out)
{
	out->rx = counts->unique;
	out->lost = counts->lost;
	out->duplicates = counts->duplicates;
	out->duplicated = counts->duplicated;
	out->stale = counts->stale;
	out->reordered = counts->reordered;
	out->max_extent = counts->order.extent_max;
	out->order = counts->order;
	out->loss_bursts = counts->bursts;
	out->max_loss_burst = counts->burst_max;
	memcpy(out->loss.lengths, counts->burst_lengths, sizeof(out->loss.lengths));
	memcpy(out->loss.distances, counts->burst_distances, sizeof(out->loss.distances));
	out->excess = counts->excess;
}

/* of the frame of that number among those measured; what was made wrong is taken to lie evenly between them */
static uint64_t
departure_of(const struct tx_stream *tx, uint64_t number)
{
	uint64_t measured = tx_measured(tx);

	return measured == tx->sequence || measured == 0
		       ? number
		       : (uint64_t)((fg_u128)number * tx->sequence / measured);
}

static void
faults_result(const struct rx_faults *f, struct fg_stream_result *out)
{
	out->wrong.received = f->wrong;
	for (unsigned kind = 0; kind < FG_FAULTS; kind++)
		out->faults[kind].received = f->kinds[kind];
}

void
rx_result(const struct fg_engine *e, unsigned i, struct fg_stream_result *out)
{
	const struct rx_stream *rx = &e->trial->rx_stream[i];
	const struct tx_stream *tx = &e->trial->tx[i];
	uint64_t start = e->trial->image[0].start; /* of traffic: the stream may have to wait for its turn */
	uint64_t start_ns = clock_ns(&e->clock, start);
	struct fg_sequence_counts counts;

	fg_sequence_read(rx->sequence, tx_measured(tx), &counts);
	sequence_result(&counts, out);
	out->rx_octets = rx->octets;
	if (counts.lost > 0)
		out->last_lost_ns = tx_departure_ns(tx, departure_of(tx, counts.last_lost), start);
	out->longest_gap_ns = rx->longest_gap;
	if (rx->longest_gap > 0)
		out->gap_begin_ns = rx->gap_begin - start_ns;
	latency_result(rx->latency, &out->latency);
	outage_result(rx, tx, start_ns, out);
	if (rx->extra == NULL)
		return;
	if (rx->extra->variation != NULL)
		fg_variation_read(rx->extra->variation, &out->variation);
	out->corrupted = rx->extra->corrupted;
	out->bit_errors = rx->extra->bit_errors;
	if (rx->extra->faults != NULL)
		faults_result(rx->extra->faults, out);
	series_result(e, i, out);
}
