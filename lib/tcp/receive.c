/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payload. Payload in order goes to the application and is discarded. Out-of-order payload also goes there,
 * marked early, and only its numbers are kept, since the application checks bytes by their position. If the
 * application rejects it (a header is not whole yet), the payload is kept. Without room for the payload or
 * the numbers, the segment counts as lost and is retransmitted.
 *
 * Acknowledgements: every second full segment, or after the delay (RFC 9293, 3.8.6.3; RFC 5681, 4.2), and at
 * once when something is out of order, fills a gap, or came twice.
 */
#include "tcp_priv.h"

static void
trim(struct fg_l4 *w, struct conn *c, struct segment *s)
{
	const struct ranges *held = held_of(w, c);
	bool ends = held != NULL && held->has_fin && seq_lt(held->fin, c->rcv_edge);
	uint32_t edge = ends ? held->fin : c->rcv_edge, before, beyond;

	if (seq_lt(s->seq, c->rcv_nxt)) {
		before = c->rcv_nxt - s->seq;
		before = fg_u32_min(before, s->length);
		w->counters.duplicate_octets += before;
		s->payload += before;
		s->seq += before;
		s->length -= before;
		c->flags |= ACK_NOW;
	}
	if (seq_lt(edge, s->seq + s->length)) { /* the window's, or the FIN's */
		beyond = fg_u32_min(s->seq + s->length - edge, s->length);
		w->counters.out_of_window += beyond == s->length;
		s->length -= beyond;
		s->flags &= (uint8_t)~TCP_FIN;
		c->flags |= ACK_NOW;
	}
}

static void
owe_ack(struct fg_l4 *w, struct conn *c, uint32_t length)
{
	const struct fg_l4_tcp *tcp = tcp_of(w, c);

	/* a segment that is not full may be the last: its ACK may be delayed, and it counts as a full one */
	if (length > c->mss && length > options_own_mss(w, c)) /* several, which the port has put together */
		c->flags |= ACK_NOW;
	else if (length > 0)
		c->unacked++;
	if (c->unacked >= tcp->ack_every || tcp->delayed_ack_ms == 0) {
		c->flags |= ACK_NOW;
		return;
	}
	c->flags |= ACK_LATER; /* output.c sets the timer if nothing leaves */
}

/* the application has taken bytes */
static void
move_on(struct fg_l4 *w, struct conn *c, uint32_t octets)
{
	w->app[c->stream.app]->tally.octets_in += octets;
	c->stream.received += octets;
}

/* what the application took early need not be read */
static void
skip_early(struct fg_l4 *w, struct conn *c, struct ranges *held)
{
	uint32_t to = kept_begin(w, held, held->read, c->rcv_nxt);

	move_on(w, c, to - held->read);
	held->read = to;
	if (to == c->rcv_nxt)
		c->flags &= ~(uint32_t)UNREAD;
}

/* held payload may now be in order: acknowledge it, and have it read */
static void
join_held(struct fg_l4 *w, struct conn *c)
{
	struct ranges *held = held_of(w, c);

	c->flags |= ACK_NOW; /* a gap was filled, at least in part */
	ranges_cut(held, c->rcv_nxt);
	if (held->count > 0 && held->at[0].from == c->rcv_nxt) {
		if (!(c->flags & UNREAD))
			held->read = c->rcv_nxt;
		c->flags |= UNREAD;
		c->rcv_nxt = held->at[0].to;
		ranges_cut(held, c->rcv_nxt);
		skip_early(w, c, held);
	}
	if (held->count == 0 && !held->has_fin && !(c->flags & UNREAD))
		held_free(w, c);
}

static bool
arrived(struct fg_l4 *w, struct conn *c)
{
	if (ops_of(w, c)->arrived != NULL)
		ops_of(w, c)->arrived(w, &c->stream);
	return c->state != CLOSED;
}

/* payload in order. @return false: rejected by the application, or the connection is over */
static inline bool
take_payload(struct fg_l4 *w, struct conn *c, const uint8_t *payload, uint32_t length)
{
	if (!ops_of(w, c)->receive(w, &c->stream, c->stream.received, payload, length, false)) {
		w->counters.not_used++;
		return false;
	}
	if (c->state == CLOSED)
		return false;
	move_on(w, c, length);
	c->rcv_nxt += length;
	owe_ack(w, c, length);
	if (c->holding != 0)
		join_held(w, c);
	return arrived(w, c);
}

/* of a block, for the application */
struct kept_times {
	struct fg_held held; /* first */
	uint64_t since, now;
};

static bool
kept_waited(const struct fg_held *held, uint32_t offset, uint64_t *from, uint64_t *to)
{
	*from = ((const struct kept_times *)held)->since;
	*to = ((const struct kept_times *)held)->now;
	return true;
}

static bool
offer_kept(struct fg_l4 *w, struct conn *c, const struct kept *k, uint32_t had)
{
	struct kept_times times = {{kept_waited, k->data + had}, k->since, w->now};
	bool taken;

	w->held = &times.held;
	taken = ops_of(w, c)->receive(w, &c->stream, c->stream.received, k->data + had, k->length - had,
				      false);
	w->held = NULL;
	return taken;
}

/* offer kept payload to the application, in order, until it rejects some */
static void
take_kept(struct fg_l4 *w, struct conn *c)
{
	bool all = true;

	while (all && c->flags & UNREAD) {
		struct ranges *held = held_of(w, c);
		const struct kept *k = kept_at(w, held->kept);
		uint32_t had = held->read - k->seq, length = k->length - had;

		if (!offer_kept(w, c, k, had))
			return;
		if (c->state == CLOSED)
			return;
		c->flags |= ACK_NOW; /* there is more room */
		move_on(w, c, length);
		held->read += length;
		skip_early(w, c, held);
		if (held->count == 0 && !held->has_fin && !(c->flags & UNREAD))
			held_free(w, c);
		all = arrived(w, c);
	}
}

/* while the application has not taken earlier payload, new payload is kept behind it */
static void
in_order(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (c->flags & UNREAD) {
		kept_add(w, held_of(w, c), s->seq, s->payload, s->length);
		join_held(w, c);
	} else if (take_payload(w, c, s->payload, s->length) && c->flags & UNREAD) {
		take_kept(w, c);
	}
}

/* payload that is not in the set. @return whether it is now */
static bool
hold_part(struct fg_l4 *w, struct conn *c, struct ranges *held, uint32_t seq, const uint8_t *payload,
	  uint32_t length)
{
	uint64_t offset = c->stream.received + unread(w, c) + (seq - c->rcv_nxt);
	bool room = held->count < MAX_RANGES || seq_le(seq, held->at[MAX_RANGES - 1].to);

	if (room && !ops_of(w, c)->receive(w, &c->stream, offset, payload, length, true))
		return c->state != CLOSED && kept_add(w, held, seq, payload, length);
	if (c->state == CLOSED)
		return false;
	if (!room || ranges_add(held, seq, seq + length) == UINT32_MAX) {
		w->counters.no_ranges++;
		return false;
	}
	return true;
}

/* @return whether the set now has the payload */
static bool
hold(struct fg_l4 *w, struct conn *c, const struct segment *s, struct ranges *held)
{
	uint32_t at = s->seq, to;
	bool all = true;

	while (all && ranges_gap(held, at, s->seq + s->length, &at, &to))
		all = hold_part(w, c, held, at, s->payload + (at - s->seq), to - at);
	if (c->state == CLOSED)
		return false;
	if (ranges_missing(held, s->seq, s->seq + 1) == 0)
		held->latest = s->seq; /* also where only a part of it is there (RFC 2018, 4) */
	return all;
}

static void
ahead(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	struct ranges *held;

	if (seq_lt(s->seq, c->rcv_nxt)) /* with what was kept, all of it has come */
		return;
	w->counters.out_of_order++;
	c->flags |= ACK_NOW;
	held = held_of(w, c);
	if (held == NULL) {
		c->holding = fg_pool_take(&own(w)->ranges);
		held = held_of(w, c);
		if (held == NULL) {
			w->counters.no_ranges++;
			return;
		}
		held->count = held->kept = held->kept_last = held->kept_news = 0;
		held->has_fin = false;
	}
	if ((s->length == 0 || hold(w, c, s, held)) && s->flags & TCP_FIN) {
		held->has_fin = true;
		held->fin = s->seq + s->length;
	}
	if (c->state != CLOSED && held->count == 0 && !held->has_fin && !(c->flags & UNREAD))
		held_free(w, c);
}

/* is the FIN next? It waits behind payload that waits for the application */
static bool
fin_is_due(const struct fg_l4 *w, const struct conn *c)
{
	const struct ranges *held = held_of(w, c);

	return held != NULL && held->has_fin && held->fin == c->rcv_nxt && !(c->flags & UNREAD);
}

/* RFC 9293, 3.10.7.4, eighth */
static inline void
fin(struct fg_l4 *w, struct conn *c)
{
	if (c->holding != 0)
		held_free(w, c);
	c->rcv_nxt++; /* no byte of the stream */
	c->flags |= ACK_NOW;
	switch (c->state) {
	case ESTABLISHED:
		c->state = CLOSE_WAIT;
		break;
	case FIN_WAIT_1:
		c->state = CLOSING;
		break;
	}
	ops_of(w, c)->eof(w, &c->stream);
	if (c->state == FIN_WAIT_2)
		tcp_time_wait(w, c);
}

void
tcp_receive_kept(struct fg_l4 *w, struct conn *c)
{
	take_kept(w, c);
	if (c->state == CLOSED)
		return;
	if (fin_is_due(w, c))
		fin(w, c);
	if (c->state != CLOSED)
		tcp_ready(w, c);
}

void
tcp_receive(struct fg_l4 *w, struct conn *c, struct segment *s)
{
	bool last;

	if (c->state != ESTABLISHED && c->state != FIN_WAIT_1 && c->state != FIN_WAIT_2)
		return;
	trim(w, c, s);
	if (s->seq != c->rcv_nxt)
		ahead(w, c, s);
	else if (s->length > 0)
		in_order(w, c, s);
	if (c->state == CLOSED)
		return;
	last = s->flags & TCP_FIN && s->seq + s->length == c->rcv_nxt;
	if (last && c->flags & UNREAD) {
		held_of(w, c)->has_fin = true;
		held_of(w, c)->fin = c->rcv_nxt;
		c->flags |= ACK_NOW;
	} else if (last || fin_is_due(w, c)) {
		fin(w, c);
	}
	if (c->state != CLOSED)
		tcp_ready(w, c);
}
