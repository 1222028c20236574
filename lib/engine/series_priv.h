/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERIES_PRIV_H
#define SERIES_PRIV_H

#include "engine_priv.h"

/** What arrived of the frames that departed in one interval. Writer: the rx lcore. */
struct series_cell {
	uint64_t rx, octets;
	int64_t delay_sum, delay_min, delay_max; /* ns; of no meaning while rx is 0 */
	int64_t delay_p999;                      /* once closed */
	uint32_t duplicates, reordered;
	uint64_t padding; /* a line each */
};

/** A stream over time. */
struct series {
	const struct clock *clock;
	uint64_t start, interval; /* ns */
	uint64_t n;               /* intervals there is room for */

	/* writer: the tx lcore */
	_Atomic uint64_t tx_at __rte_cache_aligned; /* the interval in which frames depart now */
	uint64_t *sent;                             /* [k]: frames that departed before interval k was over */

	/* writer: the rx lcore */
	_Atomic uint64_t rx_at __rte_cache_aligned; /* the latest interval of which a frame arrived */
	uint64_t rx_begin;                          /* of it, ns since start */
	struct series_cell *cell;
	struct fg_histogram *delay[2]; /* of rx_at and the one before it, by parity */
} __rte_cache_aligned;

/**
 * A series of a stream whose traffic starts at @p start_ticks and lasts @p duration_ns.
 *
 * @param digits  of the histograms of delay
 * @return        NULL with @p err filled: -E2BIG too many intervals, -ENOMEM
 */
struct series *series_create(const struct clock *clock, uint64_t start_ticks, uint64_t duration_ns,
			     uint64_t interval_ns, unsigned digits, struct fg_error *err);
void series_free(struct series *s);

/** When interval @p k is over: the first tick whose nanosecond belongs to the next; UINT64_MAX beyond the last. */
uint64_t series_end(const struct series *s, uint64_t k);

/**
 * The tx lcore is about to count frame @p number, which departs at @p departure (ticks), the first one beyond the
 * present interval.
 * @return when the interval that it departs in is over, ticks
 */
uint64_t series_depart(struct series *s, uint64_t departure, uint64_t number);

/** The interval to which a frame sent at @p sent (ns) belongs, or s->n. The rx lcore turns to it if it is a new one. */
uint64_t series_seek(struct series *s, uint64_t sent);

static inline uint64_t
series_interval(struct series *s, uint64_t sent)
{
	if (unlikely(sent - s->start - s->rx_begin >= s->interval))
		return series_seek(s, sent);
	return atomic_load_explicit(&s->rx_at, memory_order_relaxed);
}

/** A first copy arrived of a frame sent at @p sent. */
static inline void
series_arrive(struct series *s, uint64_t sent, int64_t delay, unsigned octets, bool reordered)
{
	uint64_t k = series_interval(s, sent);
	struct series_cell *cell = &s->cell[k];

	if (unlikely(k == s->n))
		return;
	cell->delay_min = cell->rx == 0 || delay < cell->delay_min ? delay : cell->delay_min;
	cell->delay_max = cell->rx == 0 || delay > cell->delay_max ? delay : cell->delay_max;
	cell->delay_sum += delay;
	cell->rx++;
	cell->octets += octets;
	cell->reordered += reordered;
	if (likely(k + 1 >= atomic_load_explicit(&s->rx_at, memory_order_relaxed)))
		fg_histogram_record(s->delay[k & 1], delay);
}

/** A further copy arrived of a frame sent at @p sent. */
static inline void
series_arrive_again(struct series *s, uint64_t sent)
{
	uint64_t k = series_interval(s, sent);

	if (k < s->n)
		s->cell[k].duplicates++;
}

#endif
