/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection that has to act next: a binary heap of connections with a timer. One connection has one
 * place in it, for all of its timers.
 */
#include "fg_sift.h"
#include "quic_priv.h"

static inline void
put(const struct carrier *c, uint32_t *heap, size_t at, uint32_t i)
{
	heap[at] = i;
	quic_at(c, i)->due_place = (uint32_t)at + 1;
}

#define IS_EARLIER(c, a, b) (quic_at(c, *(a))->due < quic_at(c, *(b))->due)
FG_SIFT(sift, const struct carrier, uint32_t, IS_EARLIER, put)

static void
take_out(struct quic *q)
{
	struct carrier *c = q->carrier;
	uint32_t place = q->due_place, last = c->heap[--c->heaped];

	q->due_place = 0;
	if (last == index_of(q))
		return;
	c->heap[place - 1] = last;
	sift(c, c->heap, c->heaped, place - 1);
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
		put(c, c->heap, c->heaped++, index_of(q));
	sift(c, c->heap, c->heaped, q->due_place - 1);
}

struct quic *
due_first(const struct carrier *c)
{
	return c->heaped == 0 ? NULL : quic_at(c, c->heap[0]);
}

uint64_t
due_next(const struct carrier *c)
{
	return c->heaped == 0 ? UINT64_MAX : quic_at(c, c->heap[0])->due;
}
