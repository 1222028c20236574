/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The departures of a queue that are near, in order: see run.c. Made by control; written by the tx lcore from
 * then on.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tx_stream;

/** A frame that is due. */
struct tx_due {
	struct tx_stream *stream;
	uint64_t at; /* its departure, ticks */
};

struct tx_run {
	struct tx_due *first, *end;   /* departures that have not been sent */
	struct tx_due *begin, *other; /* where they lie, and where they are sorted ... */
	size_t room;                  /* ... each for this many */
};

/** For @p streams departures. @return false without memory; free it also then */
bool tx_run_init(struct tx_run *run, size_t streams);
void tx_run_free(struct tx_run *run);

static inline void
tx_run_empty(struct tx_run *r)
{
	r->first = r->end = r->begin;
}

/**
 * @p n departures stand at the begin of an empty run, in the order in which they came: put them in order.
 * @param from, shift  all depart in the 1 << shift ticks from this one on
 */
void tx_run_sort(struct tx_run *run, unsigned n, uint64_t from, unsigned shift);
/** Put one more where it belongs. @return how many had to move */
size_t tx_run_put(struct tx_run *run, struct tx_due due);
/** Take a stream out that is in it. */
void tx_run_remove(struct tx_run *run, const struct tx_stream *stream);
