/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On real ports time is CLOCK_MONOTONIC_RAW, computed from the time stamp counter: so stamps of two processes
 * of one machine can be compared. The frequency is measured anew for each trial, and with it what the time
 * was at a tick not long ago; over days nothing adds up.
 */
#include <math.h>

#include "fg_clock.h"
#include "fg_tsc.h"

void
fg_clock_init(struct fg_clock *c, double hz)
{
	c->hz = (uint64_t)llround(hz);
	c->ns_per_tick_q64 = (uint64_t)ceill(1e9L / (long double)c->hz * 0x1p64L);
	c->base_ns = 0;
}

void
fg_clock_of_tsc(struct fg_clock *c)
{
	struct fg_tsc tsc;

	fg_tsc_measure(&tsc);
	fg_clock_init(c, tsc.hz);
	c->base_ns = tsc.clock_ns - fg_clock_span_ns(c, tsc.ticks);
}

uint64_t
fg_clock_tick_at(const struct fg_clock *c, uint64_t ns)
{
	uint64_t tick = fg_clock_ticks(c, ns - c->base_ns);

	while (fg_clock_ns(c, tick) < ns)
		tick++;
	while (tick > 0 && fg_clock_ns(c, tick - 1) >= ns)
		tick--;
	return tick;
}
