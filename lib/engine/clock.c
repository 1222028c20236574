/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On real ports time is CLOCK_MONOTONIC_RAW, reckoned from the time stamp counter: so stamps of two processes of one
 * machine can be compared. The frequency is taken anew for each trial, and with it what the time was at a tick not long
 * ago; over days nothing adds up.
 */
#include <math.h>

#include "engine_priv.h"
#include "fg_tsc.h"
#include "fg_wire.h"

static void
set_frequency(struct clock *c, double hz)
{
	c->hz = (uint64_t)llround(hz);
	/* rounded up, so that whole nanoseconds stay whole */
	c->ns_per_tick_q64 = (uint64_t)ceill(1e9L / (long double)c->hz * 0x1p64L);
}

void
clock_of_wire(struct clock *c)
{
	set_frequency(c, FG_WIRE_HZ);
	c->base_ns = 0;
}

void
clock_of_tsc(struct clock *c)
{
	struct fg_tsc tsc;

	fg_tsc_measure(&tsc);
	set_frequency(c, tsc.hz);
	c->base_ns = tsc.clock_ns - clock_span_ns(c, tsc.ticks);
}
