/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_trigger.h"

__BEGIN_DECLS

/*
 * Errors that a sender makes on purpose. The frames of a stream have numbers 0, 1, 2, ...; without errors
 * they depart in this order. An injector drops numbers, duplicates them, delays them, and marks frames as
 * malformed. What departs as the first, second, ... frame follows from the configuration alone. The receiver
 * runs the same injector, so it knows what was sent and charges none of it to the device.
 */

enum fg_inject {
	FG_INJECT_SKIP,      /* the number is dropped; the next one departs in its place */
	FG_INJECT_DUPLICATE, /* a second frame of the same number departs behind the first */
	FG_INJECT_REORDER,   /* the frame departs some places later */
	FG_INJECT_DELAY,     /* the same, during it */
	/* the kinds below make a frame malformed */
	FG_INJECT_IP_CHECKSUM,
	FG_INJECT_L4_CHECKSUM,
	FG_INJECT_IP_LENGTH,
	FG_INJECT_L4_LENGTH,
	FG_INJECT_PAYLOAD,  /* bits inverted */
	FG_INJECT_FCS,      /* the frame check sequence */
	FG_INJECT_RUNT,     /* shorter than a frame may be */
	FG_INJECT_OVERSIZE, /* longer than the others */
	FG_INJECT_KINDS,
};

/** The kinds that make a frame malformed, as bits 1 << enum fg_inject. */
#define FG_INJECT_MALFORMED (((1U << FG_INJECT_KINDS) - 1) & ~((1U << FG_INJECT_IP_CHECKSUM) - 1))

enum {
	FG_INJECT_MAX_PLACES = 1024, /* by which a frame is late */
	FG_INJECT_MAX_RUN = 1024,    /* in a row: the next departure is found soon */
};

/** Which frames get one kind of error. */
struct fg_inject_rule {
	struct fg_trigger trigger;
	uint32_t run;    /* burst length: the last ones of every n, or the drawn one and those after it; 0 is
			  * 1 */
	uint64_t limit;  /* frames in all; 0: any number */
	uint32_t places; /* reorder, delay: how many */
};

struct fg_inject_config {
	struct fg_inject_rule rule[FG_INJECT_KINDS];
	uint64_t seed;
};

/** One departure of the stream. */
struct fg_departure {
	uint64_t number;
	uint64_t rank;    /* well-formed frames that departed before */
	uint64_t skipped; /* numbers dropped since the departure before */
	/* bits 1 << enum fg_inject of this frame; FG_INJECT_DUPLICATE: it is the second one */
	uint32_t kinds;
};

/** One stream's error injection at work. One writer; all members are private. */
struct fg_injector;

/**
 * @param where  what the keys stand under, for the error
 * @return       0, -EINVAL, -ENOMEM
 */
int fg_injector_create(const struct fg_inject_config *config, const char *where, struct fg_injector **out,
		       struct fg_error *err);
void fg_injector_free(struct fg_injector *injector);

/** What departs next. */
void fg_injector_next(struct fg_injector *injector, struct fg_departure *out);

/** Every number below this one has departed, was dropped, or waits. */
uint64_t fg_injector_reach(const struct fg_injector *injector);

/** A frame that waits departs within this many departures from now. */
uint64_t fg_injector_patience(const struct fg_injector *injector);

__END_DECLS
