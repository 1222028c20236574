/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room for streams that come and go while a trial runs (add.c). A trial has room for more substreams than it
 * begins with, each with its id, its trackers and a place in every queue's schedule.
 *
 * Room that receivers have forgotten is free when every lcore has been through all of its tasks since: then
 * none of them can be in it any more. It is given away in the order in which it became free, so that an id
 * comes back as late as possible and a straggler is not taken for another stream's frame.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine_priv.h"

/* two more: the lcores may have been in the middle of one */
enum { PASSES = 2 };

int
spares_alloc(struct trial *t)
{
	unsigned all = split_all(&t->split);

	t->spares.slot = calloc(RTE_MAX(all, 1U), sizeof(*t->spares.slot));
	t->spares.free = calloc(RTE_MAX(all, 1U), sizeof(*t->spares.free));
	if (t->spares.slot == NULL || t->spares.free == NULL)
		return -ENOMEM;
	for (unsigned i = t->split.streams; i < all; i++) {
		t->spares.slot[i].state = GONE;
		t->spares.free[t->spares.n++] = i;
	}
	return 0;
}

void
spares_free(struct trial *t)
{
	free(t->spares.slot);
	free(t->spares.free);
}

bool
spares_has(const struct trial *t, unsigned stream)
{
	return stream < t->split.given + t->split.spares &&
	       t->spares.slot[t->split.first[stream]].state == THERE;
}

/* in which pass of all lcores we are: one is over when the time of each has moved on */
static uint64_t
pass_of(struct fg_engine *e)
{
	struct spares *s = &e->trial->spares;

	for (unsigned i = 0; i < e->config.lcores; i++)
		if (e->trial->job[i].tasks > 0 && fg_lcore_now(&e->lcore[i]) == s->seen[i])
			return s->pass;
	for (unsigned i = 0; i < e->config.lcores; i++)
		s->seen[i] = fg_lcore_now(&e->lcore[i]);
	return ++s->pass;
}

int
spares_take(struct fg_engine *e, unsigned *out, struct fg_error *err)
{
	struct spares *s = &e->trial->spares;
	unsigned i;

	if (s->n == 0)
		return fg_error_set(err, ENOSPC, "streams", "no room for another stream in this trial");
	i = s->free[s->first];
	if (s->slot[i].state == FORGOTTEN && pass_of(e) < s->slot[i].pass + PASSES)
		return fg_error_set(err, EAGAIN, "streams", "there is room in a moment");
	s->first = (s->first + 1) % split_all(&e->trial->split);
	s->n--;
	*out = i;
	return 0;
}

void
spares_give(struct trial *t, unsigned i)
{
	struct spares *s = &t->spares;

	s->free[(s->first + s->n++) % split_all(&t->split)] = i;
}

void
spares_forget(struct fg_engine *e, unsigned stream)
{
	struct trial *t = e->trial;
	uint64_t pass = pass_of(e);

	for (unsigned i = t->split.first[stream]; i < t->split.first[stream + 1]; i++) {
		rx_stream_forget(&t->rx, i);
		t->spares.slot[i] = (struct spare){.state = FORGOTTEN, .pass = pass};
	}
	if (split_parts(&t->split, stream) == 1) /* a number stands for as many parts as before */
		spares_give(t, t->split.first[stream]);
}
