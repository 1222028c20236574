/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much may be in flight. The shared part is here: slow start, and growth only while the window is the
 * limit (RFC 9293, 3.8.2, RFC 7661). An algorithm determines the growth when bytes are acknowledged in
 * congestion avoidance, and the reduction on congestion.
 *
 * NewReno is RFC 5681, counting bytes (RFC 3465 with L = 2, so that delayed ACKs do not halve the growth).
 */
#include "congestion_priv.h"

enum { CSS_GROWTH_DIVISOR = 4 /* RFC 9406, 4.3 */ };

static void
newreno_grow(const struct fg_l4 *w, struct conn *c, uint32_t acked)
{
	c->credit += acked;
	if (c->credit >= c->cwnd) {
		c->credit -= c->cwnd;
		c->cwnd += c->mss;
	}
}

static uint32_t
newreno_reduce(const struct fg_l4 *w, struct conn *c, bool timeout)
{
	c->credit = 0;
	return congestion_base(c) / 2;
}

static const struct congestion newreno = {newreno_grow, newreno_reduce};

static const struct congestion *
algorithm(const struct fg_l4 *w, const struct conn *c)
{
	return tcp_of(w, c)->congestion == FG_L4_CUBIC ? &congestion_cubic : &newreno;
}

void
congestion_init(const struct fg_l4 *w, struct conn *c)
{
	/* RFC 5681, 3.1: a lost SYN leaves one segment */
	c->cwnd = c->mss * (c->backoff > 0 ? 1U : tcp_of(w, c)->initial_window);
	c->ssthresh = UINT32_MAX;
	hystart_begin(c);
}

void
congestion_acked(const struct fg_l4 *w, struct conn *c, uint32_t acked, uint32_t flight_before)
{
	bool slow_start = c->cwnd < c->ssthresh;
	uint32_t limit;

	/*
	 * in slow start the window may be twice the flight; each ACK of a burst finds a smaller flight
	 */
	if (!c->limited && (slow_start ? flight_before < c->cwnd / 2 : flight_before + c->mss <= c->cwnd))
		return;
	if (!slow_start) {
		algorithm(w, c)->grow(w, c, acked);
	} else {
		limit = c->flags & IN_LOSS ? c->mss : 2U * c->mss;
		acked = fg_u32_min(acked, limit);
		acked /= c->ssthresh == UINT32_MAX && hystart_is_cautious(c) ? CSS_GROWTH_DIVISOR : 1;
		c->cwnd = fg_u32_min(c->cwnd + acked, fg_u32_max(c->ssthresh, c->cwnd));
	}
	c->cwnd = fg_u32_min(c->cwnd, UINT32_MAX / 4);
}

void
congestion_met(const struct fg_l4 *w, struct conn *c, bool timeout)
{
	if (c->ssthresh == UINT32_MAX)
		congestion_forget(c);
	c->ssthresh = fg_u32_max(algorithm(w, c)->reduce(w, c, timeout), 2U * c->mss);
}
