/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_pause.h>

/* Numbers in a ring with one writer and one reader; the reader may look at any that it has not released. */
struct digests {
	uint64_t *slot;
	uint64_t size;                      /* a power of two */
	_Alignas(64) _Atomic uint64_t head; /* writer: an lcore; numbers ever written */
	_Atomic uint64_t missed;            /* the same: what found no room */
	uint64_t tail_seen;                 /* the same */
	_Alignas(64) _Atomic uint64_t tail; /* writer: the thread; numbers ever released */
};

/** @param patient  wait for room */
static inline void
digests_put(struct digests *d, uint64_t digest, bool patient)
{
	const uint64_t head = atomic_load_explicit(&d->head, memory_order_relaxed);

	while (head - d->tail_seen == d->size) {
		d->tail_seen = atomic_load_explicit(&d->tail, memory_order_acquire);
		if (head - d->tail_seen < d->size)
			break;
		if (!patient) {
			atomic_store_explicit(&d->missed,
					      atomic_load_explicit(&d->missed, memory_order_relaxed) + 1,
					      memory_order_relaxed);
			return;
		}
		rte_pause();
	}
	d->slot[head & (d->size - 1)] = digest;
	atomic_store_explicit(&d->head, head + 1, memory_order_release);
}

static inline uint64_t
digests_head(const struct digests *d)
{
	return atomic_load_explicit(&d->head, memory_order_acquire);
}

static inline uint64_t
digests_at(const struct digests *d, uint64_t position)
{
	return d->slot[position & (d->size - 1)];
}

static inline void
digests_release(struct digests *d, uint64_t before)
{
	atomic_store_explicit(&d->tail, before, memory_order_release);
}
