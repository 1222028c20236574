/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A secured stream: what its application calls (struct fg_layer), and what TCP does with the connection below
 * (struct fg_app_ops). Closing is close_notify, then FIN; the peer's end is whichever comes first.
 */
#include "secure_priv.h"

/* --- what applications call */

static struct fg_stream *
layer_open(struct fg_l4 *w, unsigned app, const struct fg_flow *flow)
{
	struct carrier *c = (struct carrier *)w->app[w->app[app]->below];
	struct fg_stream *tcp;

	if (c->all->under_way >= c->config.handshakes_at_once) {
		c->tally.deferred++;
		return NULL;
	}
	tcp = fg_stream_open(w, c->base.index, flow);
	return tcp == NULL ? NULL : &secure_take(w, c, tcp)->plain;
}

static void
layer_write(struct fg_l4 *w, struct fg_stream *s, uint64_t octets)
{
	s->written += octets;
	outbox_lay_out(w, (struct secured *)s, tcp_below(w, s));
}

static void
layer_ready(struct fg_l4 *w, struct fg_stream *s)
{
	fg_stream_ready(w, tcp_below(w, s));
}

static void
layer_truncate(struct fg_l4 *w, struct fg_stream *s)
{
	struct secured *t = (struct secured *)s;

	if (s->ended)
		return;
	outbox_cut(w, t, tcp_below(w, s));
	s->written = t->laid_out;
}

static void
layer_close(struct fg_l4 *w, struct fg_stream *s)
{
	struct secured *t = (struct secured *)s;

	if (s->ended)
		return;
	s->ended = true;
	if (t->flags & ESTABLISHED)
		secure_finish(w, t, tcp_below(w, s));
	else if (!(t->flags & CONNECTED))
		fg_stream_close(w, tcp_below(w, s));
}

static void
layer_reset(struct fg_l4 *w, struct fg_stream *s)
{
	fg_stream_abort(w, tcp_below(w, s));
}

static void
layer_timer(struct fg_l4 *w, struct fg_stream *s, uint64_t ns)
{
	fg_stream_timer(w, tcp_below(w, s), ns);
}

static bool
layer_is_established(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (((const struct secured *)s)->flags & (ESTABLISHED | FAILED)) == ESTABLISHED;
}

static void
layer_each(struct fg_l4 *w, unsigned app, void (*visit)(struct fg_l4 *w, struct fg_stream *s))
{
	struct secure *all = ((struct carrier *)w->app[w->app[app]->below])->all;

	for (uint32_t i = 1; i <= all->highest; i++)
		if (all->stream[i].id != 0 && all->stream[i].plain.app == app)
			visit(w, &all->stream[i].plain);
}

static uint32_t
layer_number(const struct fg_l4 *w, const struct fg_stream *s)
{
	return fg_stream_number(w, tcp_below(w, s));
}

const struct fg_layer secure_layer = {
	.open = layer_open,
	.write = layer_write,
	.ready = layer_ready,
	.truncate = layer_truncate,
	.close = layer_close,
	.reset = layer_reset,
	.timer = layer_timer,
	.is_established = layer_is_established,
	.each = layer_each,
	.number = layer_number,
};

/* --- what TCP does */

static bool
tcp_receive_records(struct fg_l4 *w, struct fg_stream *tcp, uint64_t offset, const uint8_t *data,
		    uint32_t length, bool early)
{
	struct carrier *c = carrier_of(w, tcp);
	const struct secured *t = secured_of(w, tcp);

	/* a busy server: the client retransmits the ClientHello */
	if (t->id != 0 && !(t->flags & (ESTABLISHED | FAILED)) && t->handshake == NULL &&
	    c->all->under_way >= c->config.handshakes_at_once) {
		c->tally.deferred++;
		return false;
	}
	return inbox_receive(w, tcp, offset, data, length, early);
}

static void
tcp_acked(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct secured *t = secured_of(w, tcp);
	uint64_t acked, id = t->id, data;

	if (id == 0)
		return;
	acked = outbox_acked(w, t, tcp);
	if (acked == t->plain.acked)
		return;
	data = acked < t->plain.written ? acked : t->plain.written;
	w->app[t->plain.app]->tally.octets_out += data > t->plain.acked ? data - t->plain.acked : 0;
	t->plain.acked = acked;
	if (ops_above(w, t)->acked != NULL)
		ops_above(w, t)->acked(w, &t->plain);
	if (t->id == id && t->first_block != 0) /* what the application could not use until now */
		inbox_arrived(w, tcp);
}

static bool
tcp_refill(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct secured *t = secured_of(w, tcp);

	if ((t->flags & (CAN_WRITE | FAILED | CLOSE_SENT)) != CAN_WRITE)
		return false;
	if (t->laid_out < t->plain.written) {
		if (fg_stream_sent(tcp) < tcp->written)
			return false;
		outbox_lay_out(w, t, tcp);
	} else if (!t->plain.ended) {
		return ops_above(w, t)->refill != NULL && ops_above(w, t)->refill(w, &t->plain);
	} else if (!(t->flags & ESTABLISHED)) {
		return false;
	}
	if (t->plain.ended)
		secure_finish(w, t, tcp);
	return true;
}

static void
tcp_eof(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct secured *t = secured_of(w, tcp);
	struct carrier *c = carrier_of(w, tcp);

	if (t->id == 0 || t->flags & CLOSE_RECEIVED)
		return;
	if (t->flags & FAILED ||
	    !(t->flags & ESTABLISHED)) { /* in a handshake there is nothing to wait for */
		handshake_free(c->all, t);
		inbox_free(c->all, t);
		fg_stream_close(w, tcp);
		return;
	}
	c->tally.truncated += !tcp->ended; /* we wait for no more (RFC 8446, 6.1) */
	secure_eof(w, t);
}

/* a handshake that the tester itself ends after the stop, in its turn of a ramp down, is no failure */
static bool
is_cut_short(const struct fg_l4 *w, const struct carrier *c, const struct secured *t)
{
	return w->now >= w->stop_at && (!(t->flags & CONNECTED) || w->now - t->began < c->config.timeout_ns);
}

static void
tcp_timer(struct fg_l4 *w, struct fg_stream *tcp)
{
	struct secured *t = secured_of(w, tcp);

	if (t->id == 0)
		return;
	if (t->flags & ESTABLISHED) {
		ops_above(w, t)->timer(w, &t->plain);
	} else if (!(t->flags & FAILED)) {
		carrier_of(w, tcp)->tally.timed_out += !is_cut_short(w, carrier_of(w, tcp), t);
		fg_stream_abort(w, tcp);
	}
}

static void
tcp_closed(struct fg_l4 *w, struct fg_stream *tcp, enum fg_l4_end end)
{
	struct carrier *c = carrier_of(w, tcp);
	struct secured *t = secured_of(w, tcp);
	struct fg_app *app = c->above;

	if (t->id == 0) /* a server's that was never established */
		return;
	if (t->flags & CONNECTED && !(t->flags & (ESTABLISHED | FAILED)) &&
	    !(end == FG_L4_END_ABORTED && is_cut_short(w, c, t))) {
		c->tally.failed++;
		c->tally.cut += end != FG_L4_END_ABORTED;
	}
	/* a peer that is done need not wait for our close_notify, which its host then answers by RST */
	if (end == FG_L4_END_RESET && t->flags & CLOSE_SENT && t->flags & CLOSE_RECEIVED)
		end = FG_L4_END_CLOSED;
	if (end == FG_L4_END_CLOSED && (t->flags & FAILED || !(t->flags & ESTABLISHED)))
		end = FG_L4_END_ABORTED;
	handshake_free(c->all, t);
	outbox_free(c->all, t);
	inbox_free(c->all, t);
	app->open--;
	app->tally.ended[end]++;
	if (app->ops->closed != NULL)
		app->ops->closed(w, &t->plain, end);
	t->id = 0;
	t->flags = FAILED;
}

const struct fg_app_ops secure_ops = {
	.established = handshake_begin,
	.receive = tcp_receive_records,
	.arrived = inbox_arrived,
	.eof = tcp_eof,
	.acked = tcp_acked,
	.refill = tcp_refill,
	.fill = outbox_fill,
	.closed = tcp_closed,
	.timer = tcp_timer,
};
