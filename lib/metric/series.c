/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream over time: interval by interval, what was sent and what of that arrived.
 *
 * Both sides go by the time at which a frame departed, as its signature says it. So the loss of an interval
 * is the difference of its own two counts, whatever the delay, and a frame is never sent in one second and
 * received in the next. The sender notes how many frames had departed at the end of each interval; the
 * receiver finds the interval of each arrival, usually the interval of the arrival before.
 *
 * Room for the whole of the traffic is made at set-up, a line an interval; a day of seconds takes 5.5 MB a
 * stream. The 99.9th percentile of an interval's delay is taken from a histogram when its successor is one
 * interval old: later arrivals still enter counts, sum and extremes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fg_series.h"

/*
 * intervals of a stream, and of one that goes on without end: 36 hours of seconds, and it is the first limit
 */
enum { SERIES_MAX = 1 << 20, SERIES_ENDLESS = 1 << 17 };
static const uint64_t DELAY_HIGHEST_NS = 1000000000;

int
fg_series_create(uint64_t start, uint64_t duration, uint64_t interval, unsigned digits,
		 struct fg_series **out, struct fg_error *err)
{
	/* and one for frames that left late */
	uint64_t n = duration == UINT64_MAX ? SERIES_ENDLESS : (duration + interval - 1) / interval + 1;
	struct fg_series *s;

	if (n > SERIES_MAX)
		return fg_error_set(err, E2BIG, "series", "%" PRIu64 " intervals: at most %d", n, SERIES_MAX);
	s = aligned_alloc(64, sizeof(*s));
	if (s == NULL)
		return fg_error_set(err, ENOMEM, "series", "no memory");
	*s = (struct fg_series){
		.start = start,
		.interval = interval,
		.n = n,
		.sent = calloc(n, sizeof(*s->sent)),
		.cell = aligned_alloc(64, n * sizeof(*s->cell)),
		.delay = {fg_histogram_create(digits, DELAY_HIGHEST_NS, err),
			  fg_histogram_create(digits, DELAY_HIGHEST_NS, err)},
	};
	if (s->sent == NULL || s->cell == NULL || s->delay[0] == NULL || s->delay[1] == NULL) {
		fg_series_free(s);
		return fg_error_set(err, ENOMEM, "series", "no memory for %" PRIu64 " intervals", n);
	}
	memset(s->cell, 0, n * sizeof(*s->cell));
	*out = s;
	return 0;
}

void
fg_series_free(struct fg_series *s)
{
	if (s == NULL)
		return;
	fg_histogram_free(s->delay[0]);
	fg_histogram_free(s->delay[1]);
	free(s->sent);
	free(s->cell);
	free(s);
}

uint64_t
fg_series_depart(struct fg_series *s, uint64_t departure, uint64_t number)
{
	uint64_t at = s->tx_at, end = fg_series_end(s, at);

	while (departure >= end) {
		s->sent[at++] = number;
		end = fg_series_end(s, at);
	}
	__atomic_store_n(&s->tx_at, at, __ATOMIC_RELEASE);
	return end;
}

void
fg_series_take_back(struct fg_series *s, uint64_t sent)
{
	for (uint64_t k = s->tx_at; k > 0 && s->sent[k - 1] > sent; k--)
		s->sent[k - 1] = sent;
}

/* nothing that arrives from now on enters the percentile of interval @p k */
static void
close_interval(struct fg_series *s, uint64_t k)
{
	struct fg_histogram *h = s->delay[k & 1];

	if (h->count == 0)
		return;
	s->cell[k].delay_p999 = (int64_t)fg_histogram_percentile(h, 0.999);
	fg_histogram_reset(h);
}

uint64_t
fg_series_seek(struct fg_series *s, uint64_t sent)
{
	uint64_t k = (sent - s->start) / s->interval;
	uint64_t at = s->rx_at;

	if (k >= s->n)
		return s->n;
	if (k <= at)
		return k;
	if (at > 0)
		close_interval(s, at - 1);
	if (k > at + 1)
		close_interval(s, at);
	s->rx_begin = k * s->interval;
	__atomic_store_n(&s->rx_at, k, __ATOMIC_RELEASE);
	return k;
}
