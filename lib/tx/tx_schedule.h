/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Which stream of a queue sends next: see schedule.c. Made by control; written by the tx lcore from then on.
 */
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "tx_run.h"
#include "tx_stream.h"

enum { TX_SLOTS = 64 * 64, TX_LEVELS = 10, TX_AHEAD = 12 };

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
	struct tx_run run; /* all that departs before base */
	unsigned shift;    /* a slot of level 0 is 1 << shift ticks */
	unsigned far;      /* departures for which much of the run had to move */
	uint64_t base;     /* where the levels begin, in such slots */
	uint64_t next;     /* earliest departure in them, ticks; 0: not known */
	struct tx_level *level;
	struct tx_entry *entry; /* of every stream, by tx_stream.place */
	unsigned streams;       /* that it has places for */
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

/** Make a run, which is empty, of what departs next, if that may be up to @p until. Not called directly. */
bool tx_schedule_open(struct tx_schedule *schedule, uint64_t until);

/** Fetch what it takes to send the frame that is @p ahead others away, if that is known. */
static inline void
tx_schedule_fetch(const struct tx_schedule *q, unsigned ahead)
{
	if (likely(q->run.end - q->run.first > ahead))
		for (unsigned k = 0; k < TX_STREAM_HOT; k += RTE_CACHE_LINE_SIZE)
			rte_prefetch0((const char *)q->run.first[ahead].stream + k);
}

/** The stream with the earliest departure, if that is not after @p until; else NULL. */
static inline struct tx_stream *
tx_schedule_first(struct tx_schedule *q, uint64_t until)
{
	if (unlikely(q->run.first == q->run.end) && !tx_schedule_open(q, until))
		return NULL;
	tx_schedule_fetch(q, TX_AHEAD);
	return q->run.first->at <= until ? q->run.first->stream : NULL;
}

/** The earliest departure, ticks; UINT64_MAX: no departure. */
uint64_t tx_schedule_next(struct tx_schedule *schedule);

/** The next departure of the stream that was first is another now, or it has no more. */
void tx_schedule_settle(struct tx_schedule *schedule, struct tx_stream *stream);
/** Take a stream out, if it is in. */
void tx_schedule_remove(struct tx_schedule *schedule, struct tx_stream *stream);
/** Put a stream in that is not, if it has anything to send. */
void tx_schedule_add(struct tx_schedule *schedule, struct tx_stream *stream);
