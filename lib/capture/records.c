/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record begins on a multiple of eight octets. One that would not fit before the end of the ring is put at its
 * beginning, and what is left over is marked as such.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "records_priv.h"

static const uint32_t LEFT_OVER = UINT32_MAX; /* as `kept`: go on at the beginning */

static uint64_t
room_of(uint32_t kept)
{
	return (sizeof(struct record) + kept + 7) & ~7ULL;
}

int
records_init(struct records *r, uint64_t size, struct fg_error *err)
{
	memset(r, 0, sizeof(*r));
	for (r->size = 4096; r->size < size;)
		r->size *= 2;
	r->octets = aligned_alloc(64, r->size);
	if (r->octets == NULL)
		return fg_error_set(err, ENOMEM, "buffer", "no memory for %llu octets of frames",
				    (unsigned long long)r->size);
	return 0;
}

void
records_free(struct records *r)
{
	free(r->octets);
	r->octets = NULL;
}

static struct record *
at(const struct records *r, uint64_t octets)
{
	return (struct record *)(r->octets + (octets & (r->size - 1)));
}

static bool
has_room(struct records *r, uint64_t end)
{
	if (end - r->tail_seen > r->size)
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return end - r->tail_seen <= r->size;
}

struct record *
records_reserve(struct records *r, uint32_t kept)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed), need = room_of(kept);
	uint64_t to_end = r->size - (head & (r->size - 1)), start = to_end < need ? head + to_end : head;
	struct record *record;

	if (need > r->size || !has_room(r, start + need))
		return NULL;
	/* what is left over may be eight octets: the mark is where a record has its length */
	if (start != head)
		memset(at(r, head), 0xff, to_end < sizeof(*record) ? to_end : sizeof(*record));
	record = at(r, start);
	record->kept = kept;
	r->reserved = start + need;
	return record;
}

static bool
is_left_over(const struct records *r, uint64_t tail)
{
	uint64_t to_end = r->size - (tail & (r->size - 1));

	return to_end < sizeof(struct record) || at(r, tail)->kept == LEFT_OVER;
}

const struct record *
records_peek(struct records *r)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (tail == r->head_seen)
		r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
	if (tail == r->head_seen)
		return NULL;
	if (is_left_over(r, tail))
		tail += r->size - (tail & (r->size - 1));
	return at(r, tail);
}

void
records_release(struct records *r, const struct record *record)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t ahead = ((uint64_t)((const uint8_t *)record - r->octets) - tail) & (r->size - 1);

	atomic_store_explicit(&r->tail, tail + ahead + room_of(record->kept), memory_order_release);
}
