/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which connection has to act next: a binary heap of those that have to at all. One connection has one place
 * in it, for all of its timers.
 */
#include "quic_priv.h"

static uint64_t
due_at(const struct carrier *c, uint32_t place)
{
	return quic_at(c, c->heap[place])->due;
}

static void
put(const struct carrier *c, uint32_t place, uint32_t i)
{
	c->heap[place] = i;
	quic_at(c, i)->due_place = place;
}

static uint32_t
rise(const struct carrier *c, uint32_t place)
{
	uint32_t i = c->heap[place];

	for (; place > 1 && due_at(c, place / 2) > quic_at(c, i)->due; place /= 2)
		put(c, place, c->heap[place / 2]);
	put(c, place, i);
	return place;
}

static void
sink(const struct carrier *c, uint32_t place)
{
	uint32_t i = c->heap[place], child;

	for (; (child = 2 * place) <= c->heaped; place = child) {
		if (child < c->heaped && due_at(c, child + 1) < due_at(c, child))
			child++;
		if (due_at(c, child) >= quic_at(c, i)->due)
			break;
		put(c, place, c->heap[child]);
	}
	put(c, place, i);
}

static void
take_out(struct quic *q)
{
	struct carrier *c = q->carrier;
	uint32_t place = q->due_place, last = c->heap[c->heaped--];

	q->due_place = 0;
	if (last == index_of(q))
		return;
	put(c, place, last);
	sink(c, rise(c, place));
}

void
due_set(struct quic *q, uint64_t at)
{
	struct carrier *c = q->carrier;

	q->due = at;
	if (at == UINT64_MAX) {
		if (q->due_place != 0)
			take_out(q);
		return;
	}
	if (q->due_place == 0)
		put(c, ++c->heaped, index_of(q));
	sink(c, rise(c, q->due_place));
}

struct quic *
due_first(const struct carrier *c)
{
	return c->heaped == 0 ? NULL : quic_at(c, c->heap[1]);
}

uint64_t
due_next(const struct carrier *c)
{
	return c->heaped == 0 ? UINT64_MAX : due_at(c, 1);
}
