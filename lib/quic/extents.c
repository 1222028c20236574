/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far each stream of a connection has ever left: what leaves again lies before that. A table of those
 * that are not over, by their numbers, with open addressing; most connections have one.
 */
#include <stdlib.h>

#include "quic_priv.h"

enum { MIN_EXTENTS = 2 };

static uint32_t
home_of(const struct extents *e, int64_t id)
{
	return (uint32_t)((uint64_t)id * 0x9e3779b97f4a7c15 >> 32) & (e->size - 1); /* Fibonacci hashing */
}

/* where it is, or where it would be */
static uint32_t
place_of(const struct extents *e, int64_t id)
{
	uint32_t i = home_of(e, id);

	while (e->at[i].end != 0 && e->at[i].id != id)
		i = (i + 1) & (e->size - 1);
	return i;
}

/* half of it stays free. @return false: there is no memory */
static bool
make_room(struct extents *e)
{
	struct extents larger = {.size = e->size == 0 ? MIN_EXTENTS : 2 * e->size, .used = e->used};

	if (2 * (e->used + 1) <= e->size)
		return true;
	larger.at = calloc(larger.size, sizeof(*larger.at));
	if (larger.at == NULL)
		return false;
	for (uint32_t i = 0; i < e->size; i++)
		if (e->at[i].end != 0)
			larger.at[place_of(&larger, e->at[i].id)] = e->at[i];
	free(e->at);
	*e = larger;
	return true;
}

uint64_t
extent_move(struct extents *e, int64_t id, uint64_t end)
{
	struct extent *one;
	uint64_t before;

	if (!make_room(e))
		return 0;
	one = &e->at[place_of(e, id)];
	before = one->end;
	e->used += before == 0;
	if (end > before)
		*one = (struct extent){id, end};
	return before;
}

void
extent_forget(struct extents *e, int64_t id)
{
	uint32_t hole, i;

	if (e->size == 0)
		return;
	i = hole = place_of(e, id);
	if (e->at[hole].end == 0)
		return;
	e->used--;
	/* those behind it, up to the next free place, come nearer to their homes */
	for (;;) {
		e->at[hole].end = 0;
		do {
			i = (i + 1) & (e->size - 1);
			if (e->at[i].end == 0)
				return;
		} while (((i - home_of(e, e->at[i].id)) & (e->size - 1)) < ((i - hole) & (e->size - 1)));
		e->at[hole] = e->at[i];
		hole = i;
	}
}
