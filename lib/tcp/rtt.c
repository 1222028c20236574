/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round-trip times, the retransmission time-out that follows from them (RFC 6298), and the one timer that a
 * connection needs for it. The probe of a closed window, keep-alive, the reordering timer of RACK and the
 * tail-loss probe share the timer, because no two of them run at a time. What happens when it ends is in
 * timeout.c.
 */
#include "fg_metric.h"
#include "tcp_priv.h"

enum {
	GRANULARITY_US = 1000,
	DATA_AFTER_LOST_SYN_US = 3000000, /* RFC 6298, 5.7 */
};

static inline void
sample(const struct fg_l4 *w, struct conn *c, uint32_t us)
{
	const struct fg_l4_tcp *tcp = tcp_of(w, c);
	uint32_t r = us + 1, delta;

	if (c->srtt == 0) {
		c->srtt = r;
		c->rttvar = r / 2;
	} else {
		delta = c->srtt > r ? c->srtt - r : r - c->srtt;
		c->rttvar = c->rttvar - c->rttvar / 4 + delta / 4;
		c->srtt = c->srtt - c->srtt / 8 + r / 8;
	}
	c->rto = c->srtt + fg_u32_max(fg_u32_max(GRANULARITY_US, tcp->rto_min_ms * 1000), 4 * c->rttvar);
	c->rto = fg_u32_min(c->rto, tcp->rto_max_ms * 1000);
}

void
rtt_sample(const struct fg_l4 *w, struct conn *c, uint64_t ns)
{
	sample(w, c, (uint32_t)(ns / 1000));
}

void
rtt_timed(const struct fg_l4 *w, struct conn *c)
{
	uint64_t ns = (uint64_t)((uint32_t)(w->now >> RTT_SHIFT) - c->rtt_from) << RTT_SHIFT;
	uint32_t us = (uint32_t)(ns / 1000);

	sample(w, c, us);
	us = fg_u32_max(us, 1);
	c->min_rtt = c->min_rtt == 0 ? us : fg_u32_min(c->min_rtt, us);
	if (w->app[c->stream.app]->rtt != NULL && fg_l4_is_measured(w))
		fg_histogram_record(w->app[c->stream.app]->rtt, (int64_t)ns);
}

static void
rexmt_start_as(struct fg_l4 *w, struct conn *c, enum timer timer, uint64_t us)
{
	c->timer = timer;
	c->rexmt_at = tick_after(w, us * 1000);
	timer_update(w, c);
}

void
rexmt_start(struct fg_l4 *w, struct conn *c)
{
	uint64_t us = (uint64_t)c->rto << (c->backoff > 20 ? 20 : c->backoff);
	uint64_t most = tcp_of(w, c)->rto_max_ms * 1000ULL;

	rexmt_start_as(w, c, TIMER_RTO, us < most ? us : most);
}

void
reorder_start(struct fg_l4 *w, struct conn *c, uint32_t after_us)
{
	uint32_t at = tick_after(w, after_us * 1000ULL);

	if (c->rexmt_at == 0 || seq_lt(at, c->rexmt_at) || c->timer == TIMER_TLP)
		rexmt_start_as(w, c, TIMER_REORDER, after_us);
}

void
rexmt_review(struct fg_l4 *w, struct conn *c)
{
	uint32_t keepalive = tcp_of(w, c)->keepalive_ms, tail;

	if (c->state < ESTABLISHED || c->state == TIME_WAIT)
		return;
	if (flight(c) > 0) {
		if (c->rexmt_at == 0 || c->flags & (KEEPALIVE | PROBING)) {
			c->flags &= ~(uint32_t)(KEEPALIVE | PROBING);
			tail = tlp_after(w, c);
			if (tail > 0)
				rexmt_start_as(w, c, TIMER_TLP, tail);
			else
				rexmt_start(w, c);
		}
	} else if (tcp_unsent(c) > 0) {
		if (!(c->flags & PROBING)) { /* the window blocks all remaining data */
			c->flags = (c->flags & ~(uint32_t)KEEPALIVE) | PROBING;
			rexmt_start(w, c);
		}
	} else if (keepalive == 0) {
		rexmt_stop(c);
	} else if (!(c->flags & KEEPALIVE) || c->unanswered == 0) {
		rexmt_stop(c);
		c->flags |= KEEPALIVE;
		c->rexmt_at = tick_after(w, keepalive * NS_PER_MS);
		timer_update(w, c);
	}
}

void
rto_after_handshake(struct conn *c)
{
	if (c->backoff > 0)
		c->rto = fg_u32_max(c->rto, DATA_AFTER_LOST_SYN_US);
}
