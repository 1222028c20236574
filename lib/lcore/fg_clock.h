/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "fg_int128.h"

__BEGIN_DECLS

/*
 * Ticks, and their conversion to nanoseconds. On real ports a tick is one of the time stamp counter and the
 * nanoseconds count from the same instant as CLOCK_MONOTONIC_RAW; on the virtual wire both are the wire's
 * own. Set by control while no lcore looks at it, read by everybody.
 */

/** Where the ticks of an lcore come from. */
enum fg_time {
	FG_TIME_TSC,       /* real ports: the processor's time stamp counter */
	FG_TIME_WIRE_REAL, /* virtual wire, in step with real time */
	FG_TIME_WIRE_FREE, /* virtual wire, as fast as possible */
};

/** The time at a tick, in nanoseconds: base_ns + (ticks * ns_per_tick_q64 >> 64), modulo 2^64. */
struct fg_clock {
	uint64_t hz;              /* ticks per second, more than 10^9 */
	uint64_t ns_per_tick_q64; /* rounded up, so that whole nanoseconds stay whole */
	uint64_t base_ns;         /* at tick 0 */
};

/** That number of ticks, in nanoseconds. */
static inline uint64_t
fg_clock_span_ns(const struct fg_clock *c, uint64_t ticks)
{
	return (uint64_t)(((fg_u128)ticks * c->ns_per_tick_q64) >> 64);
}

/** The time at a tick. */
static inline uint64_t
fg_clock_ns(const struct fg_clock *c, uint64_t tick)
{
	return c->base_ns + fg_clock_span_ns(c, tick);
}

/** That number of nanoseconds, in ticks. */
static inline uint64_t
fg_clock_ticks(const struct fg_clock *c, uint64_t ns)
{
	return (uint64_t)((fg_u128)ns * c->hz / 1000000000);
}

/** The first tick whose time is not before @p ns. */
uint64_t fg_clock_tick_at(const struct fg_clock *clock, uint64_t ns);

/** A clock of that frequency, whose tick 0 is time 0. */
void fg_clock_init(struct fg_clock *clock, double hz);

/** The time stamp counter's, as well as its frequency is known by now. */
void fg_clock_of_tsc(struct fg_clock *clock);

__END_DECLS
