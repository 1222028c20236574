/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send in this order: lost data, new data, data perhaps lost (a rescue), a probe, a bare ACK. New bytes are
 * held back by the peer's window, by our congestion window and send buffer, by Nagle's algorithm (RFC 9293,
 * 3.7.4), and by the rule against silly windows (3.8.6.2.1). A connection sends a few segments, then the next
 * one has its turn. With segmentation offload many full segments are one here, as long as nothing is missing.
 */
#include "tcp_priv.h"

enum { SEGMENTS_A_TURN = 16, MAX_OPTIONS = 40, PARTS_OF_WINDOW = 4 };

/* of the FIN's number, if it may go with what ends before it */
static uint32_t
with_fin(const struct conn *c, uint32_t seq, uint32_t length)
{
	uint64_t end = c->stream.acked + (seq - c->snd_una) + length;

	return c->stream.ended && end == c->stream.written && !(c->flags & RESET_AT_END) ? length + 1
											 : length;
}

/*
 * RFC 9293, 3.8.6.2.1 and 3.7.4: is this enough to send? Nagle's algorithm as Minshall changed it,
 * and as the usual stacks have it: only another small segment in flight delays this one, not full ones.
 */
static bool
is_worth(const struct fg_l4 *w, const struct conn *c, uint64_t unsent, uint32_t usable)
{
	bool alone = flight(c) == 0 || tcp_of(w, c)->nodelay || seq_le(c->small_end, c->snd_una);
	uint64_t data = unsent < usable ? unsent : usable;

	if (data >= c->mss)
		return true;
	if (unsent <= usable) /* all of it; a FIN waits for nobody */
		return alone || c->stream.ended;
	return alone && usable >= c->max_wnd / 2;
}

/* RFC 5681, 4.1: after a pause the window no longer reflects the path */
static void
restart_after_idle(const struct fg_l4 *w, struct conn *c)
{
	uint32_t window = c->mss * (uint32_t)tcp_of(w, c)->initial_window;
	uint32_t now = (uint32_t)(w->now >> TICK_SHIFT);

	if (c->last_send != 0 && (uint64_t)(now - c->last_send) << TICK_SHIFT > c->rto * 1000ULL)
		c->cwnd = fg_u32_min(c->cwnd, window);
}

/*
 * Bytes that may go as one, for the port to cut: full segments for which the congestion window has room, and
 * a part of it, so that acknowledgements go on to come while others are under way.
 */
static uint32_t
octets_at_once(const struct fg_l4 *w, const struct conn *c)
{
	uint32_t headers = (uint32_t)frame_ip_end(c->flow.ipv6) + TCP_HEADER + MAX_OPTIONS, most;

	if (c->dupacks > 0 || c->loss != 0 || c->flags & ECN_CWR)
		return c->mss;
	most = fg_u32_min(w->out->capacity, UINT16_MAX) - headers;
	most = fg_u32_min(most, c->cwnd > flight(c) ? c->cwnd - flight(c) : 0);
	most = fg_u32_min(most, c->cwnd / PARTS_OF_WINDOW);
	return fg_u32_max(most - most % c->mss, c->mss);
}

/* numbers of new bytes, up to a limit, that the peer takes as one segment or as full ones; 0: nothing */
static uint32_t
new_segments(const struct fg_l4 *w, struct conn *c, uint32_t most)
{
	uint32_t room = fg_u32_min(c->snd_wnd, buffer_of(w, c, tcp_of(w, c)->send_buffer));
	uint32_t in_flight = flight(c), usable, length;
	uint64_t unsent = c->flags & FIN_SENT ? 0 : tcp_unsent(c), data;

	if (unsent == 0)
		return 0;
	if (in_flight == 0)
		restart_after_idle(w, c);
	usable = room > in_flight ? room - in_flight : 0;
	data = unsent - (c->stream.ended ? 1 : 0);
	if (data == 0 && c->flags & RESET_AT_END) {
		c->flags |= in_flight == 0 || w->app[c->stream.app]->resets_at_once ? RESET_NOW : 0;
		return 0;
	}
	if (data == 0) /* a FIN alone takes no window of the peer that is closed */
		return usable > 0 || in_flight == 0 ? 1 : 0;
	if (usable == 0 || !is_worth(w, c, data, usable))
		return 0;
	length = (uint32_t)(data < most ? data : most);
	length = fg_u32_min(length, usable);
	if (length > c->mss)
		length -= length % c->mss;
	return with_fin(c, c->snd_nxt, length);
}

/* does the path take it, too? */
static bool
fits_window(const struct fg_l4 *w, const struct conn *c, uint32_t length)
{
	uint32_t pipe = c->loss == 0 && !(c->flags & (IN_RECOVERY | IN_LOSS)) && c->dupacks == 0
				? flight(c)
				: recovery_pipe(w, c);

	return pipe == 0 || pipe + length <= c->cwnd;
}

static bool
send_new(struct fg_l4 *w, struct conn *c, uint32_t length)
{
	if (!tcp_send_data(w, c, c->snd_nxt, length))
		return false;
	if (c->dupacks > 0 && c->dupacks < DUP_THRESH && !(c->flags & (IN_RECOVERY | IN_LOSS)))
		w->counters.limited_transmits++;
	c->snd_nxt += length;
	if (c->loss != 0)
		recovery_sent(w, c, c->snd_nxt - length, length, false);
	if (length < c->mss)
		c->small_end = c->snd_nxt;
	if (tcp_unsent(c) == 0 && c->stream.ended) {
		c->flags |= FIN_SENT;
		c->state = c->state == CLOSE_WAIT ? LAST_ACK : FIN_WAIT_1;
	}
	if (!(c->flags & TIMING)) {
		c->flags |= TIMING;
		c->rtt_seq = c->snd_nxt;
		c->rtt_from = (uint32_t)(w->now >> RTT_SHIFT);
	}
	c->last_send = (uint32_t)(w->now >> TICK_SHIFT) | 1;
	return true;
}

static bool
send_again(struct fg_l4 *w, struct conn *c, uint32_t from, uint32_t to)
{
	uint32_t length = fg_u32_min(to - from, c->mss);

	/* the FIN goes with the last bytes, as it did before */
	if (to - from == length + 1 && to == c->snd_nxt && c->flags & FIN_SENT)
		length++;
	if (!tcp_send_data(w, c, from, length))
		return false;
	recovery_sent(w, c, from, length, true);
	if (c->flags & FIRST_RETRANSMIT) {
		c->flags &= ~(uint32_t)FIRST_RETRANSMIT;
		rexmt_start(w, c);
	}
	c->flags &= ~(uint32_t)TIMING; /* Karn: an acknowledgement is ambiguous */
	w->counters.segments_retransmitted++;
	w->counters.octets_retransmitted += length;
	return true;
}

enum outcome { NOTHING, SENT, NO_ROOM };

static bool
may_send_data(const struct conn *c)
{
	return c->state >= ESTABLISHED && c->state != FIN_WAIT_2 && c->state != TIME_WAIT;
}

/* before a segment leaves that is not full: has the application more for it? */
static bool
gathers_more(struct fg_l4 *w, struct conn *c, uint32_t length)
{
	return length > 0 && length < c->mss && !c->stream.ended && w->app[c->stream.app]->gathers &&
	       ops_of(w, c)->refill(w, &c->stream);
}

/* while nothing is missing: new data only */
static enum outcome
send_next(struct fg_l4 *w, struct conn *c)
{
	uint32_t length;

	do
		length = new_segments(w, c, w->out->cuts ? octets_at_once(w, c) : c->mss);
	while (gathers_more(w, c, length));
	if (!may_send_data(c))
		return SENT;
	c->limited = length > 0 && !fits_window(w, c, length);
	if (length == 0 || c->limited)
		return NOTHING;
	return send_new(w, c, length) ? SENT : NO_ROOM;
}

static enum outcome
send_one(struct fg_l4 *w, struct conn *c)
{
	bool window = fits_window(w, c, c->mss);
	uint32_t from, to, length, high_rxt = c->high_rxt;

	if (recovery_next(w, c, &from, &to) && (window || c->flags & FIRST_RETRANSMIT))
		return send_again(w, c, from, to) ? SENT : NO_ROOM;
	length = new_segments(w, c, c->mss);
	c->limited = length > 0 && !fits_window(w, c, length);
	if (length > 0 && !c->limited)
		return send_new(w, c, length) ? SENT : NO_ROOM;
	if (fg_l4_room(w) == NULL || !window || !recovery_rescue(w, c, &from, &to))
		return NOTHING;
	send_again(w, c, from, to);
	c->high_rxt = high_rxt; /* it says nothing of those before it (RFC 6675, NextSeg 4) */
	w->counters.rescue_retransmits++;
	return SENT;
}

/* RFC 8985, 7.3: new bytes if the peer takes any, else the last once more. @return false: no room */
static bool
send_tail_probe(struct fg_l4 *w, struct conn *c)
{
	uint32_t length = new_segments(w, c, c->mss), fin = c->flags & FIN_SENT ? 1 : 0,
		 high_rxt = c->high_rxt;

	if (flight(c) > 0) {
		c->tlp_again = length == 0;
		if (length > 0) {
			if (!send_new(w, c, length))
				return false;
		} else {
			length = fg_u32_min(flight(c), c->mss + fin);
			if (!send_again(w, c, c->snd_nxt - length, c->snd_nxt))
				return false;
			c->high_rxt = high_rxt;
		}
		c->flags |= TLP_OUT;
		c->tlp_end = c->snd_nxt;
		w->counters.tail_probes++;
	}
	c->flags &= ~(uint32_t)TLP_NOW;
	return true;
}

static bool
send_syn(struct fg_l4 *w, struct conn *c)
{
	if (!c->syn_due)
		return true;
	if (!tcp_send_control(w, c, c->state == SYN_SENT ? TCP_SYN : TCP_SYN | TCP_ACK, c->snd_una))
		return false;
	c->syn_due = 0;
	c->snd_nxt = c->snd_una + 1;
	c->rtt_from = (uint32_t)(w->now >> RTT_SHIFT);
	rexmt_start(w, c);
	return true;
}

/* one byte beyond the window if there is one to send, else one that the peer has already */
static bool
send_probe(struct fg_l4 *w, struct conn *c)
{
	bool window = c->flags & PROBING && flight(c) == 0 && tcp_unsent(c) > 0;

	if (window ? !tcp_send_data(w, c, c->snd_nxt, 1) : !tcp_send_control(w, c, TCP_ACK, c->snd_una - 1))
		return false;
	c->flags &= ~(uint32_t)PROBE_NOW;
	if (window) {
		c->flags |= PROBE_OUT;
		w->counters.window_probes++;
	} else {
		w->counters.keepalive_probes++;
	}
	return true;
}

/*
 * Send an RST in place of a FIN; the connection ends. A peer whose SYN-ACK is not acknowledged yet gets the
 * ACK first.
 */
static void
send_reset(struct fg_l4 *w, struct conn *c)
{
	if (c->flags & ACK_NOW && c->stream.acked == 0 && !tcp_send_ack(w, c))
		return;
	if (fg_l4_room(w) != NULL)
		tcp_abort(w, c, FG_L4_END_CLOSED);
}

/* segments without payload. @return false: no room, or the connection is over */
static bool
send_due(struct fg_l4 *w, struct conn *c)
{
	if (c->flags & RESET_NOW) {
		send_reset(w, c);
		return false;
	}
	return (!(c->flags & TLP_NOW) || send_tail_probe(w, c)) &&
	       (!(c->flags & PROBE_NOW) || send_probe(w, c));
}

/*
 * One deadline for two purposes: a delayed ACK leaves, and UNREAD payload is offered to the application
 * again, each time after the retransmission time-out.
 */
static void
delay_ack(struct fg_l4 *w, struct conn *c)
{
	c->delack_at = tick_after(w, c->flags & ACK_LATER ? tcp_of(w, c)->delayed_ack_ms * NS_PER_MS
							  : c->rto * 1000ULL);
	timer_update(w, c);
}

bool
tcp_output(struct fg_l4 *w, struct conn *c)
{
	enum outcome outcome = SENT;

	if (c->state == SYN_SENT || c->state == SYN_RECEIVED) /* our SYN carries the owed ACK */
		return send_syn(w, c) && (!(c->flags & ACK_NOW) || tcp_send_ack(w, c));
	/* selective acknowledgements go by themselves, since segments with payload have no room for them */
	if (c->flags & ACK_NOW && c->holding != 0 && !tcp_send_ack(w, c))
		return false;
	for (unsigned i = 0; may_send_data(c) && outcome == SENT && i < SEGMENTS_A_TURN; i++) {
		outcome = c->flags & (IN_RECOVERY | IN_LOSS) ? send_one(w, c) : send_next(w, c);
		if (outcome == NOTHING && ops_of(w, c)->refill != NULL && ops_of(w, c)->refill(w, &c->stream))
			outcome = SENT;
	}
	if (outcome == NO_ROOM || (c->flags & (RESET_NOW | TLP_NOW | PROBE_NOW) && !send_due(w, c)))
		return false;
	if (c->flags & ACK_NOW && !tcp_send_ack(w, c))
		return false;
	if (c->flags & (ACK_LATER | UNREAD) && c->delack_at == 0)
		delay_ack(w, c);
	rexmt_review(w, c);
	return outcome != SENT || !may_send_data(c);
}
