/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which stream is next? With ten thousand of them, each with a rate of its own, that must not take a look at
 * each, nor a chain of comparisons where each waits for the one before.
 *
 * So departures are hardly compared but sorted by their bits, in a hierarchical timing wheel (Varghese and
 * Lauck, 1987). A slot of level 0 is so short that there is seldom more than one departure in it, and
 * the level holds 4096 slots from `base` on. A slot of level 1 is as much as those, and one of each further
 * level a block, of 64 slots, of the level below. Level 1 and higher levels hold 64 blocks from the block of
 * base on, and what a level can hold is in no higher one. So all in a level departs before what is in the
 * next, and as base moves on, to the first slot of level 1 that is not empty, some slots of each level are
 * spread over those below. A stream moves once or twice before it sends, and never many at once.
 *
 * Streams stand in a slot in the order in which they came. When the first slot of level 0 has more than one,
 * it is sorted: of frames of one tick the fastest stream's frame departs first, and of streams of one rate
 * first the one whose last frame left first, and at the beginning in the order of the plan. That is the whole
 * order, whatever rates change meanwhile.
 *
 * A stream that control puts in may be overdue, and depart before base. It lies in the slot of base.
 *
 * Everything is allocated beforehand.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_prefetch.h>

#include "tx_schedule.h"
#include "tx_stream.h"

enum {
	WINDOW = 12,      /* bits of the number of a slot within level 0 */
	BLOCK = 6,        /* and within its block */
	SLOTS_A_GAP = 16, /* of level 0, at least, between two departures on the average */
};

struct slot {
	struct tx_level *level;
	unsigned block, slot; /* of the level */
};

/* bits of such a number within a slot of a level */
static inline unsigned
bits_below(unsigned level)
{
	return level == 0 ? 0 : WINDOW + BLOCK * (level - 1);
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
	return RTE_MAX(e->at >> q->shift, q->base);
}

/* where that lies now */
static inline struct slot
slot_of(const struct tx_schedule *q, uint64_t number)
{
	uint64_t ahead = number - q->base;
	unsigned k;

	if (ahead < 1 << WINDOW)
		return slot_in(q, 0, number);
	if (likely(ahead < 63 << (WINDOW + BLOCK)))
		return slot_in(q, 1, number);
	k = (63 - (unsigned)__builtin_clzll(ahead) - WINDOW) / BLOCK;
	k += (number >> bits_below(k + 1)) - (q->base >> bits_below(k + 1)) >= 64;
	return slot_in(q, k, number);
}

/* between two that are side by side, or alone */
static inline void
link_before(struct tx_schedule *q, uint32_t i, uint32_t behind)
{
	struct tx_entry *e = &q->entry[i], *next = &q->entry[behind];

	e->before = next->before;
	e->behind = behind;
	q->entry[next->before].behind = i;
	next->before = i;
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

/* may it stand behind that one? */
static inline bool
is_in_order(const struct tx_schedule *q, uint32_t i, uint32_t behind)
{
	const struct tx_entry *a = &q->entry[i], *b = &q->entry[behind];

	if (a->at != b->at)
		return a->at < b->at;
	return fg_pace_step(&a->stream->pace) <= fg_pace_step(&b->stream->pace);
}

/* into a slot of others; where it belongs, if that is in order already */
static inline void
put_among(struct tx_schedule *q, uint32_t i, const struct slot *s, uint64_t number)
{
	uint32_t *front = &s->level->front[s->slot], behind = *front;

	while (number == q->sorted && !is_in_order(q, q->entry[behind].before, i)) {
		behind = q->entry[behind].before;
		if (behind == *front) {
			*front = i;
			break;
		}
	}
	link_before(q, i, behind);
}

/* an entry whose departure is set already */
static inline void
put(struct tx_schedule *q, uint32_t i)
{
	struct tx_entry *e = &q->entry[i];
	uint64_t number = number_of(q, e);
	struct slot s = slot_of(q, number);

	if (unlikely(!is_empty(&s))) {
		put_among(q, i, &s, number);
		return;
	}
	e->before = e->behind = i;
	fill(&s, i);
}

/* out of the slot that it is in */
static inline void
detach(struct tx_schedule *q, uint32_t i, const struct slot *s)
{
	const struct tx_entry *e = &q->entry[i];

	if (likely(e->behind == i)) {
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
static inline void
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
			if (level == 1) /* it sends within the next hundred frames or so */
				for (unsigned k = 0; k < TX_STREAM_HOT; k += RTE_CACHE_LINE_SIZE)
					rte_prefetch0((const char *)q->entry[i].stream + k);
			put(q, i);
			i = behind;
		} while (i != front);
	}
}

/* base moves on to a slot of level 1; from below, so that none is in a level that has yet to be spread */
static void
advance(struct tx_schedule *q, uint64_t base)
{
	uint64_t was = q->base;

	q->base = base;
	spread(q, 1, was, (base >> bits_below(1)) + 1);
	for (unsigned k = 2; k < TX_LEVELS && was >> bits_below(k) != base >> bits_below(k); k++)
		spread(q, k, was, (base >> bits_below(k)) + 64);
}

bool
tx_schedule_open(struct tx_schedule *q, uint64_t until)
{
	for (unsigned k = 1; k < TX_LEVELS;) {
		struct tx_level *l = &q->level[k];
		unsigned low = bits_below(k);
		uint64_t begin;

		if (l->blocks == 0) {
			k++;
			continue;
		}
		begin = number_of(q, &q->entry[l->front[first_slot(l, k, q->base).slot]]) >> low << low;
		/* base must not pass what control may yet put in */
		if (begin > until >> q->shift)
			return false;
		advance(q, begin);
		if (q->level->blocks != 0)
			return true;
		k = 1;
	}
	return false;
}

/* merge lists of @p half that are side by side */
static void
merge(const struct tx_schedule *q, const uint32_t *from, uint32_t *to, unsigned n, unsigned half)
{
	for (unsigned low = 0; low < n; low += 2 * half) {
		unsigned i = low, middle = RTE_MIN(low + half, n), k = middle,
			 end = RTE_MIN(middle + half, n);

		while (i < middle || k < end)
			*to++ = k >= end || (i < middle && is_in_order(q, from[i], from[k])) ? from[i++]
											     : from[k++];
	}
}

void
tx_schedule_sort(struct tx_schedule *q, uint32_t *front)
{
	uint32_t *list = q->list, *other = q->list + q->streams, *swap, i = *front;
	unsigned n = 0;

	do {
		list[n++] = i;
		i = q->entry[i].behind;
	} while (i != *front);
	for (unsigned half = 1; half < n; half *= 2) {
		merge(q, list, other, n, half);
		swap = list;
		list = other;
		other = swap;
	}
	*front = list[0];
	for (unsigned k = 0; k < n; k++) {
		q->entry[list[k]].behind = list[k + 1 < n ? k + 1 : 0];
		q->entry[list[k]].before = list[k > 0 ? k - 1 : n - 1];
	}
	q->sorted = number_of(q, &q->entry[*front]);
}

uint64_t
tx_schedule_next(struct tx_schedule *q)
{
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
	q->next = RTE_MIN(q->next, at);
	put(q, s->place);
}

void
tx_schedule_remove(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_entry *e = &q->entry[s->place];
	struct slot slot;

	if (e->at == UINT64_MAX)
		return;
	slot = slot_of(q, number_of(q, e));
	detach(q, s->place, &slot);
	e->at = UINT64_MAX;
	q->next = 0;
}

void
tx_schedule_settle(struct tx_schedule *q, struct tx_stream *s)
{
	struct tx_entry *e = &q->entry[s->place];
	struct slot slot = slot_in(q, 0, number_of(q, e));

	detach(q, s->place, &slot);
	e->at = fg_pace_next(&s->pace);
	q->next = 0;
	if (likely(e->at != UINT64_MAX))
		put(q, s->place);
}

int
tx_schedule_init(struct tx_schedule *q, struct tx_stream **streams, unsigned n, unsigned spares,
		 uint64_t begin, double gap, struct fg_error *err)
{
	size_t room = (size_t)n + spares;

	*q = (struct tx_schedule){
		.level = calloc(TX_LEVELS, sizeof(*q->level)),
		.entry = calloc(room, sizeof(*q->entry)),
		.list = calloc(2 * room, sizeof(*q->list)),
		.streams = (unsigned)room,
		.sorted = UINT64_MAX,
	};
	if (q->level == NULL || q->entry == NULL || q->list == NULL)
		return fg_error_set(err, ENOMEM, "streams", "no memory for %zu streams", room);
	while (gap >= 2 * SLOTS_A_GAP && q->shift < 40) {
		gap /= 2;
		q->shift++;
	}
	q->base = begin >> q->shift >> WINDOW << WINDOW;
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
	free(q->list);
}
