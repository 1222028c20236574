/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Work that a stateful device does one piece after the other, such as to set up sessions. */
#include <stdbool.h>
#include <stdint.h>

struct work {
	/* when it is free, ps: with its fraction, so that rates which do not divide 10^12 keep exact */
	double free;
	uint32_t queue; /* that may wait, each for as long as the work at hand takes */
};

/** Do work that takes so long. @param at  in: from when on; out: when it is done. @return false: no room */
static inline bool
work_at(struct work *w, double takes, uint64_t *at)
{
	double now = (double)*at, start = now > w->free ? now : w->free;

	if (takes == 0)
		return true;
	/* a queue of n and the one at work: the wait is at most n + 1 times the work, but for rounding */
	if (start - now > (w->queue + 1.0 - 1e-9) * takes)
		return false;
	w->free = start + takes;
	*at = (uint64_t)(w->free + 0.5);
	return true;
}
