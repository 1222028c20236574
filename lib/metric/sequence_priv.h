/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The files of a tracker among themselves: sequence.c has the numbers, order.c late arrivals, rank.c how
 * many came. The one writer of a tracker calls all of them.
 */
#include "fg_sequence.h"

enum { GROUP = 64 }; /* words of a block, and blocks of a superblock (rank.c) */

/** Which numbers came: a ring of words. */
static inline uint64_t *
words_of(const struct fg_sequence *t)
{
	return (uint64_t *)((uintptr_t)t + (uintptr_t)t->words);
}

/** And which came twice. */
static inline uint64_t *
twice_of(const struct fg_sequence *t)
{
	return words_of(t) + t->word_mask + 1;
}

static inline struct fg_order_point *
points_of(const struct fg_sequence *t)
{
	return (struct fg_order_point *)(twice_of(t) + t->word_mask + 1);
}

/** Are there as many words that they are counted in groups? */
static inline bool
rank_is_kept(const struct fg_sequence *t)
{
	return t->word_mask >= GROUP;
}

/** Bytes that the groups of a ring of @p words take. */
size_t rank_size(uint32_t words);

/** All numbers came, or none. */
void rank_fill(struct fg_sequence *t, bool came);

/** Words up to @p at, the last of its block, are in the ring. */
void rank_close(struct fg_sequence *t, uint64_t at);

/** A number of word @p at came late. */
void rank_add(struct fg_sequence *t, uint64_t at);

/** How many numbers above @p number, which is in the window, have come. */
uint64_t rank_above(const struct fg_sequence *t, uint64_t number);

/**
 * The block that will make room for the one that begins with word @p at: how many of its numbers came.
 * @return 0 to 4096
 */
unsigned rank_of_oldest(const struct fg_sequence *t, uint64_t at);

/** The arrival about to be counted has @p number, above the one expected. */
void order_jump(struct fg_sequence *t, uint64_t number, uint64_t now);

/** The arrival just counted came late. @param above  arrivals before it with a larger number */
void order_late(struct fg_sequence *t, uint64_t number, uint64_t above, uint64_t now);

void order_read(const struct fg_sequence *t, struct fg_order_counts *out);

/** All but extent_last, which exists once. */
void order_add(struct fg_order_counts *total, const struct fg_order_counts *one);

static inline void
raise_to(uint64_t *max, uint64_t value)
{
	*max = value > *max ? value : *max;
}
