/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of HTTP/2: GET and HEAD of a path that ends in a number, which is answered with that number of
 * bytes, and POST, whose body is read and whose answer has none. Responses are sent in turn, a frame of
 * each.
 */
#include "http2_priv.h"

static void
server_established(struct fg_l4 *w, struct fg_stream *s)
{
	struct h2_conn *c = h2_begin(w, s);

	if (c != NULL)
		h2_frame_begin(c, true);
}

static void
server_head(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	struct http2 *a = http2_of(w, s);

	if (a->doh != NULL)
		doh_begin(w, a, h2_conn_of(w, s), x);
	else
		x->body = x->is_post ? 0 : h2_conn_of(w, s)->fields.number;
}

static void
server_over(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	if (http2_of(w, s)->doh != NULL && !doh_answer(w, http2_of(w, s), x)) {
		h2_reset(w, s, x, H2_REFUSED_STREAM);
		return;
	}
	application_of(w, s)->base.tally.transactions++;
	x->left = x->is_head ? 0 : x->body;
	x->sends_head = true;
}

static void
server_failed(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, enum message_sum why)
{
	h2_note(w, s, why);
}

/* a client that will ask for nothing more has got everything */
static void
server_sent(struct fg_l4 *w, struct fg_stream *s)
{
	const struct h2_conn *c = h2_conn_of(w, s);

	if (c->flags & H2_PEER_ENDED && c->active == 0)
		h2_leave(w, s);
}

static void
server_arrived(struct fg_l4 *w, struct fg_stream *s)
{
	const struct h2_conn *c = h2_conn_of(w, s);

	if (c->flags & H2_OVER)
		return;
	h2_flush(w, s);
	if (c->active > 0)
		fg_stream_ready(w, s);
}

static void
server_eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	uint32_t next;

	c->flags |= H2_PEER_ENDED;
	for (uint32_t i = c->first; i != 0; i = next) {
		struct h2_exchange *x = h2_exchange_at(a, i);

		next = x->next;
		if (x->receives) /* the rest of it does not come */
			h2_give(a, c, x);
	}
	if (c->active > 0 && !(c->flags & H2_OVER))
		fg_stream_ready(w, s);
	else if (c->flags & H2_OVER)
		fg_stream_close(w, s);
	else
		h2_leave(w, s);
}

const struct h2_role h2_server_role = {false, server_head, server_over, server_failed, server_sent};

const struct fg_app_ops h2_server_ops = {
	.established = server_established,
	.receive = h2_receive,
	.arrived = server_arrived,
	.eof = server_eof,
	.acked = h2_acked,
	.refill = h2_refill,
	.fill = h2_fill,
	.closed = h2_closed,
};
