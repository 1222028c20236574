/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send one segment. Each segment carries an acknowledgement, so this file also clears owed acknowledgements.
 * Challenge ACKs are limited: each connection sends ten of them in any five seconds and no more (RFC 5961,
 * 7). With a limit per worker an attacker of one connection could use up the challenge ACKs of all others,
 * and detect connections by counting ACKs.
 */
#include "tcp_priv.h"

enum {
	CHALLENGES_AT_ONCE = 5,
	CHALLENGE_TICKS = 1000000000 >> TICK_SHIFT, /* and then one a second */
};

/*
 * The window where payload waits for the application. The edge only ever moves forward (RFC 9293,
 * 3.8.6.2.2). Bytes in a part of a scaled unit are accepted, though not announced (RFC 7323, 2.4). The window
 * is not rounded up: the edge would then move with each small segment, and the window would never close.
 */
static __attribute__((noinline)) uint32_t
window_beside_unread(const struct fg_l4 *w, const struct conn *c, uint32_t window)
{
	window -= fg_u32_min(window, unread(w, c));
	return seq_lt(c->rcv_nxt + window, c->rcv_edge) ? c->rcv_edge - c->rcv_nxt : window;
}

static uint16_t
window_field(const struct fg_l4 *w, struct conn *c, uint8_t flags)
{
	uint32_t window = buffer_of(w, c, tcp_of(w, c)->receive_buffer);

	if (flags & TCP_SYN)
		return (uint16_t)fg_u32_min(window, UINT16_MAX);
	if (c->flags & UNREAD)
		window = window_beside_unread(w, c, window);
	window >>= c->rcv_scale;
	window = fg_u32_min(window, UINT16_MAX);
	if (seq_lt(c->rcv_edge, c->rcv_nxt + (window << c->rcv_scale)))
		c->rcv_edge = c->rcv_nxt + (window << c->rcv_scale);
	return (uint16_t)window;
}

static uint8_t
ecn_flags(const struct conn *c, uint8_t flags)
{
	if (flags & TCP_SYN) {
		if (c->state == SYN_SENT && c->flags & SYN_ECN)
			return TCP_ECE | TCP_CWR;
		return c->state == SYN_RECEIVED && c->flags & USE_ECN ? TCP_ECE : 0;
	}
	return c->flags & ECN_ECHO ? TCP_ECE : 0;
}

static void
acknowledged(struct conn *c)
{
	c->flags &= ~(uint32_t)(ACK_NOW | ACK_LATER);
	c->delack_at = 0;
	c->unacked = 0;
	c->last_ack = c->rcv_nxt;
}

bool
tcp_send_control(struct fg_l4 *w, struct conn *c, uint8_t flags, uint32_t seq)
{
	uint8_t *frame = fg_l4_room(w), *options;
	struct tcp_fields t = {.seq = seq, .flags = flags | ecn_flags(c, flags)};

	if (frame == NULL)
		return false;
	options = frame + frame_ip_end(c->flow.ipv6) + TCP_HEADER;
	if (flags & TCP_SYN)
		t.options = options_syn(w, c, options);
	else
		t.options = options_plain(w, c, options, true);
	t.window = window_field(w, c, flags);
	if (flags & TCP_ACK) {
		t.ack = c->rcv_nxt;
		acknowledged(c);
	}
	frame_tcp(w, &c->flow, &t);
	return true;
}

bool
tcp_send_ack(struct fg_l4 *w, struct conn *c)
{
	return tcp_send_control(w, c, TCP_ACK, tcp_bare_seq(c));
}

bool
tcp_send_data(struct fg_l4 *w, struct conn *c, uint32_t seq, uint32_t length)
{
	uint8_t *frame = fg_l4_room(w), *payload;
	uint64_t offset = c->stream.acked + (seq - c->snd_una);
	bool fin = c->stream.ended && offset + length > c->stream.written;
	bool again = seq_lt(seq, c->snd_nxt);
	struct tcp_fields t = {.seq = seq, .ack = c->rcv_nxt, .flags = TCP_ACK | ecn_flags(c, 0)};

	if (frame == NULL)
		return false;
	t.payload = length - fin;
	t.flags |=
		(fin ? TCP_FIN : 0) | (offset + length >= c->stream.written && t.payload > 0 ? TCP_PSH : 0);
	if (c->flags & USE_ECN && t.payload > 0 && !again) { /* RFC 3168, 6.1.5: not what is sent again */
		t.ecn = ECN_ECT0;
		t.flags |= c->flags & ECN_CWR ? TCP_CWR : 0;
		c->flags &= ~(uint32_t)ECN_CWR;
	}
	payload = frame + frame_ip_end(c->flow.ipv6) + TCP_HEADER;
	t.options = options_plain(w, c, payload, false);
	payload += t.options;
	if (t.payload > c->mss)
		t.segment = c->mss;
	if (t.payload > 0)
		ops_of(w, c)->fill(w, &c->stream, offset, payload, (uint32_t)t.payload);
	t.window = window_field(w, c, 0);
	acknowledged(c);
	frame_tcp(w, &c->flow, &t);
	return true;
}

/* each challenge ACK uses a second; this many seconds may be used ahead of the clock */
static bool
may_challenge(const struct fg_l4 *w, const struct conn *c)
{
	uint32_t *taken = &own(w)->challenged[conn_index(w, c)], now = (uint32_t)(w->now >> TICK_SHIFT);
	uint32_t ahead = *taken - now;

	if (ahead > CHALLENGES_AT_ONCE * CHALLENGE_TICKS) /* it lies in the past */
		ahead = 0;
	if (ahead > (CHALLENGES_AT_ONCE - 1) * CHALLENGE_TICKS)
		return false;
	*taken = now + ahead + CHALLENGE_TICKS;
	return true;
}

void
tcp_challenge(struct fg_l4 *w, struct conn *c)
{
	if (!may_challenge(w, c)) {
		w->counters.challenges_held_back++;
		return;
	}
	w->counters.challenge_acks++;
	c->flags |= ACK_NOW;
	tcp_ready(w, c);
}

void
tcp_reject(struct fg_l4 *w, const struct segment *s)
{
	struct tcp_fields t = {.flags = TCP_RST};

	if (s->flags & TCP_RST || fg_l4_room(w) == NULL)
		return;
	if (s->flags & TCP_ACK) {
		t.seq = s->ack;
	} else {
		t.flags |= TCP_ACK;
		t.ack = s->seq + s->length + !!(s->flags & TCP_SYN) + !!(s->flags & TCP_FIN);
	}
	frame_tcp(w, &s->flow, &t);
}
