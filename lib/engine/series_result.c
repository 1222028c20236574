/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series, read: by control, while it is still written or afterwards; and the availability that follows from it.
 */
#include "rx_priv.h"
#include "tx_priv.h"

enum { SECOND_NS = 1000000000 };

static struct series *
series_of(const struct fg_engine *e, unsigned stream)
{
	const struct rx_extra *extra = e->trial == NULL ? NULL : e->trial->rx_stream[stream].extra;

	return extra == NULL ? NULL : extra->series;
}

/* intervals there are: before the end of the trial those that are over, then those that it came to */
static uint64_t
known(const struct fg_engine *e, const struct series *s)
{
	uint64_t at = atomic_load_explicit(&s->tx_at, memory_order_acquire);
	uint64_t now = clock_ns(&e->clock, atomic_load_explicit(&e->lcore[0].now, memory_order_relaxed));
	uint64_t begun = now > s->start ? (now - s->start + s->interval - 1) / s->interval : 0;

	if (e->running)
		return at;
	/* the spare one only if something left so late */
	return RTE_MAX(at + 1, RTE_MIN(begun, s->n - 1));
}

/* frames that have departed before interval @p k is over */
static uint64_t
sent_until(const struct tx_stream *tx, const struct series *s, uint64_t k)
{
	return k < atomic_load_explicit(&s->tx_at, memory_order_acquire) ? s->sent[k] : tx->sent;
}

static void
read_interval(const struct fg_engine *e, const struct tx_stream *tx, const struct series *s, uint64_t k,
	      struct fg_interval *out)
{
	const struct series_cell *cell = &s->cell[k];
	const struct fg_histogram *open = s->delay[k & 1];

	*out = (struct fg_interval){
		.tx = sent_until(tx, s, k) - (k == 0 ? 0 : sent_until(tx, s, k - 1)),
		.rx = cell->rx,
		.octets = cell->octets,
		.duplicates = cell->duplicates,
		.reordered = cell->reordered,
	};
	if (cell->rx == 0)
		return;
	out->delay_min_ns = cell->delay_min;
	out->delay_max_ns = cell->delay_max;
	out->delay_mean_ns = (double)cell->delay_sum / (double)cell->rx;
	out->delay_p999_ns = cell->delay_p999;
	/* the last two are never closed */
	if (!e->running && k + 1 >= atomic_load_explicit(&s->rx_at, memory_order_acquire) && open->count > 0)
		out->delay_p999_ns = (int64_t)fg_histogram_percentile(open, 0.999);
}

unsigned
fg_engine_series(const struct fg_engine *e, unsigned stream, unsigned first, struct fg_interval *out,
		 unsigned max)
{
	const struct series *s = series_of(e, stream);
	uint64_t n = s == NULL ? 0 : known(e, s);
	unsigned i = 0;

	for (; i < max && first + i < n; i++)
		read_interval(e, &e->trial->tx[stream], s, first + i, &out[i]);
	return i;
}

/* one second of intervals, from @p first on */
static struct fg_block
block_of(const struct tx_stream *tx, const struct series *s, uint64_t first, uint64_t n)
{
	struct fg_block block = {.delay_min = INT64_MAX, .delay_max = INT64_MIN};

	block.sent = sent_until(tx, s, first + n - 1) - (first == 0 ? 0 : sent_until(tx, s, first - 1));
	for (const struct series_cell *cell = &s->cell[first]; n > 0; n--, cell++) {
		if (cell->rx == 0)
			continue;
		block.received += cell->rx;
		block.delay_sum += cell->delay_sum;
		block.delay_min = RTE_MIN(block.delay_min, cell->delay_min);
		block.delay_max = RTE_MAX(block.delay_max, cell->delay_max);
	}
	return block;
}

void
series_result(const struct fg_engine *e, unsigned stream, struct fg_stream_result *out)
{
	const struct series *s = series_of(e, stream);
	struct fg_availability availability;
	uint64_t n, each;

	if (s == NULL)
		return;
	n = known(e, s);
	out->series_intervals = n;
	if (s->interval > SECOND_NS || SECOND_NS % s->interval != 0)
		return;
	each = SECOND_NS / s->interval;
	fg_availability_init(&availability);
	for (uint64_t first = 0; first < n; first += each) {
		struct fg_block block = block_of(&e->trial->tx[stream], s, first, RTE_MIN(each, n - first));

		fg_availability_add(&availability, &block);
	}
	fg_availability_read(&availability, &out->available);
}
