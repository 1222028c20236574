/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_SCHEDULE_H
#define TX_SCHEDULE_H

/*
 * Which stream of a queue sends next: see schedule.c. Made by control; written by the tx lcore from then on.
 */
#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"

struct tx_stream;

/**
 * Streams in the order of their next departures. Between two of them lies the same step, if there are
 * several.
 */
struct tx_run {
	struct tx_stream *front, *back;
	fg_u128 step;
	struct tx_run *spare; /* the next one that is not used */
	unsigned place;       /* in the heap, or once below it: see find_run() */
};

/** A run and the departure of its front; that may have been put off since, but never brought forward. */
struct tx_entry {
	uint64_t at; /* ticks */
	struct tx_run *run;
};

/** All streams of a queue that have something to send. */
struct tx_schedule {
	struct tx_entry *heap; /* the earliest first */
	unsigned runs;
	struct tx_run *spare;
	struct tx_run *all;
};

/** @return 0 or -ENOMEM. Free with tx_schedule_free(), also when it failed. */
int tx_schedule_init(struct tx_schedule *schedule, struct tx_stream **streams, unsigned n,
		     struct fg_error *err);
void tx_schedule_free(struct tx_schedule *schedule);

/** The front stream's next departure is another now, or there is none. */
void tx_schedule_settle(struct tx_schedule *schedule);
/**
 * All are in one run, which goes on with @p stream: those before it have sent and stand behind the others.
 */
void tx_schedule_rotate(struct tx_schedule *schedule, struct tx_stream *stream);
/** Take a stream out, wherever it is. */
void tx_schedule_remove(struct tx_schedule *schedule, struct tx_stream *stream);
/** Put a stream in that is not. */
void tx_schedule_add(struct tx_schedule *schedule, struct tx_stream *stream);

#endif
