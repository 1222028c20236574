/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_QUEUE_H
#define TX_QUEUE_H

#include <stdint.h>

#include "fg_error.h"
#include "fg_int128.h"

struct tx_stream;

/** Streams in the order of their next departures. Between two of them lies the same step, if there are several. */
struct tx_run {
	struct tx_stream *front, *back;
	fg_u128 step;
	struct tx_run *spare; /* the next one that is not used */
};

/** A run and the departure of its front; that may have been put off since, but never brought forward. */
struct tx_slot {
	uint64_t at; /* ticks */
	struct tx_run *run;
};

/** All streams of a port that have something to send. */
struct tx_queue {
	struct tx_slot *heap; /* the earliest first */
	unsigned runs;
	struct tx_run *spare;
	struct tx_run *all;
};

/** @return 0 or -ENOMEM. Free with tx_queue_free(), also when it failed. */
int tx_queue_init(struct tx_queue *queue, struct tx_stream **streams, unsigned n, struct fg_error *err);
void tx_queue_free(struct tx_queue *queue);

/** The front stream's next departure is another now, or there is none. */
void tx_queue_settle(struct tx_queue *queue);
/** All are in one run, which goes on with @p stream: those before it have sent and stand behind the others. */
void tx_queue_rotate(struct tx_queue *queue, struct tx_stream *stream);
/** Take a stream out, wherever it is. */
void tx_queue_remove(struct tx_queue *queue, struct tx_stream *stream);
/** Put a stream in that is not. */
void tx_queue_add(struct tx_queue *queue, struct tx_stream *stream);

#endif
