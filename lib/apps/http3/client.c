/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of HTTP/3: GET, HEAD or POST, several at a time on a connection, each on a stream of its own. A
 * response that is not what was asked for is read to its end and counted by what was wrong with it. Where
 * there is to be a pause between a response and the next request, all requests of a connection go together,
 * when all responses are there. With the last response the client ends the connection.
 *
 * A page takes a connection, and its objects are asked for as they may be; when all are there it is over.
 */
#include "http3_priv.h"

static bool
h3_has_asked_for_all(const struct fg_l4 *w, const struct http3 *a, const struct h3_conn *c)
{
	const struct fg_l4_app *config = &a->app.config;
	const struct page_load *load = h3_load_of(a, c);

	return (load != NULL && page_has_asked_for_all(a->app.page, load)) ||
	       (config->requests > 0 && c->requests >= config->requests) || c->flags & H3_LEAVING ||
	       w->now >= w->stop_at;
}

/* @return false: not now */
static bool
h3_ask_once(struct fg_l4 *w, struct fg_stream *s)
{
	static const nghttp3_data_reader body = {h3_read_body};
	struct http3 *a = http3_of(w, s);
	struct h3_conn *c = h3_conn_of(w, s);
	struct page_load *load = h3_load_of(a, c);
	struct h3_exchange *x;
	uint32_t object = 0;
	int64_t id;

	if (load != NULL && !page_next(w, s, load, &object))
		return false;
	if (!fg_quic_open(w, s, true, &id)) /* h3_streams.more comes when the peer allows more of them */
		return false;
	x = h3_take(a, c, id);
	if (x == NULL) {
		fg_quic_reset(w, s, id, NGHTTP3_H3_REQUEST_CANCELLED);
		return false;
	}
	x->since = w->now;
	x->is_head = a->app.config.head;
	x->body = x->left = a->app.config.request;
	x->wanted = a->app.config.response;
	c->requests++;
	if (load != NULL) {
		x->object = object;
		x->wanted = a->app.page->object[object].octets;
		page_ask(a->app.page, load, object, w->now, 0);
		a->request[H3_PATH] = h3_field(":path", a->app.page->path[object]);
	}
	return nghttp3_conn_submit_request(c->http, id, a->request, a->request_fields,
					   x->left > 0 ? &body : NULL, x) == 0;
}

static void
h3_ask(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http3 *a = http3_of(w, s);
	struct h3_conn *c = h3_conn_of(w, s);

	c->flags &= ~(uint32_t)H3_PAUSED;
	while (c->active < a->streams && !h3_has_asked_for_all(w, a, c) && h3_ask_once(w, s))
		;
	fg_stream_ready(w, s);
}

static void
h3_asker_go_on(struct fg_l4 *w, struct fg_stream *s)
{
	const struct fg_l4_app *config = &application_of(w, s)->config;
	struct h3_conn *c = h3_conn_of(w, s);
	bool pauses = config->think_ns > 0 || config->think_ns_max > 0;

	if (c->flags & H3_OVER)
		return;
	fg_stream_ready(w, s);
	if (h3_has_asked_for_all(w, http3_of(w, s), c)) {
		if (c->active == 0 && (!config->hold || c->flags & H3_LEAVING || w->now >= w->stop_at))
			h3_leave(w, s);
	} else if (!pauses) {
		h3_ask(w, s);
	} else if (c->active == 0 && !(c->flags & H3_PAUSED)) {
		c->flags |= H3_PAUSED;
		next_request(w, s, 0, false, h3_ask);
	}
}

static void
h3_asker_established(struct fg_l4 *w, struct fg_stream *s)
{
	struct page *page = application_of(w, s)->page;
	struct h3_conn *c;

	note_setup(w, s);
	if (w->now >= w->stop_at)
		fg_stream_close(w, s);
	else if ((c = h3_begin(w, s)) == NULL)
		return;
	else if (page != NULL && (c->load = page_begin(page, client_of(s)->since)) == 0)
		fg_stream_abort(w, s);
	else
		h3_ask(w, s);
}

/* the time of requests runs from when they left first */
void
h3_refused(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http3 *a = http3_of(w, s);
	uint32_t first = h3_conn_of(w, s)->first;
	uint64_t since = first == 0 ? w->now : h3_exchange_at(a, first)->since;

	h3_forget(w, s);
	h3_asker_established(w, s);
	for (uint32_t i = h3_conn_of(w, s)->first; i != 0; i = h3_exchange_at(a, i)->next)
		h3_exchange_at(a, i)->since = since;
}

/* --- responses */

static void
h3_asker_failed(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x, enum message_sum why)
{
	struct fg_l4_tally *t = &application_of(w, s)->base.tally;
	struct page_load *load = h3_load_of(http3_of(w, s), h3_conn_of(w, s));

	t->refused++;
	t->own[why]++;
	x->unwanted = true;
	if (load != NULL)
		load->broken = true;
}

static void
h3_asker_head(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	struct http3 *a = http3_of(w, s);
	const struct h3_conn *c = h3_conn_of(w, s);
	enum message_sum fault = message_fault(&a->app.config, x->wanted, &x->fields, x->sized);

	if (c->load != 0)
		page_first(w, &a->app, h3_load_of(a, c), x->object);
	if (x->id == 0)
		note_first_octet(w, s);
	x->any = fault == MESSAGE_UNKNOWN;
	if (fault < MESSAGE_FINE)
		h3_asker_failed(w, s, x, fault);
}

static void
h3_asker_over(struct fg_l4 *w, struct fg_stream *s, struct h3_exchange *x)
{
	struct page_load *load = h3_load_of(http3_of(w, s), h3_conn_of(w, s));

	if (!x->unwanted && !x->any &&
	    !message_is_wanted(&application_of(w, s)->config, x->wanted, x->received))
		h3_asker_failed(w, s, x, MESSAGE_LENGTH);
	if (!x->unwanted) {
		client_of(s)->since = x->since;
		note_transaction(w, s);
		if (x->id == 0)
			note_last_octet(w, s);
		if (load != NULL)
			page_over(w, application_of(w, s), load, x->object);
	}
	if (x->left > 0) { /* nobody reads the rest of the request */
		x->left = 0;
		fg_quic_reset(w, s, x->id, NGHTTP3_H3_REQUEST_CANCELLED);
		nghttp3_conn_shutdown_stream_write(h3_conn_of(w, s)->http, x->id);
	}
}

static void
h3_asker_stop(struct fg_l4 *w, struct fg_stream *s)
{
	if (fg_stream_is_established(w, s))
		h3_asker_go_on(w, s);
}

uint32_t
h3_waits(struct fg_l4 *w, const struct fg_stream *s,
	 void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	const struct http3 *a = http3_of(w, s);
	const struct h3_conn *c = h3_conn_of(w, s);

	for (uint32_t i = note == NULL ? 0 : c->first; i != 0; i = h3_exchange_at(a, i)->next)
		if (!h3_exchange_at(a, i)->over)
			note(w, application_of(w, s), h3_exchange_at(a, i)->since);
	return c->active;
}

static void
h3_asker_timer(struct fg_l4 *w, struct fg_stream *s)
{
	if (w->now >= w->stop_at)
		h3_asker_stop(w, s);
	else
		h3_ask(w, s);
}

const struct h3_role h3_client_role = {true, h3_asker_head, h3_asker_over, h3_asker_failed, h3_asker_go_on};

static uint64_t
h3_asker_poll(struct fg_l4 *w, struct fg_app *app)
{
	return ((struct application *)app)->config.flood == FG_L4_FLOOD_NONE ? client_poll(w, app)
									     : h3_flood_poll(w, app);
}

const struct fg_app_ops h3_client_ops = {
	.established = h3_asker_established,
	.closed = h3_closed,
	.timer = h3_asker_timer,
	.poll = h3_asker_poll,
	.stop = h3_asker_stop,
	.connected = note_connected,
	.streams = &h3_streams,
	.early = true,
};
