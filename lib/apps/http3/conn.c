/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections and exchanges: taken, given back, and how they end; and what libnghttp3 calls. Its
 * h3_callbacks only note what has come: requests are made, and connections ended, when it has returned.
 */
#include <stdio.h>

#include "http3_priv.h"

/* what the pools and libnghttp3 have taken counts as the worker's memory */
static void
h3_count_memory(struct fg_l4 *w, struct http3 *a)
{
	uint64_t octets = a->heap.octets + (a->conns.fresh - 1UL) * a->conns.size +
			  (a->exchanges.fresh - 1UL) * a->exchanges.size;

	w->layer_octets += octets - a->octets;
	a->octets = octets;
}

/* --- exchanges */

struct h3_exchange *
h3_take(struct http3 *a, struct h3_conn *c, int64_t id)
{
	uint32_t i = fg_pool_take(&a->exchanges);
	struct h3_exchange *x = h3_exchange_at(a, i);

	if (i == 0)
		return NULL;
	*x = (struct h3_exchange){.id = id, .previous = c->last};
	if (c->last == 0)
		c->first = i;
	else
		h3_exchange_at(a, c->last)->next = i;
	c->last = i;
	c->active++;
	return x;
}

void
h3_give(struct http3 *a, struct h3_conn *c, struct h3_exchange *x)
{
	uint32_t i = x->previous == 0 ? c->first : h3_exchange_at(a, x->previous)->next;

	if (x->previous == 0)
		c->first = x->next;
	else
		h3_exchange_at(a, x->previous)->next = x->next;
	if (x->next == 0)
		c->last = x->previous;
	else
		h3_exchange_at(a, x->next)->previous = x->previous;
	c->active -= !x->over;
	fg_pool_give(&a->exchanges, &i);
}

static void
h3_set_over(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	h3_conn_of(w, s)->active--;
	x->over = true;
}

void
h3_end(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	if (x->over)
		return;
	h3_set_over(w, s, x);
	http3_of(w, s)->role->over(w, s, x);
}

void
h3_drop(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x, enum message_sum why)
{
	if (x->over)
		return;
	h3_set_over(w, s, x);
	http3_of(w, s)->role->failed(w, s, x, why);
}

nghttp3_ssize
h3_read_body(nghttp3_conn *http, int64_t id, nghttp3_vec *to, size_t room, uint32_t *flags, void *conn,
	     void *exchange)
{
	struct h3_conn *c = conn;
	struct h3_exchange *x = exchange;
	bool is_client = http3_of(c->w, c->stream)->role->is_client;
	uint32_t together;

	if (x == NULL || x->left == 0) { /* no exchange refers to it any more */
		*flags |= NGHTTP3_DATA_FLAG_EOF;
		return 0;
	}
	to->base = (uint8_t *)(uintptr_t)(is_client ? place_of_client : place_of_server)(
		c->w, c->stream, x->body - x->left, x->left, &together);
	to->len = together;
	x->left -= together;
	if (x->left == 0)
		*flags |= NGHTTP3_DATA_FLAG_EOF;
	return 1;
}

/* --- what libnghttp3 calls */

static int
h3_on_head_begin(nghttp3_conn *http, int64_t id, void *conn, void *exchange)
{
	struct h3_conn *c = conn;
	struct http3 *a = http3_of(c->w, c->stream);
	struct h3_exchange *x = exchange;

	if (x == NULL) {
		if (a->role->is_client) /* it was reset, or never wanted */
			return 0;
		x = h3_take(a, c, id);
		if (x == NULL)
			return NGHTTP3_ERR_CALLBACK_FAILURE;
		nghttp3_conn_set_stream_user_data(http, id, x);
	}
	x->fields = (struct fields){0};
	return 0;
}

static struct text
h3_text_of(nghttp3_rcbuf *buffer)
{
	nghttp3_vec v = nghttp3_rcbuf_get_buf(buffer);

	return (struct text){v.base, v.len};
}

static int
h3_on_field(nghttp3_conn *http, int64_t id, int32_t token, nghttp3_rcbuf *name, nghttp3_rcbuf *value,
	    uint8_t flags, void *conn, void *exchange)
{
	if (exchange != NULL)
		fields_read(&((struct h3_exchange *)exchange)->fields, h3_text_of(name), h3_text_of(value));
	return 0;
}

static int
h3_on_head(nghttp3_conn *http, int64_t id, int fin, void *conn, void *exchange)
{
	struct h3_conn *c = conn;
	struct h3_exchange *x = exchange;
	const struct h3_role *role = http3_of(c->w, c->stream)->role;

	if (x == NULL || x->over || (role->is_client && fields_are_interim(&x->fields)))
		return 0;
	if (!role->is_client) {
		x->is_head = x->fields.head;
		x->is_post = x->fields.post;
	}
	x->length = x->fields.length;
	x->sized = fields_are_sized(&x->fields, x->is_head);
	role->head(c->w, c->stream, x);
	return 0;
}

static int
h3_on_body(nghttp3_conn *http, int64_t id, const uint8_t *data, size_t length, void *conn, void *exchange)
{
	struct h3_conn *c = conn;
	struct h3_exchange *x = exchange;
	const struct application *app = application_of(c->w, c->stream);

	fg_quic_take(c->w, c->stream, id, length);
	if (x == NULL || x->over)
		return 0;
	for (size_t at = 0, n; at < length; at += n) {
		n = fg_u32_min((uint32_t)(length - at), UINT16_MAX);
		if (!app->config.server && !x->unwanted && !x->any && !app->config.any_body)
			c->w->counters.wrong_octets +=
				payload_wrong(SERVER_STREAM, x->received + at, data + at, (uint32_t)n);
	}
	x->received += length;
	return 0;
}

/* what was held until the table of fields was there */
static int
h3_on_late(nghttp3_conn *http, int64_t id, size_t octets, void *conn, void *exchange)
{
	const struct h3_conn *c = conn;

	fg_quic_take(c->w, c->stream, id, octets);
	return 0;
}

static int
h3_on_end(nghttp3_conn *http, int64_t id, void *conn, void *exchange)
{
	struct h3_conn *c = conn;

	if (exchange != NULL)
		h3_end(c->w, c->stream, exchange);
	return 0;
}

/* the stream is over; where the peer has not sent all of its message, before its time */
static int
h3_on_close(nghttp3_conn *http, int64_t id, uint64_t code, void *conn, void *exchange)
{
	struct h3_conn *c = conn;
	struct h3_exchange *x = exchange;

	if (x == NULL)
		return 0;
	h3_drop(c->w, c->stream, x, MESSAGE_RESET);
	note_unblocked(c->w, application_of(c->w, c->stream), FG_L4_WINDOW_STREAM, &x->blocked);
	h3_give(http3_of(c->w, c->stream), c, x);
	return 0;
}

static int
h3_on_stop(nghttp3_conn *http, int64_t id, uint64_t code, void *conn, void *exchange)
{
	const struct h3_conn *c = conn;

	fg_quic_stop(c->w, c->stream, id, code);
	return 0;
}

/* a message with fields that must not be: its stream ends, the connection goes on */
static int
h3_on_reset(nghttp3_conn *http, int64_t id, uint64_t code, void *conn, void *exchange)
{
	struct h3_conn *c = conn;

	if (exchange != NULL)
		h3_drop(c->w, c->stream, exchange, MESSAGE_MALFORMED);
	fg_quic_reset(c->w, c->stream, id, code);
	return 0;
}

static int
h3_on_goaway(nghttp3_conn *http, int64_t id, void *conn)
{
	struct h3_conn *c = conn;
	struct http3 *a = http3_of(c->w, c->stream);

	if (!a->role->is_client)
		return 0;
	c->flags |= H3_LEAVING;
	for (uint32_t i = c->first; i != 0; i = h3_exchange_at(a, i)->next) {
		struct h3_exchange *x = h3_exchange_at(a, i);

		if (x->id >= id && !x->over) /* not processed: another connection repeats the request */
			h3_set_over(c->w, c->stream, x);
	}
	return 0;
}

static const nghttp3_callbacks h3_callbacks = {
	.begin_headers = h3_on_head_begin,
	.recv_header = h3_on_field,
	.end_headers = h3_on_head,
	.recv_data = h3_on_body,
	.deferred_consume = h3_on_late,
	.end_stream = h3_on_end,
	.stream_close = h3_on_close,
	.stop_sending = h3_on_stop,
	.reset_stream = h3_on_reset,
	.shutdown = h3_on_goaway,
};

/* --- connections */

static int
h3_create(struct http3 *a, struct h3_conn *c)
{
	nghttp3_settings settings;

	nghttp3_settings_default(&settings);
	settings.max_field_section_size = H3_FIELDS_MAX;
	settings.qpack_encoder_max_dtable_capacity = 0;
	if (!a->role->is_client) {
		settings.qpack_max_dtable_capacity = H3_TABLE;
		settings.qpack_blocked_streams = H3_BLOCKED;
	}
	return a->role->is_client
		       ? nghttp3_conn_client_new(&c->http, &h3_callbacks, &settings, &a->memory, c)
		       : nghttp3_conn_server_new(&c->http, &h3_callbacks, &settings, &a->memory, c);
}

/* the streams of either side that say how it reads (RFC 9114, 6.2.1; RFC 9204, 4.2) */
static bool
h3_open_control(struct fg_l4 *w, struct fg_stream *s, const struct h3_conn *c)
{
	int64_t control, encoder, decoder;

	return fg_quic_open(w, s, false, &control) && fg_quic_open(w, s, false, &encoder) &&
	       fg_quic_open(w, s, false, &decoder) &&
	       nghttp3_conn_bind_control_stream(c->http, control) == 0 &&
	       nghttp3_conn_bind_qpack_streams(c->http, encoder, decoder) == 0;
}

struct h3_conn *
h3_begin(struct fg_l4 *w, struct fg_stream *s)
{
	struct http3 *a = http3_of(w, s);
	uint32_t i = fg_pool_take(&a->conns);
	struct h3_conn *c = (struct h3_conn *)(void *)a->conns.at + i;

	if (i == 0) { /* there are as many as the worker has room for */
		fg_stream_abort(w, s);
		return NULL;
	}
	*c = (struct h3_conn){.w = w, .stream = s};
	((struct h3_area *)(void *)s->area)->conn = i;
	if (h3_create(a, c) != 0) {
		w->counters.no_spans++;
		fg_stream_abort(w, s);
		return NULL;
	}
	if (!a->role->is_client)
		nghttp3_conn_set_max_client_streams_bidi(c->http, UINT64_C(1) << 60);
	h3_count_memory(w, a);
	if (h3_open_control(w, s, c))
		return c;
	c->flags |= H3_OVER;
	fg_quic_fail(w, s, NGHTTP3_H3_GENERAL_PROTOCOL_ERROR, "HTTP/3: the peer allows too few streams");
	return NULL;
}

void
h3_forget(struct fg_l4 *w, struct fg_stream *s)
{
	struct http3 *a = http3_of(w, s);
	struct h3_area *area = (struct h3_area *)(void *)s->area;
	struct h3_conn *c = h3_conn_of(w, s);

	if (area->conn == 0)
		return;
	while (c->first != 0)
		h3_give(a, c, h3_exchange_at(a, c->first));
	nghttp3_conn_del(c->http);
	c->http = NULL;
	c->flags |= H3_OVER;
	h3_count_memory(w, a);
	fg_pool_give(&a->conns, &area->conn); /* a caller that still looks finds no connection */
}

void
h3_note_unblocked(struct fg_l4 *w, struct fg_stream *s)
{
	struct http3 *a = http3_of(w, s);
	struct h3_conn *c = h3_conn_of(w, s);

	note_unblocked(w, &a->app, FG_L4_WINDOW_CONNECTION, &c->blocked);
	for (uint32_t i = c->first; i != 0; i = h3_exchange_at(a, i)->next)
		note_unblocked(w, &a->app, FG_L4_WINDOW_STREAM, &h3_exchange_at(a, i)->blocked);
}

void
h3_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct http3 *a = http3_of(w, s);
	struct h3_conn *c = h3_conn_of(w, s);

	if (((struct h3_area *)(void *)s->area)->conn == 0) {
		page_missed(w, a->app.page);
		return;
	}
	h3_note_unblocked(w, s);
	while (c->first != 0) {
		struct h3_exchange *x = h3_exchange_at(a, c->first);

		if (a->role->is_client && !a->app.gives_up)
			h3_drop(w, s, x, MESSAGE_CUT);
		h3_give(a, c, x);
	}
	if (a->app.page != NULL)
		page_end(w, a->app.page, &c->load);
	h3_forget(w, s);
}

void
h3_leave(struct fg_l4 *w, struct fg_stream *s)
{
	struct h3_conn *c = h3_conn_of(w, s);

	if (c->flags & H3_OVER)
		return;
	c->flags |= H3_OVER;
	fg_stream_close(w, s);
}

void
h3_fail_by(struct fg_l4 *w, struct fg_stream *s, uint64_t code, const char *why)
{
	struct h3_conn *c = h3_conn_of(w, s);
	char reason[64];

	if (c->flags & H3_OVER)
		return;
	c->flags |= H3_OVER;
	application_of(w, s)->base.tally.own[MESSAGE_FAULTY]++;
	snprintf(reason, sizeof(reason), "HTTP/3: %s", why);
	fg_quic_fail(w, s, code, reason);
}

void
h3_fail(struct fg_l4 *w, struct fg_stream *s, int error)
{
	h3_fail_by(w, s, nghttp3_err_infer_quic_app_error_code(error), nghttp3_strerror(error));
}
