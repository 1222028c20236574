/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A trigger for an event on frames: on every n-th frame, and on each frame with a probability. */
#include <stdbool.h>

#include "fg_random.h"

struct fg_trigger {
	uint64_t every; /* 0: never */
	double random;  /* 0 to 1 */
};

/** A trigger at work. One writer; members are private. */
struct fg_trigger_state {
	uint64_t every, count;
	uint64_t limit; /* fires when a random number is below; 0: never */
	uint64_t random;
};

static inline bool
fg_trigger_is_set(const struct fg_trigger *t)
{
	return t->every > 0 || t->random > 0;
}

/** The mean share of frames for which it fires, one at a time. */
static inline double
fg_trigger_share(const struct fg_trigger *t)
{
	return (t->every > 0 ? 1.0 / (double)t->every : 0) + t->random;
}

/** Restart: the same @p seed gives the same frames. */
static inline struct fg_trigger_state
fg_trigger_start(const struct fg_trigger *t, uint64_t seed)
{
	return (struct fg_trigger_state){t->every, 0, fg_random_limit(t->random), seed};
}

/** Is the next frame one of the last @p run of every n? To be asked once for each frame. */
static inline bool
fg_trigger_counts(struct fg_trigger_state *s, uint64_t run)
{
	bool yes;

	if (s->every == 0)
		return false;
	yes = s->count >= s->every - run;
	s->count = s->count + 1 == s->every ? 0 : s->count + 1;
	return yes;
}

/** Does chance choose the next frame? */
static inline bool
fg_trigger_draws(struct fg_trigger_state *s)
{
	return s->limit > 0 && fg_random_next(&s->random) < s->limit;
}

/** Both, each asked for every frame. */
static inline bool
fg_trigger_fires(struct fg_trigger_state *s, uint64_t run)
{
	bool counted = fg_trigger_counts(s, run);

	return fg_trigger_draws(s) || counted;
}
