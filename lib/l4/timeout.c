/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The retransmission timer by RFC 6298 and what else shares it, since no two of them run at a time: the probe of a
 * closed window (RFC 9293, 3.8.6.1), keep-alive (3.8.4), TIME_WAIT. A time-out only notes what is to be sent again;
 * it leaves with the next burst that has room.
 *
 * A path that swallows full segments without a word (a PMTU black hole, RFC 2923) shows by time-outs in a row of a
 * full segment: the MSS then falls to what an MTU of 1280 carries, over IPv4 in the end to 576 (RFC 4821, 7.2, 7.7).
 */
#include "fg_metric.h"
#include "tcp_priv.h"

enum {
	GRANULARITY_US = 1000,
	DATA_AFTER_LOST_SYN_US = 3000000, /* RFC 6298, 5.7 */
	HOLE_AFTER = 2,                   /* unanswered time-outs of a full segment */
	KEEPALIVE_TRIES = 5,
	IPV4_LEAST_MTU = 576,
	IPV6_LEAST_MTU = 1280,
};

void
rtt_sample(const struct fg_l4 *w, struct conn *c, uint64_t ns)
{
	const struct fg_l4_tcp *tcp = tcp_of(w, c);
	uint32_t r = (uint32_t)(ns / 1000) + 1, delta;

	if (c->srtt == 0) {
		c->srtt = r;
		c->rttvar = r / 2;
	} else {
		delta = c->srtt > r ? c->srtt - r : r - c->srtt;
		c->rttvar = c->rttvar - c->rttvar / 4 + delta / 4;
		c->srtt = c->srtt - c->srtt / 8 + r / 8;
	}
	c->rto = c->srtt + u32_max(u32_max(GRANULARITY_US, tcp->rto_min_ms * 1000), 4 * c->rttvar);
	c->rto = u32_min(c->rto, tcp->rto_max_ms * 1000);
}

void
rtt_timed(const struct fg_l4 *w, struct conn *c)
{
	uint64_t ns = (uint64_t)((uint32_t)(w->now >> RTT_SHIFT) - c->rtt_from) << RTT_SHIFT;
	uint32_t us = u32_max((uint32_t)(ns / 1000), 1);

	rtt_sample(w, c, ns);
	c->min_rtt = c->min_rtt == 0 ? us : u32_min(c->min_rtt, us);
	if (w->app[c->app]->rtt != NULL && is_measured(w))
		fg_histogram_record(w->app[c->app]->rtt, (int64_t)ns);
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

	if (c->rexmt_at == 0 || seq_lt(at, c->rexmt_at) || c->timer == TIMER_TAIL)
		rexmt_start_as(w, c, TIMER_REORDER, after_us);
}

void
rexmt_stop(struct conn *c)
{
	c->rexmt_at = 0;
	c->timer = TIMER_RTO;
	c->flags &= ~(uint32_t)(KEEPALIVE | PROBING);
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
			tail = tail_after(w, c);
			if (tail > 0)
				rexmt_start_as(w, c, TIMER_TAIL, tail);
			else
				rexmt_start(w, c);
		}
	} else if (tcp_unsent(c) > 0) {
		if (!(c->flags & PROBING)) { /* what can be sent has been: the window does not let it */
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

/* the MSS that an MTU leaves */
static uint16_t
mss_of_mtu(const struct conn *c, uint32_t mtu)
{
	return (uint16_t)(mtu - (c->flow.ipv6 ? 60 : 40) - (c->flags & USE_TS ? 12 : 0));
}

static void
suspect_black_hole(struct fg_l4 *w, struct conn *c)
{
	uint32_t mtu = c->flow.ipv6 || c->shrunk == 0 ? IPV6_LEAST_MTU : IPV4_LEAST_MTU;

	if (c->unanswered < HOLE_AFTER || flight(c) < c->mss || c->mss <= mss_of_mtu(c, mtu))
		return;
	c->mss = mss_of_mtu(c, mtu);
	c->shrunk = 1;
	c->unanswered = 0;
	w->counters.black_holes++;
}

void
tcp_path_mtu(struct fg_l4 *w, struct conn *c, uint32_t mtu)
{
	mtu = u32_max(mtu, c->flow.ipv6 ? IPV6_LEAST_MTU : IPV4_LEAST_MTU);
	if (c->mss <= mss_of_mtu(c, mtu))
		return;
	c->mss = mss_of_mtu(c, mtu);
	w->counters.too_big++;
	/* what was too big is lost: send it again at once, without taking it for congestion (RFC 1191, 6.5) */
	recovery_restart(w, c);
	tcp_ready(w, c);
}

static void
syn_timeout(struct fg_l4 *w, struct conn *c)
{
	if (c->backoff >= tcp_of(w, c)->syn_retries) {
		tcp_end(w, c, FG_L4_END_NO_ANSWER);
		return;
	}
	c->backoff++;
	c->flags &= ~(uint32_t)SYN_ECN; /* RFC 3168, 6.1.1.1: perhaps that is what somebody dislikes */
	c->syn_due = 1;
	w->counters.syn_retransmits++;
	tcp_ready(w, c);
}

static void
rexmt_expired(struct fg_l4 *w, struct conn *c)
{
	unsigned tries = c->flags & KEEPALIVE ? KEEPALIVE_TRIES : tcp_of(w, c)->retries;

	if (c->state == TIME_WAIT) {
		tcp_end(w, c, FG_L4_END_CLOSED);
		return;
	}
	if (c->state == SYN_SENT || c->state == SYN_RECEIVED) {
		syn_timeout(w, c);
		return;
	}
	if (c->timer != TIMER_RTO) {
		if (c->timer == TIMER_TAIL)
			c->flags |= TAIL_NOW;
		else
			recovery_review(w, c, NULL, 0, false);
		rexmt_start(w, c);
		tcp_ready(w, c);
		return;
	}
	if (c->unanswered++ >= tries) {
		tcp_abort_as(w, c, FG_L4_END_LOST);
		return;
	}
	if (c->flags & (PROBING | KEEPALIVE)) {
		c->flags |= PROBE_NOW;
	} else if (flight(c) > 0) {
		suspect_black_hole(w, c);
		recovery_timeout(w, c);
	}
	if (c->backoff < UINT8_MAX && !(c->flags & KEEPALIVE))
		c->backoff++;
	rexmt_start(w, c);
	tcp_ready(w, c);
}

void
timer_expired(struct fg_l4 *w, struct conn *c)
{
	uint32_t now = w->wheel.now;

	if (c->rexmt_at != 0 && seq_le(c->rexmt_at, now)) {
		c->rexmt_at = 0;
		rexmt_expired(w, c);
	}
	if (c->state != CLOSED && c->delack_at != 0 && seq_le(c->delack_at, now)) {
		c->delack_at = 0;
		if (c->flags & ACK_LATER) {
			c->flags |= ACK_NOW;
			tcp_ready(w, c);
		}
	}
	if (c->state != CLOSED && c->app_at != 0 && seq_le(c->app_at, now)) {
		c->app_at = 0;
		ops_of(w, c)->timer(w, c);
	}
	if (c->state != CLOSED)
		timer_update(w, c);
}

void
rto_after_handshake(struct conn *c)
{
	if (c->backoff > 0)
		c->rto = u32_max(c->rto, DATA_AFTER_LOST_SYN_US);
}
