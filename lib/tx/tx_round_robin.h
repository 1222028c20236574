/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Streams of a queue that send in turn: see round_robin.c. Made by control, written by the tx lcore from then
 * on. Control may read `done` at any time, the rest when the trial has ended.
 */
#include "tx_task.h"

/** A stream of a round robin: what it takes to send a frame of it. */
struct tx_slot {
	uint64_t start;        /* departure of the schedule's first frame, ticks */
	uint64_t id : 16;      /* in the signature */
	uint64_t skipped : 48; /* frames forgiven */
	uint8_t header[];      /* in whole blocks of 16 bytes */
};

struct tx_round_robin {
	uint8_t *slots; /* struct tx_slot, one after the other in the order of departures */
	size_t stride;
	unsigned streams;
	unsigned slot;          /* that is next */
	uint64_t cycle, cycles; /* frames in each one's schedule before the next one, and in all */
	uint64_t done;          /* departures so far, also of frames forgiven */
	fg_u128 step, since;    /* ticks between two frames of a stream; from the first cycle to this one */
	uint64_t max_lag, on_time;
	uint64_t worst_lag;
	uint64_t judged, off_schedule; /* as in a pace, of all streams: departures and frames */
	uint64_t interval_end;         /* of the series, ticks; UINT64_MAX: none is kept */
	const struct fg_template *frame;
	struct rte_mempool *pool;

	struct tx_schedule *schedule; /* where streams go that have counts of their own */
	struct tx_stream **stream;
	uint64_t *first, *last; /* departures of each stream, ticks */
	unsigned series;        /* streams that have one ... */
	unsigned *with_series;  /* ... and which */
	unsigned settled;       /* once given up: streams with counts of their own, from `slot` on */
};

/** Streams that get their own counts before a burst of others is sent: more than that sends of. */
enum { TX_SETTLED_A_BURST = 2 * FG_BURST };

static inline struct tx_slot *
tx_slot_of(const struct tx_round_robin *r, unsigned k)
{
	return (struct tx_slot *)(void *)(r->slots + k * r->stride);
}

/** Frames of the stream in slot @p k that have gone, after @p done departures of all. */
static inline uint64_t
tx_round_robin_sent(const struct tx_round_robin *r, unsigned k, uint64_t done)
{
	return done / r->streams + (k < done % r->streams) - tx_slot_of(r, k)->skipped;
}

/* round_robin_setup.c */

/**
 * Let the streams of a task's schedule send in turn, if they can.
 * @return 0, also if they cannot: then the task has no round robin; -ENOMEM
 */
int tx_round_robin_create(struct tx_task *task, struct tx_stream *const *streams, unsigned n,
			  struct fg_error *err);
void tx_round_robin_free(struct tx_round_robin *r);
/**
 * Give it up: each stream goes its own way from now on, and is settled before anything else is done with it.
 */
void tx_round_robin_leave(struct tx_task *task);
/** Let the next @p n streams, in the order in which they will send, have their own counts. */
void tx_round_robin_settle(struct tx_round_robin *r, unsigned n);
/** The same for one stream, if it is not yet. */
void tx_round_robin_settle_stream(struct tx_stream *stream);
