/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_FAULT_H
#define FG_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_impair.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Errors that a sender makes on purpose. The frames of a stream have numbers 0, 1, 2, ...; without errors they depart in
 * this order. A program of faults leaves numbers out, repeats them, lets them depart later, and has some frames made
 * wrong. What departs as the first, second, ... frame follows from the configuration alone, so that whoever runs the
 * same program knows what was sent: the receiver does, and holds none of it against the device.
 */

enum fg_fault {
	FG_FAULT_SKIP,      /* the number is left out; the next one departs in its place */
	FG_FAULT_DUPLICATE, /* a second frame of the same number departs behind the first */
	FG_FAULT_REORDER,   /* the frame departs so many places later */
	FG_FAULT_DELAY,     /* the same, beside it */
	/* what follows makes frames wrong */
	FG_FAULT_IP_CHECKSUM,
	FG_FAULT_L4_CHECKSUM,
	FG_FAULT_IP_LENGTH,
	FG_FAULT_L4_LENGTH,
	FG_FAULT_PAYLOAD,  /* bits inverted */
	FG_FAULT_FCS,      /* the frame check sequence */
	FG_FAULT_RUNT,     /* shorter than a frame may be */
	FG_FAULT_OVERSIZE, /* longer than the others */
	FG_FAULTS,
};

/** Those that make a frame wrong, as bits 1 << enum fg_fault. */
#define FG_FAULTS_WRONG (((1U << FG_FAULTS) - 1) & ~((1U << FG_FAULT_IP_CHECKSUM) - 1))

enum {
	FG_FAULT_MOST_PLACES = 1024, /* by which a frame is late */
	FG_FAULT_MOST_RUN = 1024,    /* in a row: nobody waits long for the next departure */
};

/** Which frames one kind of fault strikes. */
struct fg_fault_config {
	struct fg_chance chance;
	uint32_t run;  /* in a row each time: of every n the last ones, at random as many as follow; 0 is 1 */
	uint64_t most; /* in all; 0: any number */
	uint32_t places; /* reorder, delay: how many */
};

struct fg_faults_config {
	struct fg_fault_config fault[FG_FAULTS];
	uint64_t seed;
};

/** What departs at one turn of the stream. */
struct fg_departure {
	uint64_t number;
	uint64_t rank;    /* how many frames that are not wrong departed before */
	uint64_t skipped; /* numbers left out since the departure before */
	uint32_t kinds; /* bits 1 << enum fg_fault of this frame; FG_FAULT_DUPLICATE: it is the second one */
};

/** A program of faults at work. One writer; all members are private. */
struct fg_faults;

/**
 * @param where  what the keys stand under, for the error
 * @return       0, -EINVAL, -ENOMEM
 */
int fg_faults_create(const struct fg_faults_config *config, const char *where, struct fg_faults **out,
		     struct fg_error *err);

/** NULL is legal. */
void fg_faults_free(struct fg_faults *faults);

/** What departs next. */
void fg_faults_next(struct fg_faults *faults, struct fg_departure *out);

/** All numbers below have been looked at: have departed, are left out, or wait. */
uint64_t fg_faults_reach(const struct fg_faults *faults);

/** In how many departures from now a frame that waits will be among them, at most. */
uint64_t fg_faults_patience(const struct fg_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
