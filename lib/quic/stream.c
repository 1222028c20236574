/* SPDX-License-Identifier: BSD-3-Clause */
/* What applications call of a stream that goes through QUIC (struct fg_layer), and what the worker polls. */
#include "quic_priv.h"

static struct carrier *
below(const struct fg_l4 *w, unsigned app)
{
	return (struct carrier *)w->app[w->app[app]->below];
}

static struct fg_stream *
layer_open(struct fg_l4 *w, unsigned app, const struct fg_flow *flow)
{
	struct carrier *c = below(w, app);
	struct quic *q;

	if (c->under_way >= c->config.handshakes_at_once) {
		c->tally.deferred++;
		return NULL;
	}
	q = conn_create(w, c, flow, NULL, NULL);
	if (q == NULL)
		return NULL;
	conn_announce(q);
	return &q->stream;
}

static void
layer_write(struct fg_l4 *w, struct fg_stream *s, uint64_t octets)
{
	s->written += octets;
	ready_put(quic_of(s));
}

static void
layer_ready(struct fg_l4 *w, struct fg_stream *s)
{
	ready_put(quic_of(s));
}

static void
layer_truncate(struct fg_l4 *w, struct fg_stream *s)
{
	if (!s->ended)
		s->written = quic_of(s)->sent;
}

static void
layer_reset(struct fg_l4 *w, struct fg_stream *s)
{
	conn_leave(w, quic_of(s), 0);
}

static void
layer_close(struct fg_l4 *w, struct fg_stream *s)
{
	if (s->ended)
		return;
	s->ended = true;
	if (quic_of(s)->phase == SHAKING && !quic_of(s)->is_early)
		layer_reset(w, s);
	else if (streams_of(quic_of(s)) != NULL)
		conn_finish(w, quic_of(s), FG_L4_END_CLOSED);
	else
		ready_put(quic_of(s));
}

static void
layer_timer(struct fg_l4 *w, struct fg_stream *s, uint64_t ns)
{
	struct quic *q = quic_of(s);

	q->app_at = ns == UINT64_MAX ? ns : w->now + ns;
	conn_schedule(w, q);
}

static bool
layer_is_established(const struct fg_l4 *w, const struct fg_stream *s)
{
	const struct quic *q = (const struct quic *)s;

	return q->phase == OPEN && !q->over;
}

static void
layer_each(struct fg_l4 *w, unsigned app, void (*visit)(struct fg_l4 *w, struct fg_stream *s))
{
	struct carrier *c = below(w, app);

	for (uint32_t i = 1; i < c->pool.fresh; i++) {
		struct quic *q = quic_at(c, i);

		if (q->phase != NOBODY && q->known && !q->over)
			visit(w, &q->stream);
	}
}

static uint32_t
layer_number(const struct fg_l4 *w, const struct fg_stream *s)
{
	return index_of((const struct quic *)s);
}

const struct fg_layer quic_layer = {
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

static void
act(struct fg_l4 *w, struct quic *q)
{
	bool follows = q->phase <= OPEN && q->paths.kept != NULL && q->paths.kept_until <= w->now;

	if (!follows || input_kept(w, q, true))
		conn_act(w, q);
}

static uint64_t
poll(struct fg_l4 *w, struct fg_app *app)
{
	struct carrier *c = (struct carrier *)app;

	while (due_next(c) <= w->now)
		act(w, due_first(c));
	return output_all(w, c) ? w->now : due_next(c);
}

const struct fg_app_ops quic_ops = {
	.poll = poll, .datagram = input_datagram, .unreachable = input_unreachable};
