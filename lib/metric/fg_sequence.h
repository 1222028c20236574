/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_order.h"

__BEGIN_DECLS

/** Numbers a tracker remembers unless there is a reason for another size; and the most. */
#define FG_SEQUENCE_WINDOW     4096
#define FG_SEQUENCE_WINDOW_MAX (1U << 29)

/** Runs of consecutive missing numbers: the loss periods of RFC 3357, and the loss distances between them. */
struct fg_sequence_bursts {
	uint64_t run; /* the one still open */
	uint64_t count;
	uint64_t max;
	uint64_t total;
	uint64_t after;                      /* numbers that came since the last missing one */
	uint64_t lengths[FG_LOSS_CLASSES];   /* see struct fg_sequence_counts */
	uint64_t distances[FG_LOSS_CLASSES]; /* the same */
};

/**
 * What arrived of one stream: loss (RFC 7680, 3357), duplicates (RFC 5560), reordering (RFC 4737).
 *
 * Frames carry 64-bit numbers which never wrap, `first`, first + 1, ... The tracker remembers which of the
 * last W numbers came. A number more than W behind the highest one can no longer be judged, and is only
 * counted as stale.
 *
 * Memory is of fixed size, 2 bits a number and 32 bytes for each of K discontinuities. It follows the tracker
 * (960 bytes and that: 1728 for W = 1024, 4032 for 4096) or is elsewhere. A frame in order touches the first
 * line only. One writer, no locks: read after the writer has stopped, or read a copy that the writer made.
 * The counts are read with fg_sequence_read().
 */
struct fg_sequence {
	/*
	 * What every frame writes stands apart from its like: side by side, compilers write two fields with
	 * one vector store, and the next frame waits for it when it reads one of them.
	 */
	uint64_t next; /* NextExp of RFC 4737: one above the highest number that came */
	uint64_t first;
	uint64_t head;       /* which numbers came, of the 64 that `next` belongs to */
	uint32_t word_mask;  /* W/64 - 1 */
	uint32_t point_mask; /* K - 1 */
	uint64_t unique;     /* first copies */
	uint64_t duplicates;
	uint64_t stale;
	uint64_t reordered;

	uint64_t duplicated;              /* numbers that came more than once */
	uint64_t head_twice;              /* which of them, of the 64 of `head` */
	struct fg_sequence_bursts bursts; /* among the numbers that have left the window */

	struct fg_order order; /* of late arrivals */

	/*
	 * Bytes from here to the rest: W/64 words, which numbers came before the numbers of `head`; as many,
	 * which came twice; K points; and how many numbers came in groups of words (rank.c)
	 */
	ptrdiff_t words;
} __attribute__((aligned(64)));

/** The counts of a stream, or of many added up. */
struct fg_sequence_counts {
	uint64_t sent;       /* by the sender's count */
	uint64_t received;   /* all copies: unique + duplicates + stale */
	uint64_t unique;     /* numbers that came */
	uint64_t duplicates; /* copies of a number that had come */
	uint64_t duplicated; /* numbers that came more than once */
	uint64_t stale;      /* more than W behind, or below `first`: first copy or duplicate, unknown */

	/*
	 * sent - unique. A stale frame may be a first copy, so the truth is in lost - stale .. lost.
	 * Negative, or excess > 0: numbers came that were never sent, and no count of the stream can be
	 * trusted.
	 */
	int64_t lost;
	uint64_t excess; /* how far the highest number lies above the last one sent */

	/*
	 * Runs of consecutive missing numbers (the loss periods of RFC 3357); the mean is burst_total /
	 * bursts. The distance of a run is from the last number missing before it to its first one: numbers
	 * between, and one; the first run has none.
	 */
	uint64_t bursts;
	uint64_t burst_max;
	uint64_t burst_total; /* = lost, when nothing was stale or in excess */
	uint64_t last_lost;   /* number of the last missing frame, if bursts > 0 */
	uint64_t burst_lengths
		[FG_LOSS_CLASSES]; /* [i]: runs of 2^i and more, below 2^(i+1); the last: any more */
	uint64_t burst_distances[FG_LOSS_CLASSES]; /* [i]: distances of 2^i and more, the same */

	uint64_t reordered; /* RFC 4737 */
	struct fg_order_counts order;
};

/**
 * Bytes that a tracker takes, for callers that bring their own memory (on the lcore's NUMA node).
 *
 * @param window  W, a power of two from 64 to 2^29; K, the discontinuities remembered, is W/64 but at least
 *         16 and, above 2^16, less: W/256 but at least 1024
 * @return        a multiple of 64; 0 if fg_sequence_init() would reject it
 */
size_t fg_sequence_size(unsigned window);

/** The bytes that need not follow the tracker, with K of the caller's choice, a power of two from 16 on. */
size_t fg_sequence_size_apart(unsigned window, unsigned points);

/**
 * Make a tracker of fg_sequence_size() bytes of memory aligned to 64.
 *
 * @param first  number of the first frame that will be sent; lower numbers are stale (frames of an
 *               earlier trial, if the sender counts on)
 * @return       0, or -EINVAL: window is not a power of two from 64 to 2^29
 */
int fg_sequence_init(struct fg_sequence *t, unsigned window, uint64_t first, struct fg_error *err);

/**
 * The same with the rest elsewhere.
 *
 * @param apart  fg_sequence_size_apart() bytes, aligned to 64, that stay as long as the tracker
 */
int fg_sequence_init_apart(struct fg_sequence *t, unsigned window, unsigned points, void *apart,
			   uint64_t first, struct fg_error *err);

/** fg_sequence_init() on memory of its own. @return NULL with @p err filled if rejected or out of memory */
struct fg_sequence *fg_sequence_create(unsigned window, uint64_t first, struct fg_error *err);
void fg_sequence_free(struct fg_sequence *t);

/** Forget all arrivals and begin at @p first; the window stays. */
void fg_sequence_reset(struct fg_sequence *t, uint64_t first);

/**
 * The counts so far, given that @p sent frames have left. The tracker is not changed and may go on.
 *
 * While frames still fly, those are among the lost: the figure that counts is taken after the drain.
 */
void fg_sequence_read(const struct fg_sequence *t, uint64_t sent, struct fg_sequence_counts *out);

/** Add the counts of one more stream to @p total: sums, and the larger of the maxima. */
void fg_sequence_counts_add(struct fg_sequence_counts *total, const struct fg_sequence_counts *one);

/** The rest of fg_sequence_observe(): end of a word, gap, late number, duplicate. Not called directly. */
bool fg_sequence_observe_slow(struct fg_sequence *t, uint64_t number, uint64_t now);

/**
 * One frame arrived. Call it for every copy, in the order of arrival.
 *
 * @param number  its sequence number
 * @param now     its arrival time, any unit that only grows
 * @return        true for the first copy of a number, the only one to enter other metrics
 */
static inline bool
fg_sequence_observe(struct fg_sequence *t, uint64_t number, uint64_t now)
{
	/* the last number of a word goes the long way, which turns to the next word */
	if (__builtin_expect(number != t->next || (number & 63) == 63, 0))
		return fg_sequence_observe_slow(t, number, now);
	t->head |= 1ULL << (number & 63);
	t->next = number + 1;
	t->unique++;
	return true;
}

/** The next @p n numbers, at most 64, came one after the other: as fg_sequence_observe() of each. */
static inline void
fg_sequence_observe_next(struct fg_sequence *t, unsigned n)
{
	unsigned at = t->next & 63;

	if (__builtin_expect(at + n > 63, 0)) {
		/* what is in order has no use for the time */
		for (; n > 0; n--)
			fg_sequence_observe(t, t->next, 0);
		return;
	}
	t->head |= ((1ULL << n) - 1) << at;
	t->next += n;
	t->unique += n;
}

__END_DECLS
