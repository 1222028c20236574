/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Frames of many streams. What is kept of a stream lies in four cache lines, its own, the tracker's and two
 * of the histogram, and of thousands of streams none of them is near when the next frame of a stream comes.
 * So a frame that is the next one of its stream, and after no longer a gap than there was before, only enters
 * a batch: its number follows from the last one's, and only its delay is left. A stream has a line
 * for that. Once it is full, or a frame comes that is no such frame, the batch is flushed: all its frames are
 * measured, as if they had been from the first. Then the four lines are touched for as many frames at once.
 * Which of the streams have a full batch in a burst is evenly spread.
 *
 * Only where a receiver has a port to itself and measures no more than the plain counts.
 */
#include "rx.h"

enum {
	RX_FEW = 64,  /* streams whose lines stay in the nearest caches */
	RX_BATCH = 8, /* frames, as many as fill up a line */
	RX_UNASSIGNED = UINT16_MAX,
};

/** What has come of a stream and is not measured yet. Written by the rx lcore only. */
struct rx_batch {
	uint64_t next;            /* number of the next frame, and its length: rx_batch_key() */
	uint64_t last_arrival;    /* ns */
	uint64_t longest_gap;     /* ns; a frame after a longer one is not of a batch */
	uint32_t octets;          /* of the frames pending, with FCS */
	uint16_t queue;           /* of the engine, that receives the stream; RX_UNASSIGNED: none does */
	uint8_t pending, limit;   /* frames, of that many until the next has to be looked at */
	uint32_t delay[RX_BATCH]; /* ns */
} __rte_cache_aligned;

/** Number and length (without FCS) of a frame in one, so that one comparison is enough. */
static inline uint64_t
rx_batch_key(uint64_t number, uint32_t length)
{
	return number | (uint64_t)length << 48;
}

static inline struct rx_batch *
rx_batch_of(const struct rx_task *t, const struct rx_stream *stream)
{
	return &t->batches[stream - t->streams];
}

/** A frame enters the batch; @p length without FCS. @return false if it has to be looked at */
static inline bool
rx_batch_add(struct rx_batch *batch, uint64_t number, uint64_t arrival_ns, int64_t delay, uint32_t length)
{
	uint64_t key = rx_batch_key(number, length);

	if (unlikely(key != batch->next || batch->pending >= batch->limit || (uint64_t)delay > UINT32_MAX ||
		     arrival_ns - batch->last_arrival > batch->longest_gap))
		return false;
	batch->next = key + 1;
	batch->last_arrival = arrival_ns;
	batch->octets += length + FG_ETHER_FCS;
	batch->delay[batch->pending++] = (uint32_t)delay;
	return true;
}

/* batch.c */

/** The batch of stream @p i, whose receiver is known; frame @p first comes first. */
void rx_batch_init(struct rx *rx, unsigned i, uint64_t first);
/** Measure what is pending of a stream. */
void rx_batch_flush(const struct rx_task *task, struct rx_stream *stream);
/** A frame has been measured without a batch. */
void rx_batch_resume(const struct rx_task *task, struct rx_stream *stream);
