/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests without a receiver, at a configured rate on each connection: each is reset as soon as it has left,
 * before its answer. A server, or a device in the path, must cope with them or end the connection with
 * H3_EXCESSIVE_LOAD (RFC 9114, 10.5). HTTP/3 has no PING, and a second SETTINGS is an error.
 */
#include "http3_priv.h"

enum { MOST_A_SECOND = 1000 };
static const uint64_t SECOND_NS = 1000000000;

static void
h3_flood(struct fg_l4 *w, struct fg_stream *s)
{
	struct http3 *a = http3_of(w, s);
	struct h3_conn *c = h3_conn_of(w, s);
	int64_t id;

	if (c->flags & (H3_OVER | H3_LEAVING) || c->unwanted > 0 || !fg_quic_open(w, s, true, &id))
		return;
	if (nghttp3_conn_submit_request(c->http, id, a->request, a->request_fields, NULL, NULL) != 0) {
		fg_quic_reset(w, s, id, NGHTTP3_H3_REQUEST_CANCELLED);
		return;
	}
	a->asked++;
	c->unwanted = id; /* not 0, which is a request of ours */
	fg_stream_ready(w, s);
}

void
h3_flood_left(struct fg_l4 *w, struct fg_stream *s)
{
	struct h3_conn *c = h3_conn_of(w, s);

	if (!c->unwanted_left || c->flags & H3_OVER)
		return;
	fg_quic_stop(w, s, c->unwanted, NGHTTP3_H3_REQUEST_CANCELLED);
	fg_quic_reset(w, s, c->unwanted, NGHTTP3_H3_REQUEST_CANCELLED);
	c->unwanted = 0;
	c->unwanted_left = false;
	http3_of(w, s)->flooded++;
}

uint64_t
h3_flood_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct http3 *a = (struct http3 *)app;

	return client_flood(w, app, &a->flood_at, &a->asked, h3_flood);
}

void
h3_count_reset(struct fg_l4 *w, struct fg_stream *s)
{
	struct h3_conn *c = h3_conn_of(w, s);

	if (w->now >= c->second + SECOND_NS) {
		c->second = w->now;
		c->resets = 0;
	}
	if (++c->resets > MOST_A_SECOND)
		h3_fail_by(w, s, NGHTTP3_H3_EXCESSIVE_LOAD, "a flood of resets");
}
