/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a connection: active or passive open, handshake, close, end. The states are from RFC 9293,
 * 3.3.2, except LISTEN, which is an application, not a connection.
 *
 * TIME_WAIT is kept by the side that closes first, for as long as the plan says (fg_l4_tcp.time_wait_ms),
 * with the whole connection, so that late segments are answered by RFC 9293. A new SYN ends it early if its
 * sequence number or time stamp is beyond the old connection's (RFC 6191), and so does an open of our own,
 * whose sequence number then begins beyond the old ones.
 */
#include <string.h>

#include "tcp_priv.h"

enum {
	IPV4_DEFAULT_MSS = 536, /* RFC 9293, 3.7.1 */
	IPV6_DEFAULT_MSS = 1220,
	TIMESTAMP_OCTETS = 12,
	ISN_NS_SHIFT = 12, /* the clock of RFC 9293, 3.4.1: one in about 4 us */
	REUSE_GAP = 1 << 16,
};

void
fg_l4_tcp_defaults(struct fg_l4_tcp *tcp)
{
	*tcp = (struct fg_l4_tcp){
		.receive_buffer = 1 << 20,
		.send_buffer = 1 << 20,
		.congestion = FG_L4_CUBIC,
		.initial_window = 10,
		.ack_every = 2,
		.syn_retries = 6,
		.retries = 15,
		.window_scaling = true,
		.timestamps = true,
		.sack = true,
		.delayed_ack_ms = 40,
		.rto_initial_ms = 1000,
		.rto_min_ms = 200,
		.rto_max_ms = 120000,
		.time_wait_ms = 1000,
	};
}

/* RFC 6528, with the hash that the table has anyway */
static uint32_t
initial_sequence(const struct fg_l4 *w, uint64_t hash)
{
	return (uint32_t)(w->now >> ISN_NS_SHIFT) + (uint32_t)(hash >> 32);
}

/* the least that brings the buffer into 16 bits (RFC 7323, 2.2) */
static uint8_t
scale_of(uint32_t buffer)
{
	return buffer > UINT16_MAX ? (uint8_t)(16 - __builtin_clz(buffer)) : 0;
}

static uint8_t
own_scale(const struct fg_l4 *w, const struct conn *c)
{
	return tcp_of(w, c)->window_scaling ? scale_of(tcp_of(w, c)->receive_buffer) & 15 : 0;
}

/* a connection in its first state, with the SYN still to be sent */
static struct conn *
begin(struct fg_l4 *w, unsigned app, const struct fg_flow *f, uint64_t hash, uint8_t state, uint32_t sequence)
{
	struct conn *c = table_take(w, f, hash);

	if (c == NULL) {
		w->counters.table_full++;
		return NULL;
	}
	c->stream.app = (uint8_t)app;
	c->state = state;
	c->snd_una = c->snd_nxt = c->recover = c->high_rxt = c->small_end = sequence;
	c->stream.acked = UINT64_MAX; /* the SYN comes before byte 0 */
	c->syn_due = 1;
	c->ts_offset = ts_offset_of(w, hash);
	c->rto = tcp_of(w, c)->rto_initial_ms * 1000;
	w->app[app]->tally.opened++;
	w->app[app]->open++;
	w->app[app]->open_max = fg_u32_max(w->app[app]->open_max, w->app[app]->open);
	c->rcv_scale = own_scale(w, c);
	tcp_ready(w, c);
	return c;
}

struct conn *
tcp_open(struct fg_l4 *w, unsigned app, const struct fg_flow *f)
{
	uint64_t hash = table_hash(w, f);
	struct conn *old = table_find(w, f, hash), *c;
	uint32_t sequence = initial_sequence(w, hash);

	if (old != NULL && old->state != TIME_WAIT)
		return NULL;
	if (old != NULL) {
		sequence = old->snd_nxt + REUSE_GAP;
		w->counters.time_wait_reused++;
		tcp_end(w, old, FG_L4_END_CLOSED);
	}
	c = begin(w, app, f, hash, SYN_SENT, sequence);
	if (c == NULL)
		return NULL;
	c->flags |= tcp_of(w, c)->ecn ? SYN_ECN : 0;
	w->counters.opened++;
	return c;
}

/* a half-open connection of a peer; NULL: no room */
static struct conn *
accept_syn(struct fg_l4 *w, unsigned app, const struct segment *s, uint32_t sequence)
{
	struct conn *c = begin(w, app, &s->flow, s->hash, SYN_RECEIVED, sequence);

	if (c == NULL)
		return NULL;
	half_open_add(w, c);
	tcp_agree(w, c, s);
	w->counters.accepted++;
	return c;
}

void
tcp_accept(struct fg_l4 *w, unsigned app, const struct segment *s)
{
	accept_syn(w, app, s, initial_sequence(w, s->hash));
}

struct conn *
tcp_accept_confirmed(struct fg_l4 *w, unsigned app, const struct segment *s, uint32_t sequence)
{
	struct conn *oldest = half_open_oldest(w), *c;

	if (oldest != NULL) {
		w->counters.half_open_dropped++;
		tcp_end(w, oldest, FG_L4_END_NO_ANSWER);
	}
	c = accept_syn(w, app, s, sequence);
	if (c == NULL)
		return NULL;
	/* the time of the SYN-ACK is unknown, so it gives no round-trip time */
	c->snd_una++;
	c->snd_nxt++;
	c->stream.acked = 0;
	tcp_established(w, c, s);
	return c;
}

void
tcp_agree(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	c->state = SYN_RECEIVED;
	c->flags |= PASSIVE;
	c->rcv_scale = own_scale(w, c);
	tcp_negotiate(w, c, s);
	if (tcp_of(w, c)->ecn && (s->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR))
		c->flags |= USE_ECN;
}

void
tcp_negotiate(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	const struct fg_l4_tcp *tcp = tcp_of(w, c);
	uint32_t theirs = s->has_mss ? s->mss : c->flow.ipv6 ? IPV6_DEFAULT_MSS : IPV4_DEFAULT_MSS;

	c->mss = (uint16_t)fg_u32_max(fg_u32_min(theirs, options_own_mss(w, c)), MIN_MSS);
	if (tcp->timestamps && s->has_ts) {
		c->flags |= USE_TS;
		c->mss = (uint16_t)(c->mss - TIMESTAMP_OCTETS);
		c->ts_recent = s->tsval;
		c->ts_recent_at = ts_age(w);
	}
	if (tcp->sack && s->sack_permitted)
		c->flags |= USE_SACK;
	if (tcp->window_scaling && s->has_scale) {
		c->flags |= USE_SCALE;
		c->snd_scale = s->scale & 15;
	} else {
		c->rcv_scale = 0;
	}
	c->rcv_nxt = c->last_ack = s->seq + 1;
	c->rcv_edge = c->rcv_nxt + fg_u32_min(buffer_of(w, c, tcp->receive_buffer), UINT16_MAX);
	/* the window of a SYN is never scaled */
	c->snd_wnd = c->max_wnd = s->window;
	c->snd_wl1 = s->seq;
}

void
tcp_established(struct fg_l4 *w, struct conn *c, const struct segment *s)
{
	if (c->flags & PASSIVE)
		half_open_remove(w, c);
	c->state = ESTABLISHED;
	congestion_init(w, c);
	rto_after_handshake(c);
	c->backoff = c->unanswered = 0;
	tcp_take_window(c, s);
	w->counters.established++;
	w->app[c->stream.app]->tally.established++;
	if (ops_of(w, c)->established != NULL)
		ops_of(w, c)->established(w, &c->stream);
}

void
tcp_abort(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
	/* no room for the RST: the peer gets one in answer to its next segment */
	if (c->state != SYN_SENT && c->state != TIME_WAIT)
		tcp_send_control(w, c, TCP_RST | TCP_ACK, tcp_bare_seq(c));
	tcp_end(w, c, end);
}

static void
report_closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
	if (c->flags & CLOSED_REPORTED)
		return;
	c->flags |= CLOSED_REPORTED;
	w->app[c->stream.app]->open--;
	w->app[c->stream.app]->tally.ended[end]++;
	if (ops_of(w, c)->closed != NULL)
		ops_of(w, c)->closed(w, &c->stream, end);
}

void
tcp_end(struct fg_l4 *w, struct conn *c, enum fg_l4_end end)
{
	if (c->state == CLOSED)
		return;
	if (c->state == SYN_RECEIVED && c->flags & PASSIVE)
		half_open_remove(w, c);
	c->state = CLOSED;
	timer_stop(w, c);
	table_remove(w, c);
	report_closed(w, c, end);
	if (!(c->flags & READY)) /* else it is given back when it leaves the list */
		table_give(w, c);
}

void
tcp_time_wait(struct fg_l4 *w, struct conn *c)
{
	c->state = TIME_WAIT;
	c->timer = TIMER_RTO;
	c->delack_at = c->app_at = 0;
	c->rexmt_at = tick_after(w, tcp_of(w, c)->time_wait_ms * NS_PER_MS);
	timer_update(w, c);
	report_closed(w, c, FG_L4_END_CLOSED);
}
