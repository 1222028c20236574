/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that nobody waits for, at a rate of their own on each connection: each is reset when the next one
 * is due. A server, or a device on the way, is to bear them or to end the connection with H3_EXCESSIVE_LOAD
 * (RFC 9114, 10.5). HTTP/3 has no PING, and a second SETTINGS is an error.
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

	if (c->flags & (H3_OVER | H3_LEAVING))
		return;
	if (c->unwanted > 0) { /* number 0 is a request of ours, which all begin with */
		fg_quic_stop(w, s, c->unwanted, NGHTTP3_H3_REQUEST_CANCELLED);
		fg_quic_reset(w, s, c->unwanted, NGHTTP3_H3_REQUEST_CANCELLED);
		a->flooded++;
	}
	c->unwanted = fg_quic_open(w, s, true, &id) &&
				      nghttp3_conn_submit_request(c->http, id, a->request, a->request_fields,
								  NULL, NULL) == 0
			      ? id
			      : 0;
	fg_stream_ready(w, s);
}

uint64_t
h3_flood_poll(struct fg_l4 *w, struct fg_app *app)
{
	struct http3 *a = (struct http3 *)app;
	const double gap = 1e9 / a->app.config.flood_per_s;
	uint64_t next = client_poll(w, app);

	if (w->now < w->start_at || w->now >= w->stop_at)
		return next;
	pace_catch_up(w, &a->flood_at, w->start_at, gap);
	for (; a->flood_at <= (double)w->now; pace_next(w, &a->flood_at, gap))
		fg_stream_each(w, app->index, h3_flood);
	return next < (uint64_t)a->flood_at + 1 ? next : (uint64_t)a->flood_at + 1;
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
