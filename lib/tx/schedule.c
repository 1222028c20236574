/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the next stream. With ten thousand streams of different rates it must need neither a look at
 * each stream nor a chain of dependent comparisons.
 *
 * So departures wait in a hierarchical timing wheel (Varghese and Lauck, 1987), in the order in which they
 * came. Some dozens, all of its first slot, are taken out together, sorted, and sent from an array, the run
 * (run.c). What is sent soon is known that way, and fetched ahead. A slot of each level above the lowest is
 * as much as a block, of 64 slots, of the level below. A level holds 64 blocks from the block of `base` on,
 * and what a level can hold is in no higher one. So all in a level departs before what is in the next, and
 * as base moves on, some slots of each level are spread over those below.
 *
 * The run holds all that departs before base: what a stream sends there next is put where it belongs, and so
 * is a stream that control puts in and that may be overdue. Where that takes long again and again, because
 * rates are far above those foreseen, slots are made shorter.
 *
 * Of frames of one tick the fastest stream's frame departs first, and of streams of one rate first the one
 * whose last frame left first, and at the beginning in the order of the plan. That is the whole order,
 * whatever rates change meanwhile.
 *
 * Everything is allocated beforehand.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_prefetch.h>

#include "tx_schedule.h"
#include "tx_stream.h"

enum {
	BLOCK = 6, /* bits of the number of a slot within its block */
	RUN = 64,  /* departures in a slot of level 0, at most, on the average */
};

struct slot {
	struct tx_level *level;
	unsigned block, slot; /* of the level */
};

/* bits of the number of a slot of level 0 within a slot of a level */
static inline unsigned
bits_below(unsigned level)
{
	return BLOCK * level;
}

/* the slot that holds slot @p number of level 0 */
static inline struct slot
slot_in(const struct tx_schedule *q, unsigned level, uint64_t number)
{
	number >>= bits_below(level);
	return (struct slot){&q->level[level], number >> BLOCK & 63, number & (TX_SLOTS - 1)};
}

/* a departure as a slot of level 0, were there as many as that */
static inline uint64_t
number_of(const struct tx_schedule *q, const struct tx_entry *e)
{
	return e->at >> q->shift;
}

/* where that lies now; not before base */
static inline struct slot
slot_of(const struct tx_schedule *q, uint64_t number)
{
	uint64_t ahead = number - q->base;
	unsigned k;

	if (likely(ahead < 63 << BLOCK))
		return slot_in(q, 0, number);
	k = (63 - (unsigned)__builtin_clzll(ahead)) / BLOCK - 1;
	k += (number >> bits_below(k + 1)) - (q->base >> bits_below(k + 1)) >= 64;
	return slot_in(q, k, number);
}

static inline void
fill(const struct slot *s, uint32_t i)
{
	s->level->front[s->slot] = i;
	s->level->block[s->block] |= 1ULL << s->slot % 64;
	s->level->blocks |= 1ULL << s->block;
}

static inline bool
is_empty(const struct slot *s)
{
	return (s->level->block[s->block] >> s->slot % 64 & 1) == 0;
}

static inline void
empty(const struct slot *s)
{
	struct tx_level *l = s->level;

	l->block[s->block] &= ~(1ULL << s->slot % 64);
	l->blocks &= ~((uint64_t)(l->block[s->block] == 0) << s->block);
}

/* into a slot of the levels */
static inline void
put_in_slot(struct tx_schedule *q, uint32_t i)
{
	struct tx_entry *e = &q->entry[i], *front;
	struct slot s = slot_of(q, number_of(q, e));

	if (is_empty(&s)) {
		e->before = e->behind = i;
		fill(&s, i);
		return;
	}
	e->behind = s.level->front[s.slot];
	front = &q->entry[e->behind];
	e->before = front->before;
	q->entry[front->before].behind = i;
	front->before = i;
}

/* out of the slot that it is in */
static inline void
detach(struct tx_schedule *q, uint32_t i, const struct slot *s)
{
	const struct tx_entry *e = &q->entry[i];

	if (e->behind == i) {
		empty(s);
		return;
	}
	q->entry[e->before].behind = e->behind;
	q->entry[e->behind].before = e->before;
	if (s->level->front[s->slot] == i)
		s->level->front[s->slot] = e->behind;
}

/* the first slot of a level, that is not empty, when base was there */
static inline struct slot
first_slot(struct tx_level *l, unsigned level, uint64_t base)
{
	unsigned from = base >> (bits_below(level) + BLOCK) & 63;
	uint64_t turned = l->blocks >> from | l->blocks << (-from & 63);
	unsigned block = (from + (unsigned)__builtin_ctzll(turned)) & 63;

	return (struct slot){l, block, block * 64 + (unsigned)__builtin_ctzll(l->block[block])};
}

/* what is in the first slots of a level, when base was there, goes to those below: slots before @p end */
static void
spread(struct tx_schedule *q, unsigned level, uint64_t was, uint64_t end)
{
	struct tx_level *l = &q->level[level];

	while (l->blocks != 0) {
		struct slot s = first_slot(l, level, was);
		uint32_t front = l->front[s.slot], i = front, behind;

		if (number_of(q, &q->entry[front]) >> bits_below(level) >= end)
			break;
		empty(&s);
		do {
			behind = q->entry[i].behind;
			put_in_slot(q, i);
			i = behind;
		} while (i != front);
	}
}

/* slots become a quarter as long, and the run is put back into them */
static void
shorten(struct tx_schedule *q)
{
	unsigned n = 0;

	for (unsigned k = 0; k < TX_LEVELS; k++) {
		struct tx_level *l = &q->level[k];

		while (l->blocks != 0) {
			struct slot s = first_slot(l, k, q->base);
			uint32_t front = l->front[s.slot], i = front;

			empty(&s);
			do {
				q->run.other[n++].stream = q->entry[i].stream;
				i = q->entry[i].behind;
			} while (i != front);
		}
	}
	q->shift -= 2;
	q->base = q->run.first->at >> q->shift;
	for (; q->run.first < q->run.end; q->run.first++)
		put_in_slot(q, q->run.first->stream->place);
	for (unsigned i = 0; i < n; i++)
		put_in_slot(q, q->run.other[i].stream->place);
}

static void
put_in_run(struct tx_schedule *q, const struct tx_entry *e)
{
	q->far += tx_run_put(&q->run, (struct tx_due){e->stream, e->at}) > RUN;
	if (unlikely(q->far > RUN && q->shift >= 2)) {
		q->far = 0;
		shorten(q);
	}
}

/* an entry whose departure is set already */
static inline void
put(struct tx_schedule *q, uint32_t i)
{
	if (number_of(q, &q->entry[i]) < q->base)
		put_in_run(q, &q->entry[i]);
	else
		put_in_slot(q, i);
}

/* base moves on; from below, so that none is in a level that has yet to be spread */
static void
advance(struct tx_schedule *q, uint64_t base)
{
	uint64_t was = q->base;

	q->base = base;
	for (unsigned k = 1; k < TX_LEVELS && was >> bits_below(k) != base >> bits_below(k); k++)
		spread(q, k, was, (base >> bits_below(k)) + 64);
}

/* what is in the first slot of level 0 becomes the run */
static void
take_slot(struct tx_schedule *q, const struct slot *s, uint64_t number)
{
	const uint32_t front = s->level->front[s->slot];
	uint32_t i = front;
	unsigned n = 0;

	empty(s);
	do {
		const struct tx_entry *e = &q->entry[i];

		rte_prefetch0(&e->stream->pace); /* to be compared by */
		q->run.first[n++] = (struct tx_due){e->stream, e->at};
		i = e->behind;
	} while (i != front);
	tx_run_sort(&q->run, n, number << q->shift, q->shift);
	for (unsigned k = 0; k < TX_AHEAD; k++)
		tx_schedule_fetch(q, k);
	advance(q, number + 1);
}

bool
tx_schedule_open(struct tx_schedule *q, uint64_t until)
{
	tx_run_empty(&q->run);
	q->far = 0;
	for (unsigned k = 0; k < TX_LEVELS;) {
		struct tx_level *l = &q->level[k];
		uint64_t begin;
		struct slot s;

		if (l->blocks == 0) {
			k++;
			continue;
		}
		s = first_slot(l, k, q->base);
		begin = number_of(q, &q->entry[l->front[s.slot]]) >> bits_below(k) << bits_below(k);
		if (begin > until >> q->shift)
			return false;
		if (k == 0) {
			take_slot(q, &s, begin);
			return true;
		}
		advance(q, begin);
		k = 0;
	}
	return false;
}

uint64_t
tx_schedule_next(struct tx_schedule *q)
{
	if (q->run.first < q->run.end)
		return q->run.first->at;
	if (q->next != 0)
		return q->next;
	q->next = UINT64_MAX;
	for (unsigned k = 0; k < TX_LEVELS; k++) {
		struct tx_level *l = &q->level[k];
		uint32_t front, i;

		if (l->blocks == 0)
			continue;
		i = front = l->front[first_slot(l, k, q->base).slot];
		do {
			q->next = RTE_MIN(q->next, q->entry[i].at);
			i = q->entry[i].behind;
		} while (i != front);
		break;
	}
	return q->next;
}

void
tx_schedule_add(struct tx_schedule *q, struct tx_stream *s)
{
	uint64_t at = fg_pace_next(&s->pace);

	if (at == UINT64_MAX)
		return;
	q->entry[s->place].at = at;
	q->next = 0;
	put(q, s->place);
}

void
tx_schedule_remove(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_entry *e = &q->entry[s->place];

	if (e->at == UINT64_MAX)
		return;
	if (number_of(q, e) < q->base) {
		tx_run_remove(&q->run, s);
	} else {
		struct slot slot = slot_of(q, number_of(q, e));

		detach(q, s->place, &slot);
	}
	e->at = UINT64_MAX;
	q->next = 0;
}

void
tx_schedule_settle(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_entry *e = &q->entry[s->place];

	q->run.first++;
	q->next = 0;
	e->at = fg_pace_next(&s->pace);
	if (likely(e->at != UINT64_MAX))
		put(q, s->place);
}

int
tx_schedule_init(struct tx_schedule *q, struct tx_stream **streams, unsigned n, unsigned spares,
		 uint64_t begin, double gap, struct fg_error *err)
{
	const size_t room = (size_t)n + spares;

	*q = (struct tx_schedule){
		.level = calloc(TX_LEVELS, sizeof(*q->level)),
		.entry = calloc(room, sizeof(*q->entry)),
		.streams = (unsigned)room,
	};
	if (q->level == NULL || q->entry == NULL || !tx_run_init(&q->run, room))
		return fg_error_set(err, ENOMEM, "streams", "no memory for %zu streams", room);
	for (gap *= RUN; gap >= 2 && q->shift < 40; gap /= 2)
		q->shift++;
	q->base = begin >> q->shift;
	for (unsigned i = 0; i < n; i++) {
		q->entry[i] = (struct tx_entry){.at = UINT64_MAX, .stream = streams[i]};
		streams[i]->place = i;
	}
	return 0;
}

void
tx_schedule_free(struct tx_schedule *q)
{
	free(q->level);
	free(q->entry);
	tx_run_free(&q->run);
}
