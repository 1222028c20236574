/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_SCHEDULE_H
#define TX_SCHEDULE_H

/*
 * Which stream of a queue sends next: see schedule.c. Made by control; written by the tx lcore from then on.
 */
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "fg_error.h"

struct tx_stream;

enum { TX_SLOTS = 64 * 64, TX_LEVELS = 9 };

/** A stream and its next departure. The streams of a slot are a ring, in the order in which they came. */
struct tx_entry {
	uint64_t at; /* ticks; UINT64_MAX: in no slot */
	struct tx_stream *stream;
	uint32_t before, behind;
};

/** 64 blocks of 64 slots, one after the other in time, and again from the first. */
struct tx_level {
	uint64_t blocks;    /* bit: the block has slots that are not empty ... */
	uint64_t block[64]; /* ... bit: this one is not */
	uint32_t front[TX_SLOTS];
};

/** All streams of a queue that have something to send. */
struct tx_schedule {
	unsigned shift;  /* a slot of level 0 is 1 << shift ticks */
	uint64_t base;   /* where level 0 begins, in such slots */
	uint64_t next;   /* earliest departure, ticks; 0: not known */
	uint64_t sorted; /* slot of level 0 that is in order */
	struct tx_level *level;
	struct tx_entry *entry; /* of every stream, by tx_stream.place */
	unsigned streams;       /* that it has places for */
	uint32_t *list;         /* room for two of all */
};

/**
 * None of the streams is in it yet.
 * @param spares places behind the streams' own, for streams that are added later
 * @param begin  ticks, before which nothing departs
 * @param gap    ticks between two departures of all, on the average; a guess, with which it is fast
 * @return 0 or -ENOMEM. Free with tx_schedule_free(), also when it failed.
 */
int tx_schedule_init(struct tx_schedule *schedule, struct tx_stream **streams, unsigned n, unsigned spares,
		     uint64_t begin, double gap, struct fg_error *err);
void tx_schedule_free(struct tx_schedule *schedule);

/** Fill level 0, which is empty, with what departs next, if that may be up to @p until. Not called directly.
 */
bool tx_schedule_open(struct tx_schedule *schedule, uint64_t until);

/** Put the entries of a slot of level 0, the first that is not empty, in order. Not called directly. */
void tx_schedule_sort(struct tx_schedule *schedule, uint32_t *front);

/** The stream with the earliest departure, if that is not after @p until; else NULL. */
static inline struct tx_stream *
tx_schedule_first(struct tx_schedule *q, uint64_t until)
{
	struct tx_level *l = q->level;
	const struct tx_entry *e;
	uint32_t *front;
	unsigned b;

	if (unlikely(l->blocks == 0) && !tx_schedule_open(q, until))
		return NULL;
	b = (unsigned)__builtin_ctzll(l->blocks);
	front = &l->front[b * 64 + (unsigned)__builtin_ctzll(l->block[b])];
	e = &q->entry[*front];
	if (unlikely(e->behind != *front) && RTE_MAX(e->at >> q->shift, q->base) != q->sorted) {
		tx_schedule_sort(q, front);
		e = &q->entry[*front];
	}
	return e->at <= until ? e->stream : NULL;
}

/** The earliest departure, ticks; UINT64_MAX: no departure. */
uint64_t tx_schedule_next(struct tx_schedule *schedule);

/** The next departure of the stream that was first is another now, or it has no more. */
void tx_schedule_settle(struct tx_schedule *schedule, struct tx_stream *stream);
/** Take a stream out, if it is in. */
void tx_schedule_remove(struct tx_schedule *schedule, struct tx_stream *stream);
/** Put a stream in that is not, if it has anything to send. */
void tx_schedule_add(struct tx_schedule *schedule, struct tx_stream *stream);

#endif
