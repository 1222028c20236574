/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring takes every frame that goes on no earlier than the last one in it, so that a path which keeps the
 * order costs no more than a queue. What is left is a binary heap. Both know the same order: time, and among
 * equal times the order in which the frames were put there; so the next frame is the lesser of the two
 * fronts.
 *
 * Held frames all wait for the same number of other frames, and for the same time, so they leave first in,
 * first out.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_delay_line.h"
#include "fg_sift.h"

struct fg_delay_hold {
	struct fg_delay_entry entry; /* its time: the latest */
	uint64_t until;              /* this many counted frames were pushed */
};

static const uint64_t MAX_FRAMES = 1 << 24;

int
fg_delay_line_init(struct fg_delay_line *l, uint64_t capacity, struct fg_error *err)
{
	uint64_t size = 1;

	*l = (struct fg_delay_line){.capacity = capacity};
	if (capacity == 0 || capacity > MAX_FRAMES)
		return fg_error_set(err, EINVAL, "delay line", "room for %llu frames is not 1 to %llu",
				    (unsigned long long)capacity, (unsigned long long)MAX_FRAMES);
	while (size < capacity)
		size *= 2;
	l->mask = size - 1;
	l->ring = calloc(size, sizeof(*l->ring));
	l->heap = calloc(size, sizeof(*l->heap));
	l->held = calloc(size, sizeof(*l->held));
	if (l->ring == NULL || l->heap == NULL || l->held == NULL) {
		fg_delay_line_free(l);
		return fg_error_set(err, ENOMEM, "delay line", "no memory for %llu frames",
				    (unsigned long long)capacity);
	}
	return 0;
}

void
fg_delay_line_free(struct fg_delay_line *l)
{
	free(l->ring);
	free(l->heap);
	free(l->held);
	*l = (struct fg_delay_line){0};
}

static inline bool
before(const struct fg_delay_entry *a, const struct fg_delay_entry *b)
{
	return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

#define BEFORE(l, a, b) before(a, b)
FG_SIFT(sift, struct fg_delay_line, struct fg_delay_entry, BEFORE, FG_SIFT_PUT)

static void
heap_push(struct fg_delay_line *l, const struct fg_delay_entry *e)
{
	l->heap[l->heaped++] = *e;
	sift(l, l->heap, l->heaped, l->heaped - 1);
}

static void
heap_pop(struct fg_delay_line *l)
{
	l->heap[0] = l->heap[--l->heaped];
	sift(l, l->heap, l->heaped, 0);
}

static void
put(struct fg_delay_line *l, struct fg_delay_entry e)
{
	e.turn = l->turns++;
	if (l->head == l->tail || e.time >= l->ring[(l->head - 1) & l->mask].time)
		l->ring[l->head++ & l->mask] = e;
	else
		heap_push(l, &e);
}

void
fg_delay_line_push(struct fg_delay_line *l, void *frame, uint64_t time, uint64_t number)
{
	put(l, (struct fg_delay_entry){.time = time, .number = number, .frame = frame});
	l->in_use++;
	if (number == FG_DELAY_UNCOUNTED)
		return;
	l->passed++;
	while (l->held_tail != l->held_head && l->held[l->held_tail & l->mask].until <= l->passed) {
		struct fg_delay_entry e = l->held[l->held_tail++ & l->mask].entry;

		if (time < e.time)
			e.time = time;
		put(l, e);
	}
}

void
fg_delay_line_hold(struct fg_delay_line *l, void *frame, uint32_t places, uint64_t latest, uint64_t number)
{
	if (l->held_head != l->held_tail && latest < l->held[(l->held_head - 1) & l->mask].entry.time)
		latest = l->held[(l->held_head - 1) & l->mask].entry.time;
	l->held[l->held_head++ & l->mask] = (struct fg_delay_hold){
		.entry = {.time = latest, .turn = l->turns++, .number = number, .frame = frame},
		.until = l->passed + places,
	};
	l->in_use++;
}

/* the first of the three fronts; NULL: all are empty */
static inline const struct fg_delay_entry *
first(const struct fg_delay_line *l)
{
	const struct fg_delay_entry *e = NULL, *held = &l->held[l->held_tail & l->mask].entry;

	if (l->head != l->tail)
		e = &l->ring[l->tail & l->mask];
	if (l->heaped > 0 && (e == NULL || before(l->heap, e)))
		e = l->heap;
	if (l->held_head != l->held_tail && (e == NULL || before(held, e)))
		e = held;
	return e;
}

uint64_t
fg_delay_line_next(const struct fg_delay_line *l)
{
	const struct fg_delay_entry *e = first(l);

	return e == NULL ? UINT64_MAX : e->time;
}

static void
remove_entry(struct fg_delay_line *l, const struct fg_delay_entry *e)
{
	l->in_use--;
	if (e == l->heap && l->heaped > 0)
		heap_pop(l);
	else if (l->head != l->tail && e == &l->ring[l->tail & l->mask])
		l->tail++;
	else
		l->held_tail++;
}

void *
fg_delay_line_pop(struct fg_delay_line *l)
{
	const struct fg_delay_entry *e = first(l);
	void *frame = e->frame;

	if (e->number != FG_DELAY_UNCOUNTED) {
		if (e->number < l->expected)
			l->reordered++;
		else
			l->expected = e->number + 1;
	}
	remove_entry(l, e);
	return frame;
}

void *
fg_delay_line_clear(struct fg_delay_line *l)
{
	const struct fg_delay_entry *e = first(l);
	void *frame;

	if (e == NULL) {
		l->turns = l->numbers = l->passed = l->expected = l->reordered = 0;
		return NULL;
	}
	frame = e->frame;
	remove_entry(l, e);
	return frame;
}
