/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of a stream, read after the trial from its receiver.
 */
#include <string.h>

#include "rx.h"
#include "rx_inject.h"

static void
longer_outage(struct fg_loss_result *out, uint64_t begin, uint64_t end, uint64_t start)
{
	if (end <= begin || end - begin <= out->longest_outage_ns)
		return;
	out->longest_outage_ns = end - begin;
	out->outage_begin_ns = begin > start ? begin - start : 0;
}

/* The received frames of a stream, all parts together. */
struct arrivals {
	const struct fg_histogram *latency;
	uint64_t first, last; /* ns; 0: none */
	uint64_t longest_gap, gap_begin;
};

/*
 * Where no part had an arrival, the stream had none: its longest gap is what the parts' have in common. If
 * they have nothing in common it is not known, but shorter than any of them.
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

/* When the first and the last frame left, ns; another tester's frames are taken to have left as planned. */
struct departures {
	uint64_t first, last;
};

static struct departures
departures_of(const struct rx_stream *parts, unsigned n, uint64_t start)
{
	const struct tx_stream *tx = parts->sent;
	const struct tx_span span = tx_span(tx, n);
	const uint64_t start_ns = fg_clock_ns(tx->clock, start);

	if (span.last > 0)
		return (struct departures){fg_clock_ns(tx->clock, span.first),
					   fg_clock_ns(tx->clock, span.last)};
	return (struct departures){start_ns + tx_departure_ns(tx, 0, start),
				   start_ns + tx_departure_ns(tx, tx_sent(tx) - 1, start)};
}

/* without any delay but the least, frames arrive from the first to the last departure and that later */
static void
outage_result(const struct arrivals *rx, const struct rx_stream *parts, unsigned n, uint64_t start,
	      struct fg_stream_result *out)
{
	uint64_t least = fg_histogram_min(rx->latency), start_ns = fg_clock_ns(parts->sent->clock, start);
	uint64_t nominal, first, last;
	struct departures left;

	if (out->tx == 0)
		return;
	left = departures_of(parts, n, start);
	nominal = out->tx > 1 ? (left.last - left.first) / (out->tx - 1) : 0;
	first = left.first + least;
	last = left.last + least;
	if (out->rx == 0) {
		longer_outage(&out->loss, first, last + nominal, start_ns);
		return;
	}
	longer_outage(&out->loss, rx->gap_begin,
		      rx->gap_begin + rx->longest_gap - RTE_MIN(nominal, rx->longest_gap), start_ns);
	if (out->lost > 0) {
		longer_outage(&out->loss, first, rx->first, start_ns);
		longer_outage(&out->loss, rx->last, last, start_ns);
	}
}

/*
 * did frames of it come over more than one queue? The number that came over its own queue is what is left of
 * all
 */
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

/*
 * of the frame of that number among those measured; what was made wrong is taken to lie evenly between them
 */
static uint64_t
departure_of(const struct tx_stream *tx, uint64_t number)
{
	uint64_t measured = tx_measured(tx);

	return measured == 0 ? number : (uint64_t)((fg_u128)number * tx_sent(tx) / measured);
}

static void
rx_inject_result(const struct rx_inject *f, struct fg_stream_result *out)
{
	out->wrong.received = f->wrong;
	for (unsigned kind = 0; kind < FG_INJECT_KINDS; kind++)
		out->faults[kind].received = f->kinds[kind];
}

/* by numbers: each part has its own */
static void
numbers_result(const struct rx *rx, unsigned first, unsigned n, uint64_t start, struct fg_stream_result *out)
{
	struct fg_sequence_counts counts;

	for (unsigned i = first; i < first + n; i++) {
		const struct tx_stream *tx = rx->stream[i].sent;
		struct fg_sequence_counts one;

		fg_sequence_read(rx->stream[i].sequence, tx_measured(tx), &one);
		out->unordered |= is_unordered(&rx->stream[i], &one);
		if (one.lost > 0)
			out->last_lost_ns =
				RTE_MAX(out->last_lost_ns,
					tx_departure_ns(tx, departure_of(tx, one.last_lost), start));
		if (i == first)
			counts = one;
		else
			fg_sequence_counts_add(&counts, &one);
		out->rx_octets += rx->stream[i].octets;
		out->payload_checked += rx->stream[i].payload_checked;
	}
	if (out->unordered) {
		counts.reordered = 0;
		counts.order = (struct fg_order_counts){0};
	}
	sequence_result(&counts, out);
}

/* of several parts, that within each: their frames follow each other there */
static void
variation_result(const struct rx *rx, unsigned first, unsigned n, struct fg_stream_result *out)
{
	const struct fg_variation *all = rx->stream[first].extended->variation;

	if (all == NULL)
		return;
	if (n > 1) {
		fg_variation_reset(rx->sum_variation);
		for (unsigned i = first; i < first + n; i++)
			fg_variation_merge(rx->sum_variation, rx->stream[i].extended->variation, NULL);
		all = rx->sum_variation;
	}
	fg_variation_read(all, &out->variation);
}

static void
altered_result(const struct rx *rx, unsigned first, unsigned n, struct fg_stream_result *out)
{
	for (unsigned queue = 0; queue < rx->tasks; queue++)
		for (unsigned i = first; i < first + n; i++)
			for (unsigned k = 0; k < FG_ALTERED_KINDS; k++)
				out->altered[k] += rx->task[queue].rejected[i].altered[k];
}

const struct fg_histogram *
rx_delays(struct rx *rx, unsigned first, unsigned n)
{
	return arrivals_of(&rx->stream[first], n, rx->sum_latency).latency;
}

void
rx_result(struct rx *rx, const struct tx *tx, unsigned first, unsigned n, uint64_t start,
	  struct fg_stream_result *out)
{
	const struct fg_clock *clock = tx->env.clock;
	const struct rx_stream *parts = &rx->stream[first];
	struct arrivals a = arrivals_of(parts, n, rx->sum_latency);
	uint64_t start_ns = fg_clock_ns(clock, start);

	/* departures since the start of traffic: the stream may have to wait for its turn */
	numbers_result(rx, first, n, start, out);
	altered_result(rx, first, n, out);
	out->translation = parts->translation;
	out->rx_duration_ns = a.first > 0 && a.last > a.first ? a.last - a.first : 0;
	out->longest_gap_ns = a.longest_gap;
	if (a.longest_gap > 0)
		out->gap_begin_ns = a.gap_begin - start_ns;
	if (out->rx > 0) {
		out->first_arrival_ns = a.first - start_ns;
		out->last_arrival_ns = a.last - start_ns;
	}
	fg_latency_read(a.latency, &out->latency);
	outage_result(&a, parts, n, start, out);
	if (parts->extended == NULL)
		return;
	variation_result(rx, first, n, out);
	for (unsigned k = 0; k < n; k++) {
		const struct rx_extended *extended = parts[k].extended;

		out->expired += extended->expired;
		out->corrupted += extended->corrupted;
		out->payload_octets += extended->compared;
		out->octet_errors += extended->errors.octets;
		out->bit_errors += extended->errors.bits;
	}
	if (parts->extended->inject != NULL) /* then it is of one part */
		rx_inject_result(parts->extended->inject, out);
}
