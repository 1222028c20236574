/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORDS_PRIV_H
#define RECORDS_PRIV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

/*
 * Frames on their way between a packet lcore and a thread that works on a file: a ring of octets with one writer and
 * one reader, in which every record lies whole. Neither side waits for the other or takes a lock.
 */

/** A frame without FCS. */
struct record {
	uint64_t time_ns;
	uint32_t length; /* octets of the frame */
	uint32_t kept;   /* how many of them follow */
	uint8_t octets[];
};

struct records {
	uint8_t *octets;
	uint64_t size;                      /* a power of two */
	_Alignas(64) _Atomic uint64_t head; /* writer: who fills; octets ever written */
	uint64_t reserved, tail_seen;       /* the same */
	_Alignas(64) _Atomic uint64_t tail; /* writer: who empties; octets ever read */
	uint64_t head_seen;                 /* the same */
};

/** @param size  octets at least @return 0 or -ENOMEM */
int records_init(struct records *r, uint64_t size, struct fg_error *err);
void records_free(struct records *r);

/** Room for a record that keeps @p kept octets; NULL: there is none now. Fill it, then records_commit(). */
struct record *records_reserve(struct records *r, uint32_t kept);

static inline void
records_commit(struct records *r)
{
	atomic_store_explicit(&r->head, r->reserved, memory_order_release);
}

/** The oldest record; NULL: there is none. It stays until records_release(). */
const struct record *records_peek(struct records *r);
void records_release(struct records *r, const struct record *record);

#endif
