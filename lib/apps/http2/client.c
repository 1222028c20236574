/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of HTTP/2: GET, HEAD or POST, several at a time on a connection. The preface and the first
 * requests go together, without waiting for the server's SETTINGS. A response that is not what was asked for
 * is read to its end and counted by what was wrong with it. Where there is to be a pause between a response
 * and the next request, all requests of a connection go together, when all responses are there.
 *
 * A page takes a connection, and its objects are asked for as they may be; when all are there it is over.
 */
#include "http2_priv.h"

enum { ID_MAX = H2_WINDOW_MAX };

static bool
has_asked_for_all(const struct fg_l4 *w, const struct http2 *a, const struct h2_conn *c)
{
	const struct page_load *load = h2_load_of(a, c);
	uint32_t requests = a->app.config.requests;

	return (load != NULL && page_has_asked_for_all(a->app.page, load)) ||
	       (requests > 0 && c->requests >= requests && c->again == 0) || c->last_id >= ID_MAX ||
	       c->flags & H2_LEAVING || w->now >= w->stop_at;
}

static void
ask(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	struct page_load *load = h2_load_of(a, c);
	uint32_t most = fg_u32_min(a->streams, c->streams_max), object = 0;

	c->flags &= ~(uint32_t)H2_PAUSED;
	while (c->active < most && !has_asked_for_all(w, a, c) &&
	       (load == NULL || page_next(w, s, load, &object))) {
		uint32_t id = c->last_id == 0 ? 1 : c->last_id + 2;
		struct h2_exchange *x = h2_take(w, s, id);

		if (x == NULL)
			break;
		c->last_id = id;
		x->since = w->now;
		x->wanted = a->app.config.response;
		if (load != NULL) {
			x->object = object;
			x->wanted = a->app.page->object[object].octets;
			page_ask(a->app.page, load, object, w->now, 0);
		}
		x->receives = x->sends_head = true;
		x->is_head = a->app.config.head;
		x->body = x->left = a->app.config.request;
		if (a->doh != NULL)
			doh_ask(a, x);
		x->again = c->again > 0;
		if (x->again)
			c->again--;
		else
			c->requests++;
	}
	fg_stream_ready(w, s);
}

static bool
pauses(const struct http2 *a)
{
	return a->app.config.think_ns > 0 || a->app.config.think_ns_max > 0;
}

static void
ask_on(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http2 *a = http2_of(w, s);
	const struct h2_conn *c = h2_conn_of(w, s);

	if (c->flags & H2_OVER)
		return;
	if (!has_asked_for_all(w, a, c)) {
		if (!pauses(a)) {
			ask(w, s);
		} else if (c->active == 0 && !(c->flags & H2_PAUSED)) {
			h2_conn_of(w, s)->flags |= H2_PAUSED;
			next_request(w, s, 0, false, ask);
		}
	} else if (c->active == 0 && (!a->app.config.hold || c->flags & H2_LEAVING || w->now >= w->stop_at)) {
		h2_leave(w, s);
		return;
	}
	h2_flush(w, s);
}

static void
asker_established(struct fg_l4 *w, struct fg_stream *s)
{
	const struct http2 *a = http2_of(w, s);
	struct h2_conn *c;

	note_setup(w, s);
	if (w->now >= w->stop_at) {
		fg_stream_close(w, s);
	} else if ((c = h2_begin(w, s)) != NULL) {
		h2_frame_begin(c, false);
		if (a->app.page != NULL && (c->load = page_begin(a->app.page, client_of(s)->since)) == 0) {
			fg_stream_abort(w, s);
			return;
		}
		h2_send_text(w, s, a->opening, a->opening_octets);
		ask(w, s);
	}
}

/* --- responses */

static void
asker_failed(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, enum message_sum why)
{
	struct page_load *load = h2_load_of(http2_of(w, s), h2_conn_of(w, s));

	application_of(w, s)->base.tally.refused++;
	h2_note(w, s, why);
	x->unwanted = true;
	if (load != NULL)
		load->broken = true;
}

static void
asker_head(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	struct http2 *a = http2_of(w, s);
	const struct h2_conn *c = h2_conn_of(w, s);
	enum message_sum fault = message_fault(&a->app.config, x->wanted, &c->fields, x->sized);

	if (c->load != 0)
		page_first(w, &a->app, h2_load_of(a, c), x->object);
	if (x->id == 1)
		note_first_octet(w, s);
	x->any = fault == MESSAGE_UNKNOWN;
	if (fault < MESSAGE_FINE)
		asker_failed(w, s, x, fault);
}

static void
asker_over(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	struct http2 *a = http2_of(w, s);
	struct page_load *load = h2_load_of(a, h2_conn_of(w, s));

	if (!x->unwanted && !x->any && !message_is_wanted(&a->app.config, x->wanted, x->received))
		asker_failed(w, s, x, MESSAGE_LENGTH);
	if (!x->unwanted && a->doh != NULL && !doh_is_answer(w, a, x))
		x->unwanted = true;
	if (!x->unwanted) {
		client_of(s)->since = x->since;
		note_transaction(w, s);
		if (x->id == 1)
			note_last_octet(w, s);
		if (load != NULL)
			page_over(w, &a->app, load, x->object);
	}
	if (x->left > 0) /* nobody reads the rest of the request */
		h2_reset(w, s, x, H2_CANCEL);
	else
		h2_give(a, h2_conn_of(w, s), x);
}

static void
asker_sent(struct fg_l4 *w, struct fg_stream *s)
{
}

static void
asker_stop(struct fg_l4 *w, struct fg_stream *s)
{
	if (fg_stream_is_established(w, s))
		ask_on(w, s);
}

uint32_t
h2_waits(struct fg_l4 *w, const struct fg_stream *s,
	 void (*note)(struct fg_l4 *w, struct application *a, uint64_t since))
{
	const struct http2 *a = http2_of(w, s);
	const struct h2_conn *c = h2_conn_of(w, s);

	for (uint32_t i = note == NULL ? 0 : c->first; i != 0; i = h2_exchange_at(a, i)->next)
		note(w, application_of(w, s), h2_exchange_at(a, i)->since);
	return c->active;
}

static uint64_t
asker_poll(struct fg_l4 *w, struct fg_app *app)
{
	return ((struct application *)app)->config.flood == 0 ? client_poll(w, app) : h2_flood_poll(w, app);
}

static void
asker_timer(struct fg_l4 *w, struct fg_stream *s)
{
	if (w->now >= w->stop_at)
		asker_stop(w, s);
	else
		ask(w, s);
}

static void
asker_eof(struct fg_l4 *w, struct fg_stream *s)
{
	struct h2_conn *c = h2_conn_of(w, s);

	c->flags |= H2_PEER_ENDED | H2_LEAVING;
	h2_drop_all(w, s, MESSAGE_CUT);
	if (c->flags & H2_OVER)
		fg_stream_close(w, s);
	else
		h2_leave(w, s);
}

const struct h2_role h2_client_role = {true, asker_head, asker_over, asker_failed, asker_sent};

const struct fg_app_ops h2_client_ops = {
	.established = asker_established,
	.receive = h2_receive,
	.arrived = ask_on,
	.eof = asker_eof,
	.acked = h2_acked,
	.refill = h2_refill,
	.fill = h2_fill,
	.closed = h2_closed,
	.timer = asker_timer,
	.poll = asker_poll,
	.stop = asker_stop,
	.connected = note_connected,
};
