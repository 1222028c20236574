/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens when a timer ends: a retransmission time-out (RFC 6298), the probe of a closed window (RFC
 * 9293, 3.8.6.1), keep-alive (3.8.4), the end of TIME_WAIT. A time-out only marks what is to be
 * retransmitted; it leaves with the next burst that has room.
 *
 * A PMTU black hole (RFC 2923), which drops full segments without an error, shows by consecutive time-outs of
 * a full segment. The MSS then falls to the MSS of an MTU of 1280, over IPv4 in the end of 576 (RFC 4821,
 * 7.2, 7.7).
 */
#include "tcp_priv.h"

enum {
	HOLE_AFTER = 2, /* unanswered time-outs of a full segment */
	KEEPALIVE_TRIES = 5,
	IPV4_MIN_MTU = 576,
	IPV6_MIN_MTU = 1280,
};

/* the MSS that an MTU leaves */
static uint16_t
mss_of_mtu(const struct conn *c, uint32_t mtu)
{
	return (uint16_t)(mtu - (c->flow.ipv6 ? 60 : 40) - (c->flags & USE_TS ? 12 : 0));
}

static void
suspect_black_hole(struct fg_l4 *w, struct conn *c)
{
	uint32_t mtu = c->flow.ipv6 || c->shrunk == 0 ? IPV6_MIN_MTU : IPV4_MIN_MTU;

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
	mtu = fg_u32_max(mtu, c->flow.ipv6 ? IPV6_MIN_MTU : IPV4_MIN_MTU);
	if (c->mss <= mss_of_mtu(c, mtu))
		return;
	c->mss = mss_of_mtu(c, mtu);
	w->counters.too_big++;
	/*
	 * segments too big are lost: retransmit at once, not as congestion (RFC 1191, 6.5)
	 */
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
	c->flags &= ~(uint32_t)SYN_ECN; /* RFC 3168, 6.1.1.1: a device may drop SYNs with ECN */
	c->syn_due = 1;
	w->counters.syn_retransmits++;
	tcp_ready(w, c);
}

static void
rexmt_expired(struct fg_l4 *w, struct conn *c)
{
	unsigned tries = c->flags & KEEPALIVE ? KEEPALIVE_TRIES : tcp_of(w, c)->retries;

	if (c->state == TIME_WAIT) {
		if (c->flags & ACK_NOW) /* the last ACK still waits behind other connections */
			c->rexmt_at = tick_after(w, tcp_of(w, c)->time_wait_ms * NS_PER_MS);
		else
			tcp_end(w, c, FG_L4_END_CLOSED);
		return;
	}
	if (c->state == SYN_SENT || c->state == SYN_RECEIVED) {
		syn_timeout(w, c);
		return;
	}
	if (c->timer != TIMER_RTO) {
		if (c->timer == TIMER_TLP)
			c->flags |= TLP_NOW;
		else
			recovery_review(w, c, NULL, 0, false);
		rexmt_start(w, c);
		tcp_ready(w, c);
		return;
	}
	if (c->unanswered++ >= tries) {
		tcp_abort(w, c, FG_L4_END_LOST);
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
	uint32_t now = own(w)->wheel.now;

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
		if (c->flags & UNREAD)
			tcp_receive_kept(w, c);
	}
	if (c->state != CLOSED && c->app_at != 0 && seq_le(c->app_at, now)) {
		c->app_at = 0;
		ops_of(w, c)->timer(w, &c->stream);
	}
	if (c->state != CLOSED)
		timer_update(w, c);
}
