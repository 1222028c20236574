/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers: a hierarchical wheel (Varghese and Lauck) of four levels with 256 slots. A connection has one entry
 * for all its deadlines, and the entry is lazy: it is moved only when a deadline comes nearer, not when one
 * goes away, as the retransmission timer does with every acknowledgement. An entry that fires early finds
 * nothing due and is put back. The time of the next slot to be emptied is kept, and may also be early.
 * Entries due in one tick fire in the order of the list, which is deterministic.
 */
#include "tcp_priv.h"

enum { SLOT_BITS = 8, IS_HEAD = 1U << 31 };

void
wheel_start(struct wheel *wheel, uint64_t now)
{
	wheel->now = (uint32_t)(now >> TICK_SHIFT);
	wheel->running = true;
}

/* a slot is to be emptied at @p tick */
static inline void
expect(struct wheel *wheel, uint32_t tick)
{
	if (!wheel->some || seq_lt(tick, wheel->next))
		wheel->next = tick;
	wheel->some = true;
}

static void
link_in(struct fg_l4 *w, struct conn *c, uint32_t at)
{
	struct wheel *wheel = &own(w)->wheel;
	uint32_t index = conn_index(w, c), ahead = at - wheel->now, slot;
	uint32_t level = (31U ^ (uint32_t)__builtin_clz(ahead | 1)) / SLOT_BITS;

	slot = at >> (SLOT_BITS * level) & (WHEEL_SLOTS - 1);
	expect(wheel, at >> (SLOT_BITS * level) << (SLOT_BITS * level));
	c->timer_at = at;
	c->timer_prev = IS_HEAD | level << SLOT_BITS | slot;
	c->timer_next = wheel->head[level][slot];
	if (c->timer_next != 0)
		own(w)->conn[c->timer_next].timer_prev = index;
	wheel->head[level][slot] = index;
	wheel->used[level][slot / 64] |= 1ULL << slot % 64;
}

void
timer_stop(struct fg_l4 *w, struct conn *c)
{
	struct wheel *wheel = &own(w)->wheel;

	if (c->timer_prev == 0)
		return;
	if (c->timer_next != 0)
		own(w)->conn[c->timer_next].timer_prev = c->timer_prev;
	if (c->timer_prev & IS_HEAD) {
		uint32_t level = c->timer_prev >> SLOT_BITS & (WHEEL_LEVELS - 1);
		uint32_t slot = c->timer_prev & (WHEEL_SLOTS - 1);

		wheel->head[level][slot] = c->timer_next;
		if (c->timer_next == 0)
			wheel->used[level][slot / 64] &= ~(1ULL << slot % 64);
	} else {
		own(w)->conn[c->timer_prev].timer_next = c->timer_next;
	}
	c->timer_prev = 0;
}

static inline void
sooner(uint32_t *first, uint32_t deadline)
{
	if (deadline != 0 && (*first == 0 || seq_lt(deadline, *first)))
		*first = deadline;
}

void
timer_update(struct fg_l4 *w, struct conn *c)
{
	uint32_t first = 0;

	sooner(&first, c->rexmt_at);
	sooner(&first, c->delack_at);
	sooner(&first, c->app_at);
	if (first == 0)
		return; /* an entry that is still there finds out when it fires */
	if (c->timer_prev != 0) {
		if (seq_le(c->timer_at, first))
			return;
		timer_stop(w, c);
	}
	/* what was due already is due in the next tick */
	link_in(w, c, seq_le(first, own(w)->wheel.now) ? own(w)->wheel.now + 1 : first);
}

/* empty a slot; its entries fire, or move to a lower level */
static void
empty(struct fg_l4 *w, uint32_t level, uint32_t slot, void (*expired)(struct fg_l4 *w, struct conn *c))
{
	struct wheel *wheel = &own(w)->wheel;
	uint32_t index = wheel->head[level][slot];

	/* a reinserted connection never enters this slot again in this tick */
	while ((index = wheel->head[level][slot]) != 0) {
		struct conn *c = &own(w)->conn[index];
		uint32_t at = c->timer_at;

		if (c->timer_next != 0)
			conn_fetch(&own(w)->conn[c->timer_next]);
		timer_stop(w, c);
		if (seq_le(at, wheel->now))
			expired(w, c);
		else
			link_in(w, c, at);
	}
}

static uint32_t
first_used(const uint64_t *used, uint32_t from)
{
	for (uint32_t word = from / 64; word < WHEEL_SLOTS / 64; word++) {
		uint64_t bits = used[word];

		if (word == from / 64)
			bits &= UINT64_MAX << from % 64;
		if (bits != 0)
			return word * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return WHEEL_SLOTS;
}

/* the next tick at which a slot is to be emptied; @return false: none */
static bool
next_event(const struct wheel *wheel, uint32_t *tick)
{
	bool found = false;

	for (uint32_t level = 0; level < WHEEL_LEVELS; level++) {
		uint32_t shift = SLOT_BITS * level;
		uint32_t here = wheel->now >> shift & (WHEEL_SLOTS - 1);
		uint32_t slot = here + 1 < WHEEL_SLOTS ? first_used(wheel->used[level], here + 1)
						       : (uint32_t)WHEEL_SLOTS;
		uint32_t ahead = slot - here, at;

		if (slot == WHEEL_SLOTS) { /* behind the end: of the next turn */
			slot = first_used(wheel->used[level], 0);
			if (slot == WHEEL_SLOTS)
				continue;
			ahead = WHEEL_SLOTS - here + slot;
		}
		at = ((wheel->now >> shift) + ahead) << shift;
		if (!found || seq_lt(at, *tick))
			*tick = at;
		found = true;
	}
	return found;
}

void
wheel_advance(struct fg_l4 *w, void (*expired)(struct fg_l4 *w, struct conn *c))
{
	struct wheel *wheel = &own(w)->wheel;
	uint32_t until = (uint32_t)(w->now >> TICK_SHIFT), tick = until;

	if (seq_le(until, wheel->now))
		return;
	if (!wheel->some || seq_lt(until, wheel->next)) {
		wheel->now = until;
		return;
	}
	while ((wheel->some = next_event(wheel, &tick)) && seq_le(tick, until)) {
		wheel->now = tick;
		for (uint32_t level = WHEEL_LEVELS; level-- > 0;)
			if ((tick & ((1U << SLOT_BITS * level) - 1)) == 0)
				empty(w, level, tick >> (SLOT_BITS * level) & (WHEEL_SLOTS - 1), expired);
	}
	wheel->next = tick;
	wheel->now = until;
}

uint64_t
wheel_due(const struct fg_l4 *w)
{
	uint64_t now = w->now >> TICK_SHIFT;

	if (!own(w)->wheel.some)
		return UINT64_MAX;
	/* ticks wrap, the clock does not */
	return (now + (uint32_t)(own(w)->wheel.next - (uint32_t)now)) << TICK_SHIFT;
}
