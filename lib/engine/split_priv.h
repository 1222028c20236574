/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The streams that were asked for, and the substreams that are sent, carried and received in their place, one
 * or more of each: see split.c. Made by control before a trial; what it has
 * of a stream that is added while the trial runs (add.c) control writes then.
 */
#include "fg_port.h"
#include "fg_trial.h"

/** A port as this sees it: its queues are the engine's from `first` on. */
struct split_port {
	unsigned first, queues;
};

/** What one queue sends of a stream: all of it, or every n-th frame of it. */
struct substream {
	unsigned queue; /* of the engine's */
	unsigned k, of; /* frames k, k + of, k + 2 of, ... */
};

struct split {
	unsigned given, streams;     /* streams, and substreams ... */
	unsigned spares;             /* ... and behind them room for more of each, in one part */
	unsigned *first;             /* [i]: first substream of stream i; the last: how many there are */
	struct substream *substream; /* of each */
	/* of each; its load and frame pointers are valid during set-up only */
	struct fg_stream_config *config;
};

/** Divide streams among the queues of ports. @return 0 or -ENOMEM; free it also then */
int split_make(struct split *split, const struct split_port *ports, unsigned n,
	       const struct fg_trial_config *config);
void split_free(struct split *split);

/** Streams or substreams, those that may be added among them. */
static inline unsigned
split_all(const struct split *s)
{
	return s->streams + s->spares;
}

/** Of how many substreams stream @p i is. */
static inline unsigned
split_parts(const struct split *s, unsigned i)
{
	return s->first[i + 1] - s->first[i];
}
