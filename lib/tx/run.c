/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Departures that are near, in order. They come by the dozen, and to compare each with others costs a wrongly
 * predicted branch now and then. So they are dealt to bins of time first, about two bins for each; within a
 * bin there is seldom anything left to do. Where they are many (all streams begin at one moment) they are
 * merged.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "tx_run.h"
#include "tx_stream.h"

#define BIN_BITS 7
enum { BINS = 1 << BIN_BITS };

/* may it stand before that one? */
static inline bool
is_in_order(const struct tx_due *a, const struct tx_due *b)
{
	if (likely(a->at != b->at))
		return a->at < b->at;
	return fg_pace_step(&a->stream->pace) <= fg_pace_step(&b->stream->pace);
}

/* before @p end, behind those that may stand before it. @return where */
static inline const struct tx_due *
insert(const struct tx_due *first, struct tx_due *end, struct tx_due due)
{
	for (; end > first && !is_in_order(end - 1, &due); end--)
		*end = end[-1];
	*end = due;
	return end;
}

/* merge lists of @p half that are side by side */
static void
merge(const struct tx_due *from, struct tx_due *to, unsigned n, unsigned half)
{
	for (unsigned low = 0; low < n; low += 2 * half) {
		unsigned i = low, middle = RTE_MIN(low + half, n), k = middle,
			 end = RTE_MIN(middle + half, n);

		while (i < middle || k < end)
			*to++ = k >= end || (i < middle && is_in_order(&from[i], &from[k])) ? from[i++]
											    : from[k++];
	}
}

static void
swap(struct tx_run *r)
{
	struct tx_due *begin = r->begin;

	r->begin = r->other;
	r->other = begin;
}

static void
sort_many(struct tx_run *r, unsigned n)
{
	for (unsigned half = 1; half < n; half *= 2) {
		merge(r->begin, r->other, n, half);
		swap(r);
	}
}

/* up to 255, so that what bins hold and where they begin are bytes, summed eight at a time */
static void
sort_few(struct tx_run *r, unsigned n, uint64_t from, unsigned shift)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	union {
		uint8_t of[BINS];
		uint64_t word[BINS / 8]; /* the first bin is the lowest byte */
	} bin = {.word = {0}};
	uint64_t before = 0;

	for (unsigned i = 0; i < n; i++)
		bin.of[(r->begin[i].at - from) >> shift]++;
	for (unsigned k = 0; k < BINS / 8; k++) {
		const uint64_t sums = bin.word[k] * ones;

		bin.word[k] = (sums << 8) + before * ones;
		before += sums >> 56;
	}
	for (unsigned i = 0; i < n; i++)
		r->other[bin.of[(r->begin[i].at - from) >> shift]++] = r->begin[i];
	swap(r);
	for (unsigned i = 1; i < n; i++)
		insert(r->begin, &r->begin[i], r->begin[i]);
}

void
tx_run_sort(struct tx_run *r, unsigned n, uint64_t from, unsigned shift)
{
	if (likely(n <= UINT8_MAX))
		sort_few(r, n, from, shift < BIN_BITS ? 0 : shift - BIN_BITS);
	else
		sort_many(r, n);
	r->first = r->begin;
	r->end = r->begin + n;
}

size_t
tx_run_put(struct tx_run *r, struct tx_due due)
{
	if (r->end == r->begin + r->room) { /* those gone have left room before the first */
		memmove(r->begin, r->first, (size_t)(r->end - r->first) * sizeof(*r->first));
		r->end -= r->first - r->begin;
		r->first = r->begin;
	}
	const struct tx_due *at = insert(r->first, r->end, due);

	return (size_t)(r->end++ - at);
}

void
tx_run_remove(struct tx_run *r, const struct tx_stream *stream)
{
	struct tx_due *due = r->first;

	while (due->stream != stream)
		due++;
	memmove(due, due + 1, (size_t)(--r->end - due) * sizeof(*due));
}

bool
tx_run_init(struct tx_run *r, size_t streams)
{
	*r = (struct tx_run){
		.begin = calloc(2 * streams, sizeof(*r->begin)),
		.other = calloc(2 * streams, sizeof(*r->other)),
		.room = 2 * streams,
	};
	tx_run_empty(r);
	return r->begin != NULL && r->other != NULL;
}

void
tx_run_free(struct tx_run *r)
{
	free(r->begin);
	free(r->other);
}
