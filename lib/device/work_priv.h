/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Serial work of a stateful device, such as session set-up. */
#include <stdbool.h>
#include <stdint.h>

struct work {
	/* when it is free, ps with a fraction, so that all rates stay exact */
	double free;
	uint32_t queue; /* pieces of work that may wait */
};

/** Do one piece of work. @param at  in: earliest start; out: end. @return false: no room */
static inline bool
work_at(struct work *w, double takes, uint64_t *at)
{
	double now = (double)*at, start = now > w->free ? now : w->free;

	if (takes == 0)
		return true;
	/* a queue of n and one in service: the wait is at most n + 1 times the work, apart from rounding */
	if (start - now > (w->queue + 1.0 - 1e-9) * takes)
		return false;
	w->free = start + takes;
	*at = (uint64_t)(w->free + 0.5);
	return true;
}
