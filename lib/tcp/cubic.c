/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUBIC (RFC 9438): the window is a cubic function of the time since the last congestion, flat at the last
 * congestion window (w_max), and never slower than NewReno (w_est). Windows are bytes here, times
 * milliseconds; the constants of the RFC are for segments and seconds.
 */
#include <math.h>

#include "congestion_priv.h"

#define C    0.4
#define BETA 0.7

static void
begin_epoch(struct conn *c, uint32_t now)
{
	struct cubic *q = &c->cubic;

	q->epoch = now == 0 ? 1 : now;
	q->w_est = c->cwnd;
	if (c->cwnd < q->w_max) {
		q->k = (uint32_t)(cbrt((double)(q->w_max - c->cwnd) / c->mss / C) * 1000);
	} else {
		q->k = 0;
		q->w_max = c->cwnd;
	}
}

/* RFC 9438, 4.2 */
static double
window_at(const struct conn *c, uint32_t ms)
{
	double t = ((double)ms - c->cubic.k) / 1000;

	return C * t * t * t * c->mss + c->cubic.w_max;
}

/*
 * 4.3: NewReno's window; alpha is less than 1 until the window is as before the reduction (w_max may be
 * lower, by 4.7)
 */
static void
grow_estimate(struct conn *c, uint32_t acked)
{
	struct cubic *q = &c->cubic;
	double alpha = q->w_est >= c->ssthresh / BETA ? 1 : 3 * (1 - BETA) / (1 + BETA);

	q->w_est += (uint32_t)(alpha * c->mss * acked / c->cwnd);
}

static void
cubic_grow(const struct fg_l4 *w, struct conn *c, uint32_t acked)
{
	struct cubic *q = &c->cubic;
	uint32_t t;
	double target;

	if (q->epoch == 0)
		begin_epoch(c, now_ms(w));
	t = now_ms(w) - q->epoch;
	grow_estimate(c, acked);
	if (window_at(c, t) < q->w_est) {
		c->cwnd = fg_u32_max(c->cwnd, q->w_est);
		return;
	}
	target = window_at(c, t + c->srtt / 1000);
	target = fmin(fmax(target, c->cwnd), 1.5 * c->cwnd);
	c->cwnd += (uint32_t)((target - c->cwnd) * acked / c->cwnd);
}

/* 4.6, 4.7, 4.8 */
static uint32_t
cubic_reduce(const struct fg_l4 *w, struct conn *c, bool timeout)
{
	struct cubic *q = &c->cubic;

	q->w_max = c->cwnd < q->w_max ? (uint32_t)(c->cwnd * (1 + BETA) / 2) : c->cwnd;
	q->epoch = 0;
	if (timeout)
		q->w_max = 0; /* the next epoch begins flat, where slow start ends */
	return (uint32_t)(congestion_base(c) * BETA);
}

const struct congestion congestion_cubic = {cubic_grow, cubic_reduce};
