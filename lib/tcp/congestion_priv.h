/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between congestion.c, which all of TCP calls, and the algorithms behind it. cwnd and ssthresh are written
 * by congestion.c and recovery.c, the state of an algorithm by its own file.
 */
#pragma once

#include "tcp_priv.h"

/** Operations of one congestion-control algorithm. */
struct congestion {
	/** These bytes were acknowledged in congestion avoidance: enlarge cwnd. */
	void (*grow)(const struct fg_l4 *w, struct conn *c, uint32_t acked);
	/** Congestion. @return the new ssthresh; it will not be below two segments */
	uint32_t (*reduce)(const struct fg_l4 *w, struct conn *c, bool timeout);
};

/**
 * The base of a reduction: the flight without the segments of limited transmit (RFC 5681, 3.2, step 2).
 */
static inline uint32_t
congestion_base(const struct conn *c)
{
	return fg_u32_min(flight(c), c->cwnd);
}

/** The first slow start is over: reset the state of congestion avoidance. */
static inline void
congestion_forget(struct conn *c)
{
	c->cubic = (struct cubic){0};
}

/* hystart.c: of the first slow start */
void hystart_begin(struct conn *c);
/** An acknowledgement has moved snd_una; it may end slow start. */
void hystart_acked(const struct fg_l4 *w, struct conn *c, const struct segment *s);
/** Does the window grow a quarter as fast? */
bool hystart_is_cautious(const struct conn *c);

extern const struct congestion congestion_cubic;
