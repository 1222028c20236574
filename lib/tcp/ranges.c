/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of sequence numbers: what a peer has selectively acknowledged, and what we hold ahead of its turn.
 * Sorted ranges in an array; the usual set has one to three of them, a bad path some dozens, so a shift of
 * the array is cheaper than any tree. All numbers of a set lie within 2^31 of each other, as the numbers of a
 * window do.
 */
#include <string.h>

#include "tcp_priv.h"

static void
remove_at(struct ranges *set, uint32_t first, uint32_t n)
{
	memmove(&set->at[first], &set->at[first + n], (set->count - first - n) * sizeof(set->at[0]));
	set->count -= n;
}

uint32_t
ranges_add(struct ranges *set, uint32_t from, uint32_t to)
{
	uint32_t i = set->count, last, had = 0;

	/* news is mostly at the end */
	while (i > 0 && seq_le(from, set->at[i - 1].to))
		i--;
	for (last = i; last < set->count && seq_le(set->at[last].from, to); last++)
		had += set->at[last].to - set->at[last].from;
	if (last == i) {
		if (set->count == MAX_RANGES)
			return UINT32_MAX;
		memmove(&set->at[i + 1], &set->at[i], (set->count - i) * sizeof(set->at[0]));
		set->at[i] = (struct range){from, to};
		set->count++;
		return to - from;
	}
	if (seq_lt(set->at[i].from, from))
		from = set->at[i].from;
	if (seq_lt(to, set->at[last - 1].to))
		to = set->at[last - 1].to;
	set->at[i] = (struct range){from, to};
	remove_at(set, i + 1, last - i - 1);
	return to - from - had;
}

void
ranges_cut(struct ranges *set, uint32_t from)
{
	uint32_t gone = 0;

	while (gone < set->count && seq_le(set->at[gone].to, from))
		gone++;
	remove_at(set, 0, gone);
	if (set->count > 0 && seq_lt(set->at[0].from, from))
		set->at[0].from = from;
}

uint32_t
ranges_within(const struct ranges *set, uint32_t from, uint32_t to)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; set != NULL && i < set->count && seq_lt(set->at[i].from, to); i++) {
		uint32_t a = seq_lt(set->at[i].from, from) ? from : set->at[i].from;
		uint32_t b = seq_lt(to, set->at[i].to) ? to : set->at[i].to;

		if (seq_lt(a, b))
			sum += b - a;
	}
	return sum;
}

uint32_t
ranges_missing(const struct ranges *set, uint32_t from, uint32_t to)
{
	return seq_lt(from, to) ? to - from - ranges_within(set, from, to) : 0;
}

bool
ranges_gap(const struct ranges *set, uint32_t from, uint32_t edge, uint32_t *begin, uint32_t *end)
{
	*end = edge;
	for (uint32_t i = 0; set != NULL && i < set->count; i++) {
		if (seq_lt(from, set->at[i].from)) {
			if (seq_lt(set->at[i].from, edge))
				*end = set->at[i].from;
			break;
		}
		if (seq_lt(from, set->at[i].to))
			from = set->at[i].to;
	}
	*begin = from;
	return seq_lt(from, *end);
}
