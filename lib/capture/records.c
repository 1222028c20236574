/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record begins on a multiple of eight bytes. One that would not fit before the end of the ring is put at
 * its beginning, and what is left over is marked as such.
 *
 * Records can be held back: they lie behind `head`, where the reader does not look. What is forgotten of them
 * still stands between `head` and those that are not; the first of it is then marked as a gap to be skipped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "records_priv.h"

static const uint32_t LEFT_OVER = UINT32_MAX; /* as `kept`: go on at the beginning */
static const uint32_t GAP = UINT32_MAX - 1;   /* as `kept`: go on time_ns bytes further */

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
		return fg_error_set(err, ENOMEM, "buffer", "no memory for %llu bytes of frames",
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
is_left_over(const struct records *r, uint64_t position)
{
	uint64_t to_end = r->size - (position & (r->size - 1));

	return to_end < sizeof(struct record) || at(r, position)->kept == LEFT_OVER;
}

/* where the record at a position, or behind what is left over there, begins */
static uint64_t
begin_of(const struct records *r, uint64_t position)
{
	return is_left_over(r, position) ? position + r->size - (position & (r->size - 1)) : position;
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
	uint64_t filled = r->filled, need = room_of(kept);
	uint64_t to_end = r->size - (filled & (r->size - 1)),
		 start = to_end < need ? filled + to_end : filled;
	struct record *record;

	if (need > r->size || !has_room(r, start + need))
		return NULL;
	/* what is left over may be eight octets: the mark is where a record has its length */
	if (start != filled)
		memset(at(r, filled), 0xff, to_end < sizeof(*record) ? to_end : sizeof(*record));
	record = at(r, start);
	record->kept = kept;
	r->reserved = start + need;
	return record;
}

void
records_hold(struct records *r)
{
	r->filled = r->reserved;
	r->held++;
}

/* let the reader skip what was forgotten, and have all up to @p head */
static void
records_hand_over(struct records *r, uint64_t head)
{
	uint64_t before = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (r->oldest > before) {
		before = begin_of(r, before);
		if (before < r->oldest) {
			at(r, before)->kept = GAP;
			at(r, before)->time_ns = r->oldest - before;
		}
	}
	r->oldest = head;
	atomic_store_explicit(&r->head, head, memory_order_release);
}

void
records_publish(struct records *r)
{
	r->held = 0;
	records_hand_over(r, r->filled);
}

void
records_commit(struct records *r)
{
	r->filled = r->reserved;
	records_publish(r);
}

void
records_forget(struct records *r)
{
	uint64_t begin = begin_of(r, r->oldest);

	r->oldest = begin + room_of(at(r, begin)->kept);
	r->held--;
	/* now and then, for it takes the reader's time */
	if (r->oldest - atomic_load_explicit(&r->head, memory_order_relaxed) > r->size / 8)
		records_hand_over(r, r->oldest);
}

const struct record *
records_peek(struct records *r)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	for (;;) {
		if (tail == r->head_seen)
			r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
		if (tail == r->head_seen)
			return NULL;
		tail = begin_of(r, tail);
		if (at(r, tail)->kept != GAP)
			return at(r, tail);
		tail += at(r, tail)->time_ns;
		atomic_store_explicit(&r->tail, tail, memory_order_release);
	}
}

void
records_release(struct records *r, const struct record *record)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t ahead = ((uint64_t)((const uint8_t *)record - r->octets) - tail) & (r->size - 1);

	atomic_store_explicit(&r->tail, tail + ahead + room_of(record->kept), memory_order_release);
}
