/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_ROUND_H
#define TX_ROUND_H

#include "tx_priv.h"

/** A stream that takes turns with others: what it takes to send a frame of it. */
struct tx_turn {
	uint64_t start;        /* departure of the schedule's first frame, ticks */
	uint64_t id : 16;      /* in the signature */
	uint64_t skipped : 48; /* frames forgiven */
	uint8_t header[];      /* in whole blocks of 16 octets */
};

/**
 * Streams of a lane that take turns. Written by its tx lcore only; control may read `done` at any time, the rest when the
 * trial has ended.
 */
struct tx_round {
	uint8_t *turns; /* struct tx_turn, one after the other in the order of departures */
	size_t stride;
	unsigned streams;
	unsigned place;      /* of the stream that is next */
	uint64_t lap, laps;  /* frames in each one's schedule before the next one, and in all */
	uint64_t done;       /* departures behind us, also of frames forgiven */
	fg_u128 step, since; /* ticks between two frames of a stream; from the first lap to this one */
	uint64_t max_lag, on_time;
	uint64_t worst_lag;
	uint64_t judged, off_schedule; /* as those of a pace, of all streams: departures and frames */
	uint64_t interval_end;         /* of the series, ticks; UINT64_MAX: none is kept */
	const struct fg_template *frame;
	struct rte_mempool *pool;

	struct tx_stream **stream;
	uint64_t *first, *last; /* departures of each stream, ticks */
	unsigned series;        /* streams that have one ... */
	unsigned *with_series;  /* ... and which */
};

static inline struct tx_turn *
tx_turn_of(const struct tx_round *r, unsigned place)
{
	return (struct tx_turn *)(void *)(r->turns + place * r->stride);
}

/** Frames of the stream at place @p k that have gone, after @p done departures of all. */
static inline uint64_t
tx_round_sent(const struct tx_round *r, unsigned k, uint64_t done)
{
	return done / r->streams + (k < done % r->streams) - tx_turn_of(r, k)->skipped;
}

/* tx_round_setup.c */

/**
 * Let the streams of a task's queue take turns, if they do.
 * @return 0, also if they do not: then the task has no round; -ENOMEM
 */
int tx_round_create(struct tx_task *task, struct tx_stream *const *streams, unsigned n, struct fg_error *err);
void tx_round_free(struct tx_round *round);
/** Each goes its own way from now on: the queue has them. Called by the lcore. */
void tx_round_leave(struct tx_task *task);

/* tx_round.c: the loops */
uint64_t tx_round_now(struct fg_task *task, uint64_t now);
uint64_t tx_round_launch(struct fg_task *task, uint64_t now);

#endif
