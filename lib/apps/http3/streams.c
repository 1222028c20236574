/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes of streams, from and to libnghttp3. What it finds wrong ends the connection, with the code that it
 * names.
 */
#include "http3_priv.h"

enum { PARTS = 16 };

/* libnghttp3 has taken in the data. @param rc  its result */
static void
h3_go_on(struct fg_l4 *w, struct fg_stream *s, nghttp3_ssize rc)
{
	if (rc < 0)
		h3_fail(w, s, (int)rc);
	else
		http3_of(w, s)->role->go_on(w, s);
}

static unsigned
h3_next(struct fg_l4 *w, struct fg_stream *s, int64_t *id, bool *fin, struct iovec *part, unsigned room)
{
	const struct h3_conn *c = h3_conn_of(w, s);
	nghttp3_vec given[PARTS];
	nghttp3_ssize parts;
	int ends = 0;

	*id = -1;
	if (c->flags & H3_OVER)
		return 0;
	parts = nghttp3_conn_writev_stream(c->http, id, &ends, given, room < PARTS ? room : PARTS);
	if (parts < 0) {
		*id = -1;
		h3_fail(w, s, (int)parts);
		return 0;
	}
	for (nghttp3_ssize i = 0; i < parts; i++)
		part[i] = (struct iovec){given[i].base, given[i].len};
	*fin = ends != 0;
	return (unsigned)parts;
}

static void
h3_sent(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets)
{
	struct h3_conn *c = h3_conn_of(w, s);
	int rc = c->flags & H3_OVER ? 0 : nghttp3_conn_add_write_offset(c->http, id, octets);

	if (rc != 0)
		h3_fail(w, s, rc);
	if (id > 0 && id == c->unwanted)
		c->unwanted_left = true;
}

/* NULL: it is over, or not a request's */
static struct h3_exchange *
h3_find(const struct http3 *a, const struct h3_conn *c, int64_t id)
{
	for (uint32_t i = c->first; i != 0; i = h3_exchange_at(a, i)->next)
		if (h3_exchange_at(a, i)->id == id)
			return h3_exchange_at(a, i);
	return NULL;
}

static void
h3_limited(struct fg_l4 *w, struct fg_stream *s, bool closed)
{
	struct h3_conn *c = h3_conn_of(w, s);

	if (closed)
		note_blocked(w, &c->blocked);
	else
		note_unblocked(w, application_of(w, s), FG_L4_WINDOW_CONNECTION, &c->blocked);
}

static void
h3_blocked(struct fg_l4 *w, struct fg_stream *s, int64_t id, bool over)
{
	const struct h3_conn *c = h3_conn_of(w, s);
	struct h3_exchange *x;

	if (c->flags & H3_OVER)
		return;
	if (over) {
		nghttp3_conn_shutdown_stream_write(c->http, id);
		return;
	}
	nghttp3_conn_block_stream(c->http, id);
	x = h3_find(http3_of(w, s), c, id);
	if (x != NULL)
		note_blocked(w, &x->blocked);
}

static void
h3_unblocked(struct fg_l4 *w, struct fg_stream *s, int64_t id)
{
	const struct h3_conn *c = h3_conn_of(w, s);
	struct h3_exchange *x;

	if (c->flags & H3_OVER)
		return;
	nghttp3_conn_unblock_stream(c->http, id);
	x = h3_find(http3_of(w, s), c, id);
	if (x != NULL)
		note_unblocked(w, application_of(w, s), FG_L4_WINDOW_STREAM, &x->blocked);
}

static void
h3_more(struct fg_l4 *w, struct fg_stream *s)
{
	if (!(h3_conn_of(w, s)->flags & H3_OVER))
		h3_go_on(w, s, 0);
}

static void
h3_received(struct fg_l4 *w, struct fg_stream *s, int64_t id, const uint8_t *data, size_t length, bool fin)
{
	const struct h3_conn *c = h3_conn_of(w, s);
	nghttp3_ssize n;

	if (c->flags & H3_OVER)
		return;
	n = nghttp3_conn_read_stream(c->http, id, data, length, fin);
	if (n > 0)
		fg_quic_take(w, s, id, (uint64_t)n);
	h3_go_on(w, s, n);
}

static void
h3_acked(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t octets)
{
	const struct h3_conn *c = h3_conn_of(w, s);

	if (!(c->flags & H3_OVER))
		nghttp3_conn_add_ack_offset(c->http, id, octets);
}

static void
h3_reset(struct fg_l4 *w, struct fg_stream *s, int64_t id)
{
	const struct h3_conn *c = h3_conn_of(w, s);

	if (c->flags & H3_OVER)
		return;
	nghttp3_conn_shutdown_stream_read(c->http, id);
	if (!http3_of(w, s)->role->is_client)
		h3_count_reset(w, s);
}

static void
h3_over(struct fg_l4 *w, struct fg_stream *s, int64_t id, uint64_t code)
{
	const struct h3_conn *c = h3_conn_of(w, s);
	int rc;

	if (c->flags & H3_OVER)
		return;
	rc = nghttp3_conn_close_stream(c->http, id, code);
	h3_go_on(w, s, rc == NGHTTP3_ERR_STREAM_NOT_FOUND ? 0 : rc);
}

const struct fg_quic_streams h3_streams = {
	.in_peace = NGHTTP3_H3_NO_ERROR,
	.next = h3_next,
	.sent = h3_sent,
	.left = h3_flood_left,
	.blocked = h3_blocked,
	.unblocked = h3_unblocked,
	.limited = h3_limited,
	.refused = h3_refused,
	.more = h3_more,
	.received = h3_received,
	.acked = h3_acked,
	.reset = h3_reset,
	.over = h3_over,
};
