/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A segment arrives: RFC 9293, 3.10.7, in its order, with the time stamps of RFC 7323 before the sequence
 * check and the caution of RFC 5961 against forged segments: a reset must have exactly the next number, a SYN
 * never ends a connection, an acknowledgement must be in a window. A suspicious segment is answered by a
 * challenge ACK.
 */
#include "tcp_priv.h"

/* RFC 7323, 5.5: 24 days, in the units of ts_recent_at */
static const uint16_t TS_OLD = (uint16_t)(24ULL * 24 * 3600 * 1000 >> TS_AGE_SHIFT);

static bool
listens_to(const struct fg_l4 *w, const struct fg_app *app, const struct fg_flow *f)
{
	return app->listens && app_owns(app, f->local) &&
	       (app->port == f->local_port || (app->ops->expects != NULL && app->ops->expects(w, app, f)));
}

static int
listener_of(const struct fg_l4 *w, const struct fg_flow *f)
{
	for (unsigned i = 0; i < w->apps; i++)
		if (listens_to(w, w->app[i], f))
			return (int)i;
	return -1;
}

/* @return a connection that a SYN cookie establishes; else NULL: the segment is processed */
static struct conn *
no_connection(struct fg_l4 *w, const struct segment *s)
{
	uint8_t what = s->flags & (TCP_SYN | TCP_ACK | TCP_RST);
	int listener = listener_of(w, &s->flow);
	struct conn *c = NULL;

	if (listener >= 0 && what == TCP_SYN) {
		(half_open_has_room(w) ? tcp_accept : cookie_send)(w, (unsigned)listener, s);
		return NULL;
	}
	if (listener >= 0 && what == 0) { /* RFC 9293, 3.10.7.2 */
		w->counters.no_ack++;
		return NULL;
	}
	if (listener >= 0 && what == TCP_ACK)
		c = cookie_take(w, (unsigned)listener, s);
	if (c != NULL)
		return c;
	for (unsigned i = 0; i < w->apps; i++)
		if (app_owns(w->app[i], s->flow.local)) {
			w->counters.no_connection++;
			tcp_reject(w, s);
			return NULL;
		}
	w->counters.rx_not_ours++;
	return NULL;
}

/*
 * The peer still has an old connection of these ports, and acknowledges its data (RFC 9293, 3.5.1, figure 9).
 * The RST ends it. Then the SYN is sent again, the first time at once.
 */
static void
known_ports(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	bool room = fg_l4_room(w) != NULL;

	w->counters.bad_acks++;
	tcp_reject(w, s);
	if (s->flags & TCP_RST || !room || c->flags & SYN_AGAIN)
		return;
	w->counters.known_ports++;
	c->flags |= SYN_AGAIN;
	c->syn_due = 1;
	tcp_ready(w, c);
}

/* RFC 9293, 3.10.7.3 */
static void
syn_sent(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	bool acks = s->flags & TCP_ACK;

	if (acks && (seq_le(s->ack, c->snd_una) || seq_lt(c->snd_nxt, s->ack))) {
		known_ports(w, c, s);
		return;
	}
	if (s->flags & TCP_RST) {
		if (acks)
			tcp_end(w, c, FG_L4_END_REFUSED);
		return;
	}
	if (!(s->flags & TCP_SYN))
		return;
	tcp_negotiate(w, c, s);
	if (!acks) { /* both opened at the same time */
		c->state = SYN_RECEIVED;
		c->syn_due = 1; /* again, with an ACK */
		tcp_ready(w, c);
		return;
	}
	if (c->flags & SYN_ECN && (s->flags & (TCP_ECE | TCP_CWR)) == TCP_ECE)
		c->flags |= USE_ECN;
	if (c->backoff == 0)
		rtt_timed(w, c);
	c->snd_una++;
	c->stream.acked = 0;
	/* the application's data carry the ACK (RFC 9293, 3.10.7.3), unless the ACK has to go alone */
	if (!tcp_of(w, c)->handshake_ack_alone || !tcp_send_ack(w, c))
		c->flags |= ACK_NOW;
	rexmt_stop(c);
	tcp_established(w, c, s);
	/* payload on a SYN-ACK is ignored; the peer retransmits it */
	if (c->state != CLOSED)
		tcp_ready(w, c);
}

/* RFC 7323, 5.3 R1: is the segment from an earlier time? */
static bool
is_old(const struct fg_l4 *w, const struct conn *c, const struct segment *s)
{
	return (int32_t)(s->tsval - c->ts_recent) < 0 && (uint16_t)(ts_age(w) - c->ts_recent_at) < TS_OLD;
}

/* @return false: dropped */
static bool
check_timestamp(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (!(c->flags & USE_TS) || s->flags & TCP_RST)
		return true;
	if (!s->has_ts) { /* RFC 7323, 3.2 */
		w->counters.no_timestamp++;
		return false;
	}
	if (!is_old(w, c, s))
		return true;
	w->counters.paws_dropped++;
	c->flags |= ACK_NOW;
	tcp_ready(w, c);
	return false;
}

/* RFC 9293, 3.4: does any of it lie in the window? With a closed one, its ACK counts (3.10.7.4) */
static bool
in_window(const struct conn *c, const struct segment *s)
{
	uint32_t length = s->length + !!(s->flags & TCP_SYN) + !!(s->flags & TCP_FIN);
	uint32_t window = c->rcv_edge - c->rcv_nxt, from = s->seq - c->rcv_nxt;

	if (window == 0)
		return from == 0;
	return from < window || (length > 0 && from + length - 1 < window);
}

static void
outside(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	w->counters.out_of_window++;
	w->counters.duplicate_octets += seq_lt(s->seq, c->rcv_nxt) ? s->length : 0;
	if (s->flags & TCP_RST)
		return;
	if (c->state == SYN_RECEIVED && s->flags & TCP_SYN) {
		c->syn_due = 1; /* our SYN-ACK was lost */
	} else {
		if (s->length > 0 && c->flags & USE_SACK && seq_le(s->seq + s->length, c->rcv_nxt))
			own(w)->twice = (struct range){s->seq, s->seq + s->length};
		c->flags |= ACK_NOW;
		if (c->state == TIME_WAIT && s->flags & TCP_FIN) { /* RFC 9293, 3.10.7.4 */
			c->rexmt_at = tick_after(w, tcp_of(w, c)->time_wait_ms * NS_PER_MS);
			timer_update(w, c);
		}
		if (own(w)->twice.from != own(w)->twice.to && tcp_send_ack(w, c))
			c->flags &= ~(uint32_t)ACK_NOW;
		own(w)->twice = (struct range){0, 0};
	}
	tcp_ready(w, c);
}

/* RFC 5961, 3.2 */
static void
reset(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (s->seq != c->rcv_nxt) {
		w->counters.resets_ignored++;
		tcp_challenge(w, c);
	} else {
		/*
		 * both sides have sent and acknowledged everything: the peer no longer has the connection
		 * (3.10.7.4)
		 */
		tcp_end(w, c, c->state >= CLOSING ? FG_L4_END_CLOSED : FG_L4_END_RESET);
	}
}

/* RFC 9293, 3.10.7.4 and RFC 6191: a new connection may begin while the old one waits */
static bool
reopens(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (c->state != TIME_WAIT || (s->flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN)
		return false;
	if (c->flags & USE_TS && s->has_ts)
		return seq_lt(c->ts_recent, s->tsval) ||
		       (c->ts_recent == s->tsval && seq_lt(c->rcv_nxt, s->seq));
	return seq_lt(c->rcv_nxt, s->seq);
}

/* @return false: the segment ends here */
static bool
handshake_done(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (seq_le(s->ack, c->snd_una) || seq_lt(c->snd_nxt, s->ack)) {
		w->counters.bad_acks++;
		tcp_reject(w, s);
		return false;
	}
	if (c->backoff == 0)
		rtt_timed(w, c);
	c->snd_una++;
	c->stream.acked = 0;
	rexmt_stop(c);
	tcp_established(w, c, s);
	return c->state != CLOSED;
}

/* our FIN is acknowledged. @return false: the connection is over */
static bool
fin_acknowledged(struct fg_l4 *w, struct conn *c)
{
	switch (c->state) {
	case FIN_WAIT_1:
		c->state = FIN_WAIT_2;
		return true;
	case CLOSING:
		tcp_time_wait(w, c);
		return false;
	case LAST_ACK:
		tcp_end(w, c, FG_L4_END_CLOSED);
		return false;
	default:
		return true;
	}
}

/* @return false: the connection is over */
static bool
goes_on(struct fg_l4 *w, struct conn *c)
{
	if (c->flags & FIN_SENT && c->snd_una == c->snd_nxt && !fin_acknowledged(w, c))
		return false;
	if (!(c->flags & UNREAD))
		return true;
	tcp_receive_kept(w, c);
	return c->state != CLOSED;
}

static void
note_ecn(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (!(c->flags & USE_ECN))
		return;
	if (s->flags & TCP_CWR)
		c->flags &= ~(uint32_t)ECN_ECHO;
	if (s->ecn == ECN_CE) {
		w->counters.ce_received++;
		c->flags |= ECN_ECHO;
	}
}

/* all states that know the peer's sequence numbers (RFC 9293, 3.10.7.4) */
static void
synchronized(struct fg_l4 *w, struct conn *c, struct segment *s)
{
	/* an ACK owed to the segment before goes first, so that a burst does not merge ACKs */
	if (c->flags & ACK_NOW && s->length > 0 && tcp_send_ack(w, c))
		c->flags &= ~(uint32_t)ACK_NOW;
	if (!check_timestamp(w, c, s))
		return;
	/*
	 * both opened at the same time: the peer's SYN again, now with the ACK that we wait for (RFC 9293,
	 * 3.5)
	 */
	if (c->state == SYN_RECEIVED && (s->flags & (TCP_SYN | TCP_ACK | TCP_RST)) == (TCP_SYN | TCP_ACK) &&
	    s->seq + 1 == c->rcv_nxt && s->ack == c->snd_nxt) {
		s->flags &= (uint8_t)~TCP_SYN;
		s->seq++;
	}
	if (!in_window(c, s)) {
		outside(w, c, s);
		return;
	}
	if (s->flags & TCP_RST) {
		reset(w, c, s);
		return;
	}
	if (s->flags & TCP_SYN) { /* RFC 5961, 4.2 */
		tcp_challenge(w, c);
		return;
	}
	if (!(s->flags & TCP_ACK)) {
		w->counters.no_ack++;
		return;
	}
	if (s->has_ts && c->flags & USE_TS && seq_le(s->seq, c->last_ack) && !is_old(w, c, s)) {
		c->ts_recent = s->tsval;
		c->ts_recent_at = ts_age(w);
	}
	if (c->state == SYN_RECEIVED && !handshake_done(w, c, s))
		return;
	note_ecn(w, c, s);
	if (!tcp_ack(w, c, s) || c->state == CLOSED)
		return;
	if (c->flags & (FIN_SENT | UNREAD) && !goes_on(w, c))
		return;
	if (s->length > 0 || s->flags & TCP_FIN)
		tcp_receive(w, c, s);
}

void
tcp_input(struct fg_l4 *w, struct segment *s)
{
	struct conn *c = table_find(w, &s->flow, s->hash);

	if (c != NULL && reopens(w, c, s)) {
		w->counters.time_wait_reused++;
		tcp_end(w, c, FG_L4_END_CLOSED);
		c = NULL;
	}
	if (c == NULL)
		c = no_connection(w, s);
	if (c == NULL || c->state == CLOSED)
		return;
	if (c->state == SYN_SENT)
		syn_sent(w, c, s);
	else
		synchronized(w, c, s);
}
