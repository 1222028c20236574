/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

/*
 * Frames on their way between a packet lcore and a thread that works on a file: a ring of bytes with one
 * writer and one reader, in which every record lies whole. Neither side waits for the other or takes a lock.
 */

/** A frame without FCS. */
struct record {
	uint64_t time_ns;
	uint32_t length; /* bytes of the frame */
	uint32_t kept;   /* how many of them follow */
	uint64_t note;   /* data of the user, from writer to reader */
	uint8_t octets[];
};

struct records {
	uint8_t *octets;
	uint64_t size;                        /* a power of two */
	_Alignas(64) _Atomic uint64_t head;   /* writer: the side that fills; bytes ever written */
	uint64_t filled, reserved, tail_seen; /* the same; committed, and reserved beyond that */
	uint64_t oldest; /* the same; of those that are held back, where the first begins */
	uint64_t held;   /* the same; how many are held back */
	_Alignas(64) _Atomic uint64_t tail; /* writer: the side that empties; bytes ever read */
	uint64_t head_seen;                 /* the same */
};

/** @param size  bytes at least @return 0 or -ENOMEM */
int records_init(struct records *r, uint64_t size, struct fg_error *err);
void records_free(struct records *r);

/** Room for a record that keeps @p kept bytes; NULL: no room now. Fill it, then records_commit(). */
struct record *records_reserve(struct records *r, uint32_t kept);

/** Bytes from the beginning of the oldest that is held back. */
static inline uint64_t
records_held_octets(const struct records *r)
{
	return r->filled - r->oldest;
}

/** Hand it over, with all that was held back. */
void records_commit(struct records *r);

/** Hold it back instead: it is handed over later, in its order, or forgotten. */
void records_hold(struct records *r);

/** Hand over all that is held back. */
void records_publish(struct records *r);

/**
 * Forget the oldest of those that are held back; there must be one. Its room is free once the reader has
 * looked.
 */
void records_forget(struct records *r);

/** The reader's position and the end of the records: bytes ever read, and ever handed over. By the reader. */
static inline uint64_t
records_begin(const struct records *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed);
}

static inline uint64_t
records_end(const struct records *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire);
}

/** The oldest record; NULL: no record. It stays until records_release(). */
const struct record *records_peek(struct records *r);
void records_release(struct records *r, const struct record *record);
