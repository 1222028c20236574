/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP connection as a stream: what applications call (fg_stream.h). Close means that the application has
 * written all; the state changes when the FIN leaves. The layer of a stream implements these functions, and
 * calls them for the connection below.
 */
#include "tcp_priv.h"

static const struct fg_layer *
layer_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return w->app[s->app]->layer;
}

struct fg_stream *
fg_stream_open(struct fg_l4 *w, unsigned app, const struct fg_flow *flow)
{
	struct conn *c;

	if (w->app[app]->layer != NULL)
		return w->app[app]->layer->open(w, app, flow);
	c = tcp_open(w, app, flow);
	return c == NULL ? NULL : &c->stream;
}

void
fg_stream_control(const struct fg_l4 *w, struct fg_stream *s)
{
	if (layer_of(w, s) == NULL)
		conn_of(s)->flags |= CONTROLS;
}

void
fg_stream_ready(struct fg_l4 *w, struct fg_stream *s)
{
	if (layer_of(w, s) != NULL)
		layer_of(w, s)->ready(w, s);
	else
		tcp_ready(w, conn_of(s));
}

void
fg_stream_write(struct fg_l4 *w, struct fg_stream *s, uint64_t octets)
{
	if (layer_of(w, s) != NULL) {
		layer_of(w, s)->write(w, s, octets);
		return;
	}
	s->written += octets;
	tcp_ready(w, conn_of(s));
}

void
fg_stream_truncate(struct fg_l4 *w, struct fg_stream *s)
{
	const struct conn *c = conn_of(s);

	if (layer_of(w, s) != NULL)
		layer_of(w, s)->truncate(w, s);
	else if (c->state >= ESTABLISHED && !s->ended)
		s->written = s->acked + flight(c);
}

void
fg_stream_close(struct fg_l4 *w, struct fg_stream *s)
{
	struct conn *c = conn_of(s);

	if (layer_of(w, s) != NULL) {
		layer_of(w, s)->close(w, s);
		return;
	}
	if (c->state == SYN_SENT) {
		tcp_end(w, c, FG_L4_END_ABORTED);
		return;
	}
	s->ended = true;
	if (tcp_of(w, c)->reset && !(c->flags & PASSIVE))
		c->flags |= RESET_AT_END;
	tcp_ready(w, c);
}

void
fg_stream_abort(struct fg_l4 *w, struct fg_stream *s)
{
	if (layer_of(w, s) != NULL)
		layer_of(w, s)->reset(w, s);
	else
		tcp_abort(w, conn_of(s), FG_L4_END_ABORTED);
}

void
fg_stream_timer(struct fg_l4 *w, struct fg_stream *s, uint64_t ns)
{
	struct conn *c = conn_of(s);

	if (layer_of(w, s) != NULL) {
		layer_of(w, s)->timer(w, s, ns);
		return;
	}
	c->app_at = ns == UINT64_MAX ? 0 : tick_after(w, ns);
	if (c->app_at != 0)
		timer_update(w, c);
}

const struct fg_flow *
fg_stream_flow(const struct fg_stream *s)
{
	return &conn_of(s)->flow;
}

uint64_t
fg_stream_sent(const struct fg_stream *s)
{
	uint64_t sent = s->acked + flight(conn_of(s));

	return sent < s->written ? sent : s->written; /* a FIN is no byte */
}

bool
fg_stream_is_established(const struct fg_l4 *w, const struct fg_stream *s)
{
	if (layer_of(w, s) != NULL)
		return layer_of(w, s)->is_established(w, s);
	return conn_of(s)->state >= ESTABLISHED && conn_of(s)->state != TIME_WAIT;
}

uint32_t
fg_stream_some(struct fg_l4 *w, unsigned app, uint32_t from, uint32_t most,
	       void (*visit)(struct fg_l4 *w, struct fg_stream *s))
{
	if (w->app[app]->layer != NULL) {
		w->app[app]->layer->each(w, app, visit);
		return 0;
	}
	for (from = fg_u32_max(from, 1); from < own(w)->fresh && most > 0; from++, most--) {
		struct conn *c = &own(w)->conn[from];

		if (c->state != CLOSED && c->stream.app == app && c->state != TIME_WAIT)
			visit(w, &c->stream);
	}
	return from < own(w)->fresh ? from : 0;
}

void
fg_stream_each(struct fg_l4 *w, unsigned app, void (*visit)(struct fg_l4 *w, struct fg_stream *s))
{
	fg_stream_some(w, app, 0, UINT32_MAX, visit);
}

uint32_t
fg_stream_number(const struct fg_l4 *w, const struct fg_stream *s)
{
	return layer_of(w, s) != NULL ? layer_of(w, s)->number(w, s) : conn_index(w, conn_of(s));
}

struct fg_stream *
fg_stream_at(const struct fg_l4 *w, uint32_t number)
{
	return &own(w)->conn[number].stream;
}

uint32_t
fg_stream_segment(const struct fg_stream *s)
{
	return conn_of(s)->mss;
}

bool
fg_stream_any_waits(const struct fg_l4 *w)
{
	return own(w)->ready_head != 0;
}

void
fg_stream_sample(const struct fg_l4 *w, unsigned app, struct fg_stream_sample *out)
{
	unsigned carrier = w->app[app]->layer == NULL ? app : w->app[app]->below;
	uint64_t n = 0, cwnd = 0, window = 0, in_flight = 0, rtt = 0;

	for (uint32_t i = 1; i < own(w)->fresh && i <= FG_L4_SAMPLED; i++) {
		const struct conn *c = &own(w)->conn[i];

		if (c->stream.app != carrier || c->state < ESTABLISHED || c->state == TIME_WAIT)
			continue;
		n++;
		cwnd += c->cwnd;
		window += c->snd_wnd;
		in_flight += flight(c);
		rtt += c->srtt;
	}
	*out = (struct fg_stream_sample){.streams = (uint32_t)n};
	if (n == 0)
		return;
	out->cwnd = (uint32_t)(cwnd / n);
	out->window = (uint32_t)(window / n);
	out->flight = (uint32_t)(in_flight / n);
	out->rtt_us = (uint32_t)(rtt / n);
}
