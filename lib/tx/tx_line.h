/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The line of a port as its sender knows it. A frame's first bit leaves when the frame is due, or when the
 * frame before it has left the line; two streams are due together now and then, and frames of several sizes
 * or at random times come closer than their own length. A delay begins at the first bit, so stamp and launch
 * time are that moment, and not when the frame was due: the wait is the tester's and no delay of the device.
 *
 * A port without launch times gets its frames with the time at which they are handed over. There it is only
 * known how long they wait behind each other at most, by which their stamps may be early. Where several
 * queues share its line, no sender knows what the others have handed over, and each reckons with a part of
 * the line, as large as its part of the mean load. Work that all of these parts have left is as much as the
 * line has left, or more: so their longest waits together are a bound for each frame (tx_own_queue()). What
 * the port can hold is another, where a queue sends more than its part for a while.
 *
 * The load is counted by when frames are due, because that is what was asked for; the series of a stream goes
 * by stamps.
 *
 * Made by control; written by the tx lcore of the queue.
 */
#include <rte_branch_prediction.h>

#include "fg_net.h"

#define TX_LINE_FRACTION 16 /* bits: 16 KiB at 1 kbit/s and 10^12 ticks a second stay within 64 */

struct tx_line {
	uint64_t free;      /* ticks: the end of the last frame, its gap included */
	uint64_t byte_time; /* ticks << TX_LINE_FRACTION; 0: the port has no line rate, and nothing waits */
	/*
	 * Ticks are whole. With launch times they are rounded up, so that no frame is stamped before the one
	 * ahead has left; without, down, so that a full line does not seem to be more than full.
	 */
	uint64_t overhead_time; /* of preamble and gap, and the rounding, likewise */
	uint64_t longest;       /* ticks and one more, of all waits in the queue; 0: it has sent nothing */
	double share;           /* of the line; 0: all of it, no other queue sends */
};

/** When a frame that is due at @p due begins to leave, ticks. */
static inline uint64_t
tx_line_begin(const struct tx_line *l, uint64_t due)
{
	return likely(due >= l->free) ? due : l->free;
}

/** How long a frame of @p bytes with FCS holds the line, ticks. */
static inline uint64_t
tx_line_time(const struct tx_line *l, uint32_t bytes)
{
	return (l->byte_time * bytes + l->overhead_time) >> TX_LINE_FRACTION;
}

/**
 * The port refused frames that would have held the line for @p time.
 * @param left  when the first of them would have left, ticks, where the port has launch times; else 0
 */
static inline void
tx_line_take_back(struct tx_line *l, uint64_t left, uint64_t time)
{
	l->free = left > 0 ? left : l->free - time;
}

/**
 * Keep the longest wait of the stream and of the queue, ticks and one more: a frame that was due at @p due
 * leaves at @p at, no earlier.
 */
static inline void
tx_line_note(struct tx_line *l, uint64_t *longest, uint64_t due, uint64_t at)
{
	if (likely(at - due < *longest))
		return;
	__atomic_store_n(longest, at - due + 1, __ATOMIC_RELAXED); /* control may read them at any time */
	if (at - due >= l->longest)
		__atomic_store_n(&l->longest, at - due + 1, __ATOMIC_RELAXED);
}

/** @p n frames of one length are handed over at once, at @p now. */
static inline void
tx_line_burst(struct tx_line *l, uint64_t *longest, uint64_t now, unsigned n, uint32_t bytes)
{
	const uint64_t at = tx_line_begin(l, now), each = tx_line_time(l, bytes);

	tx_line_note(l, longest, now, at + (n - 1) * each);
	l->free = at + n * each;
}
