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

/* What arrived of a stream, of all its parts. */
struct arrivals {
	const struct fg_histogram *latency;
	uint64_t first, last; /* ns; 0: none */
	uint64_t longest_gap, gap_begin;
};

/*
 * Where no part had an arrival, the stream had none: its longest gap is what the parts' have in common. If they have
 * nothing in common it is not known, but shorter than any of them.
 */
static void
narrow_gap(struct arrivals *a, const struct rx_stream *rx)
{
	uint64_t begin = RTE_MAX(a->gap_begin, rx->gap_begin);
	uint64_t end = RTE_MIN(a->gap_begin + a->longest_gap, rx->gap_begin + rx->longest_gap);

	if (rx->longest_gap == 0)
		return;
	if (a->longest_gap == 0 || (begin >= end && rx->longest_gap < a->longest_gap)) {
		a->gap_begin = rx->gap_begin;
		a->longest_gap = rx->longest_gap;
	} else if (begin < end) {
		a->gap_begin = begin;
		a->longest_gap = end - begin;
	}
}

/* @p sum takes up the delays of several parts */
static struct arrivals
arrivals_of(const struct rx_stream *parts, unsigned n, struct fg_histogram *sum)
{
	struct arrivals a = {n == 1 ? parts->latency : sum, parts->first_arrival, parts->last_arrival,
			     parts->longest_gap, parts->gap_begin};

	if (n == 1)
		return a;
	fg_histogram_reset(sum);
	for (unsigned k = 0; k < n; k++) {
		const struct rx_stream *rx = &parts[k];

		fg_histogram_merge(sum, rx->latency, NULL);
		narrow_gap(&a, rx);
		a.last = RTE_MAX(a.last, rx->last_arrival);
		if (rx->first_arrival > 0 && (a.first == 0 || rx->first_arrival < a.first))
			a.first = rx->first_arrival;
	}
	return a;
}

/* without any delay but the least, frames arrive from the first to the last departure and that later */
static void
outage_result(const struct arrivals *rx, const struct clock *clock, struct tx_span tx, uint64_t start,
	      struct fg_stream_result *out)
{
	uint64_t least = fg_histogram_min(rx->latency);
	uint64_t first = clock_ns(clock, tx.first) + least, last = clock_ns(clock, tx.last) + least;
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
		longer_outage(&out->loss, first, rx->first, start);
		longer_outage(&out->loss, rx->last, last, start);
	}
}

/* did frames of it come over more than one queue? How many came over that of its own lane is what is left of all */
static bool
is_unordered(const struct rx_stream *rx, const struct fg_sequence_counts *counts)
{
	return __builtin_popcount(rx->over) + (counts->received > rx->passed) > 1;
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

	return measured == 0 ? number : (uint64_t)((fg_u128)number * tx_sent(tx) / measured);
}

static void
faults_result(const struct rx_faults *f, struct fg_stream_result *out)
{
	out->wrong.received = f->wrong;
	for (unsigned kind = 0; kind < FG_FAULTS; kind++)
		out->faults[kind].received = f->kinds[kind];
}

/* by numbers: each part has its own */
static void
numbers_result(const struct trial *t, unsigned first, unsigned n, struct fg_stream_result *out)
{
	uint64_t start = t->image[0].start; /* of traffic: the stream may have to wait for its turn */
	struct fg_sequence_counts counts;

	for (unsigned i = first; i < first + n; i++) {
		const struct tx_stream *tx = &t->tx[i];
		struct fg_sequence_counts one;

		fg_sequence_read(t->rx_stream[i].sequence, tx_measured(tx), &one);
		out->unordered |= is_unordered(&t->rx_stream[i], &one);
		if (one.lost > 0)
			out->last_lost_ns =
				RTE_MAX(out->last_lost_ns,
					tx_departure_ns(tx, departure_of(tx, one.last_lost), start));
		if (i == first)
			counts = one;
		else
			fg_sequence_counts_add(&counts, &one);
		out->rx_octets += t->rx_stream[i].octets;
	}
	if (out->unordered) {
		counts.reordered = 0;
		counts.order = (struct fg_order_counts){0};
	}
	sequence_result(&counts, out);
}

/* of several parts, that within each: their frames follow each other there */
static void
variation_result(const struct trial *t, unsigned first, unsigned n, struct fg_stream_result *out)
{
	const struct fg_variation *all = t->rx_stream[first].extra->variation;

	if (all == NULL)
		return;
	if (n > 1) {
		fg_variation_reset(t->sum_variation);
		for (unsigned i = first; i < first + n; i++)
			fg_variation_merge(t->sum_variation, t->rx_stream[i].extra->variation, NULL);
		all = t->sum_variation;
	}
	fg_variation_read(all, &out->variation);
}

static void
altered_result(const struct fg_engine *e, unsigned first, unsigned n, struct fg_stream_result *out)
{
	for (unsigned lane = 0; lane < e->lanes; lane++)
		for (unsigned i = first; i < first + n; i++)
			for (unsigned k = 0; k < FG_ALTERED_KINDS; k++)
				out->altered[k] += e->trial->rx[lane].astray[i].altered[k];
}

void
rx_result(const struct fg_engine *e, unsigned stream, struct fg_stream_result *out)
{
	const struct trial *t = e->trial;
	unsigned first = t->first[stream], n = parts_of(t, stream);
	struct arrivals rx = arrivals_of(&t->rx_stream[first], n, t->sum_latency);
	uint64_t start_ns = clock_ns(&e->clock, t->image[0].start);

	numbers_result(t, first, n, out);
	altered_result(e, first, n, out);
	out->translation = t->rx_stream[first].translation;
	out->longest_gap_ns = rx.longest_gap;
	if (rx.longest_gap > 0)
		out->gap_begin_ns = rx.gap_begin - start_ns;
	latency_result(rx.latency, &out->latency);
	outage_result(&rx, &e->clock, tx_span(&t->tx[first], n), start_ns, out);
	if (t->rx_stream[first].extra == NULL)
		return;
	variation_result(t, first, n, out);
	for (unsigned i = first; i < first + n; i++) {
		out->expired += t->rx_stream[i].extra->expired;
		out->corrupted += t->rx_stream[i].extra->corrupted;
		out->payload_octets += t->rx_stream[i].extra->compared;
		out->octet_errors += t->rx_stream[i].extra->errors.octets;
		out->bit_errors += t->rx_stream[i].extra->errors.bits;
	}
	if (t->rx_stream[first].extra->faults != NULL) /* then it is of one part */
		faults_result(t->rx_stream[first].extra->faults, out);
	series_result(e, stream, out);
}
