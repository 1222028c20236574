/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_histogram.h"

__BEGIN_DECLS

/** What arrived of the frames that departed in one interval. Writer: the receiver. */
struct fg_series_cell {
	uint64_t rx, octets;
	int64_t delay_sum, delay_min, delay_max; /* ns; of no meaning while rx is 0 */
	int64_t delay_p999;                      /* once closed */
	uint32_t duplicates, reordered;
	uint64_t padding; /* a line each */
};

/** A stream over time: see series.c. Times are ns. */
struct fg_series {
	uint64_t start, interval;
	uint64_t n; /* intervals there is room for */

	/* writer: the sender */
	uint64_t tx_at __attribute__((aligned(64))); /* the interval in which frames depart now */
	uint64_t *sent; /* [k]: frames that departed before interval k was over */

	/* writer: the receiver */
	uint64_t rx_at __attribute__((aligned(64))); /* the latest interval with an arrival */
	uint64_t rx_begin;                           /* of it, since start */
	struct fg_series_cell *cell;
	struct fg_histogram *delay[2]; /* of rx_at and the one before it, by parity */
} __attribute__((aligned(64)));

/**
 * A series of a stream whose traffic starts at @p start and lasts @p duration; UINT64_MAX: without end.
 *
 * @param digits  of the histograms of delay
 * @return        0, -E2BIG too many intervals, -ENOMEM
 */
int fg_series_create(uint64_t start, uint64_t duration, uint64_t interval, unsigned digits,
		     struct fg_series **out, struct fg_error *err);
void fg_series_free(struct fg_series *s);

/** When interval @p k is over: the first moment of the next; UINT64_MAX beyond the last. */
static inline uint64_t
fg_series_end(const struct fg_series *s, uint64_t k)
{
	return k >= s->n ? UINT64_MAX : s->start + (k + 1) * s->interval;
}

/**
 * The sender is about to count frame @p number, which departs at @p departure, the first one beyond the
 * present interval.
 * @return when the interval that it departs in is over
 */
uint64_t fg_series_depart(struct fg_series *s, uint64_t departure, uint64_t number);

/** After the trial: only the first @p sent frames have departed. */
void fg_series_take_back(struct fg_series *s, uint64_t sent);

/** The interval in which frames depart now. What stands in `sent` below it is certain. */
static inline uint64_t
fg_series_departing(const struct fg_series *s)
{
	return __atomic_load_n(&s->tx_at, __ATOMIC_ACQUIRE);
}

/** The latest interval with an arrival. */
static inline uint64_t
fg_series_arriving(const struct fg_series *s)
{
	return __atomic_load_n(&s->rx_at, __ATOMIC_ACQUIRE);
}

/**
 * The interval to which a frame sent at @p sent belongs, or s->n. The receiver turns to it if it is a new
 * one.
 */
uint64_t fg_series_seek(struct fg_series *s, uint64_t sent);

static inline uint64_t
fg_series_interval(struct fg_series *s, uint64_t sent)
{
	if (__builtin_expect(sent - s->start - s->rx_begin >= s->interval, 0))
		return fg_series_seek(s, sent);
	return s->rx_at;
}

/** A first copy arrived of a frame sent at @p sent. */
static inline void
fg_series_arrive(struct fg_series *s, uint64_t sent, int64_t delay, unsigned octets, bool reordered)
{
	uint64_t k = fg_series_interval(s, sent);
	struct fg_series_cell *cell = &s->cell[k];

	if (__builtin_expect(k == s->n, 0))
		return;
	cell->delay_min = cell->rx == 0 || delay < cell->delay_min ? delay : cell->delay_min;
	cell->delay_max = cell->rx == 0 || delay > cell->delay_max ? delay : cell->delay_max;
	cell->delay_sum += delay;
	cell->rx++;
	cell->octets += octets;
	cell->reordered += reordered;
	if (__builtin_expect(k + 1 >= s->rx_at, 1))
		fg_histogram_record(s->delay[k & 1], delay);
}

/** A further copy arrived of a frame sent at @p sent. */
static inline void
fg_series_arrive_again(struct fg_series *s, uint64_t sent)
{
	uint64_t k = fg_series_interval(s, sent);

	if (k < s->n)
		s->cell[k].duplicates++;
}

__END_DECLS
