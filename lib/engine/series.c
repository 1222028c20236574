/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series, read: by control, while it is still written or afterwards; and the availability that follows from
 * it.
 */
#include "engine_priv.h"
#include "tx_inject.h"

enum { SECOND_NS = 1000000000 };

/* the substreams of a stream, if series of them are kept; NULL: none. They have the same intervals. */
static const struct tx_stream *
parts_with_series(const struct trial *t, unsigned stream, unsigned *n)
{
	const struct tx_stream *parts = t == NULL ? NULL : &t->tx.stream[t->split.first[stream]];

	if (parts == NULL || parts->series == NULL)
		return NULL;
	*n = split_parts(&t->split, stream);
	return parts;
}

/* intervals there are: before the end of the trial those that are over, then those that it came to */
static uint64_t
known_of(const struct fg_engine *e, const struct fg_series *s)
{
	uint64_t at = fg_series_departing(s);
	uint64_t now = fg_clock_ns(&e->clock, fg_lcore_now(&e->lcore[0]));
	uint64_t begun = now > s->start ? (now - s->start + s->interval - 1) / s->interval : 0;

	if (e->running)
		return at;
	/* the spare one only if something left so late; what left later still is in none */
	return RTE_MIN(RTE_MAX(at + 1, RTE_MIN(begun, s->n - 1)), s->n);
}

/* those that are over for all parts; in the end, those that any of them came to */
static uint64_t
known(const struct fg_engine *e, const struct tx_stream *parts, unsigned n)
{
	uint64_t all = known_of(e, parts->series);

	for (unsigned k = 1; k < n; k++) {
		uint64_t one = known_of(e, parts[k].series);

		all = e->running ? RTE_MIN(all, one) : RTE_MAX(all, one);
	}
	return all;
}

/* frames that have departed before interval @p k is over */
static uint64_t
sent_until(const struct tx_stream *tx, uint64_t k)
{
	const struct fg_series *s = tx->series;

	return k < fg_series_departing(s) ? s->sent[k] : tx_measured(tx);
}

static uint64_t
sent_in(const struct tx_stream *tx, uint64_t first, uint64_t n)
{
	return sent_until(tx, first + n - 1) - (first == 0 ? 0 : sent_until(tx, first - 1));
}

/* the 99.9th percentile of all parts cannot exceed the largest of theirs */
static int64_t
percentile_of(const struct fg_engine *e, const struct fg_series *s, uint64_t k)
{
	const struct fg_histogram *open = s->delay[k & 1];

	/* the last two are never closed */
	if (!e->running && k + 1 >= fg_series_arriving(s) && open->count > 0)
		return (int64_t)fg_histogram_percentile(open, 0.999);
	return s->cell[k].delay_p999;
}

static void
add_interval(const struct fg_engine *e, const struct tx_stream *tx, uint64_t k, struct fg_interval *out)
{
	const struct fg_series *s = tx->series;
	const struct fg_series_cell *cell = &s->cell[k];
	uint64_t before = out->rx;

	out->tx += sent_in(tx, k, 1);
	out->rx += cell->rx;
	out->octets += cell->octets;
	out->duplicates += cell->duplicates;
	out->reordered += cell->reordered;
	if (cell->rx == 0)
		return;
	out->delay_min_ns = before == 0 ? cell->delay_min : RTE_MIN(out->delay_min_ns, cell->delay_min);
	out->delay_max_ns = before == 0 ? cell->delay_max : RTE_MAX(out->delay_max_ns, cell->delay_max);
	out->delay_mean_ns = before == 0 ? (double)cell->delay_sum / (double)cell->rx
					 : (out->delay_mean_ns * (double)before + (double)cell->delay_sum) /
						   (double)out->rx;
	out->delay_p999_ns = RTE_MAX(out->delay_p999_ns, percentile_of(e, s, k));
}

unsigned
fg_engine_series(const struct fg_engine *e, unsigned stream, unsigned first, struct fg_interval *out,
		 unsigned max)
{
	unsigned parts = 0, i = 0;
	const struct tx_stream *tx = parts_with_series(e->trial, stream, &parts);
	uint64_t n = tx == NULL ? 0 : known(e, tx, parts);

	for (; i < max && first + i < n; i++) {
		out[i] = (struct fg_interval){0};
		for (unsigned k = 0; k < parts; k++)
			add_interval(e, &tx[k], first + i, &out[i]);
	}
	return i;
}

/* what a part adds to a second, of @p n intervals from @p first on */
static void
add_to_block(const struct fg_engine *e, const struct tx_stream *tx, uint64_t first, uint64_t n,
	     struct fg_block *block)
{
	block->sent += sent_in(tx, first, n);
	for (uint64_t k = first; k < first + n; k++) {
		const struct fg_series_cell *cell = &tx->series->cell[k];

		if (cell->rx == 0)
			continue;
		block->received += cell->rx;
		block->delay_sum += cell->delay_sum;
		block->delay_min = RTE_MIN(block->delay_min, cell->delay_min);
		block->delay_max = RTE_MAX(block->delay_max, cell->delay_max);
		block->delay_p999 = RTE_MAX(block->delay_p999, percentile_of(e, tx->series, k));
	}
}

void
series_result(const struct fg_engine *e, unsigned stream, struct fg_stream_result *out)
{
	unsigned parts = 0;
	const struct tx_stream *tx = parts_with_series(e->trial, stream, &parts);
	struct fg_availability availability;
	uint64_t n, each;

	if (tx == NULL)
		return;
	n = known(e, tx, parts);
	out->series_intervals = n;
	if (tx->series->interval > SECOND_NS || SECOND_NS % tx->series->interval != 0)
		return;
	each = SECOND_NS / tx->series->interval;
	fg_availability_init(&availability);
	for (uint64_t first = 0; first < n; first += each) {
		struct fg_block block = {
			.delay_min = INT64_MAX, .delay_max = INT64_MIN, .delay_p999 = INT64_MIN};

		for (unsigned k = 0; k < parts; k++)
			add_to_block(e, &tx[k], first, RTE_MIN(each, n - first), &block);
		fg_availability_add(&availability, &block);
	}
	fg_availability_read(&availability, &out->available);
}
