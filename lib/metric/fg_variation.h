/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fg_counts.h"
#include "fg_error.h"
#include "fg_histogram.h"

__BEGIN_DECLS

/**
 * How the delay of a stream varies from frame to frame: IPDV (RFC 3393, RFC 5481) and the interarrival jitter
 * of RFC 3550. The third form, PDV (delay less the minimum), needs no state of its own: it is read from the
 * histogram of delays.
 *
 * IPDV is of frames next to each other in the order of sending, whatever the order they arrive in: each pair
 * of consecutive numbers that both came counts once. For that the delays of the last frames are kept, by
 * number; a frame that comes later than those remember has no known neighbours. Jitter goes by the order of
 * arrival.
 *
 * Times are in a unit of the caller's choice; Framegauge uses nanoseconds. One writer, no locks: read after
 * the writer has stopped, or read a copy that the writer made. Feed it first copies only (RFC 5560).
 */
struct fg_variation {
	uint64_t frames;
	uint64_t highest; /* number that came */
	int64_t transit;  /* delay of the frame that arrived last */
	uint64_t jitter16, jitter16_max;
	int64_t sum, min,
		max; /* of the IPDV; the sum adds last less first delay of each run without a loss */
	uint64_t unknown;
	struct fg_histogram *up, *down; /* IPDV of 0 and more; its magnitude below 0 */
	uint32_t mask;                  /* of the delays kept */
	struct {
		uint64_t number; /* and one; 0: none yet */
		int64_t delay;
	} kept[];
} __attribute__((aligned(64)));

/**
 * Make one.
 *
 * @param digits   significant digits of the IPDV's percentiles, 1 to 3
 * @param highest  largest IPDV to tell apart
 * @param kept     delays to remember, a power of two: frames that come late by less still have neighbours
 * @return         NULL with @p err filled: -EINVAL, -ENOMEM
 */
struct fg_variation *fg_variation_create(unsigned digits, uint64_t highest, unsigned kept,
					 struct fg_error *err);
void fg_variation_free(struct fg_variation *v);

/** Jitter of RFC 3550 after the last frame, also while another thread records. */
static inline double
fg_variation_glance(const struct fg_variation *v)
{
	return (double)__atomic_load_n(&v->jitter16, __ATOMIC_RELAXED) / 16;
}

void fg_variation_read(const struct fg_variation *v, struct fg_variation_counts *out);

/** Forget all frames. */
void fg_variation_reset(struct fg_variation *v);

/**
 * Add the variation of another stream to @p into, which then is only good for reading: all pairs of both, and
 * the larger jitter.
 * @return 0, or -EINVAL: their histograms differ and @p into is of no use
 */
int fg_variation_merge(struct fg_variation *into, const struct fg_variation *from, struct fg_error *err);

static inline void
fg_variation_pair(struct fg_variation *v, int64_t ipdv)
{
	fg_histogram_record(ipdv < 0 ? v->down : v->up, ipdv < 0 ? -ipdv : ipdv);
	v->sum += ipdv;
	v->min = ipdv < v->min ? ipdv : v->min;
	v->max = ipdv > v->max ? ipdv : v->max;
}

/** The neighbour of a frame that came, @p number, if it came; @p sign: on which side it is. */
static inline void
fg_variation_neighbour(struct fg_variation *v, uint64_t number, int64_t delay, int64_t sign)
{
	uint64_t at = number & v->mask;

	if (v->kept[at].number == number + 1)
		fg_variation_pair(v, sign * (delay - v->kept[at].delay));
	else if (__builtin_expect(v->kept[at].number > number + 1, 0))
		v->unknown++;
}

/** RFC 3550, appendix A.8: @p change of the transit time from one arrival to the next. */
static inline void
fg_variation_jitter(struct fg_variation *v, int64_t change)
{
	uint64_t magnitude = (uint64_t)(change < 0 ? -change : change);

	v->jitter16 += magnitude - ((v->jitter16 + 8) >> 4);
	v->jitter16_max = v->jitter16 > v->jitter16_max ? v->jitter16 : v->jitter16_max;
}

/**
 * A first copy arrived.
 *
 * @param number  its sequence number
 * @param delay   its one way delay; clocks that differ do no harm
 */
static inline void
fg_variation_record(struct fg_variation *v, uint64_t number, int64_t delay)
{
	uint64_t at = number & v->mask;

	if (__builtin_expect(v->frames++ > 0, 1))
		fg_variation_jitter(v, delay - v->transit);
	v->transit = delay;
	if (number > 0)
		fg_variation_neighbour(v, number - 1, delay, 1);
	if (__builtin_expect(number < v->highest, 0))
		fg_variation_neighbour(v, number + 1, delay, -1);
	else
		v->highest = number;
	/* a newer delay keeps its place: a look-up of this number then finds no delay */
	if (__builtin_expect(v->kept[at].number <= number, 1)) {
		v->kept[at].number = number + 1;
		v->kept[at].delay = delay;
	}
}

__END_DECLS
