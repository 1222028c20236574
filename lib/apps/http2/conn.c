/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and exchanges: taken, found, given back; and how both end before their time. */
#include "http2_priv.h"

/* what the pools have taken counts as the worker's memory */
static void
count_memory(struct fg_l4 *w, struct http2 *a)
{
	uint64_t octets = a->heap.octets + (a->conns.fresh - 1UL) * a->conns.size +
			  (a->exchanges.fresh - 1UL) * a->exchanges.size +
			  (a->spans.fresh - 1UL) * a->spans.size;

	w->layer_octets += octets - a->octets;
	a->octets = octets;
}

struct h2_conn *
h2_begin(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	uint32_t i = fg_pool_take(&a->conns);
	struct h2_conn *c = h2_conn_at(a, i);
	int32_t more = a->window > H2_WINDOW ? a->window : H2_WINDOW;

	if (i == 0) { /* there are as many as the worker has room for */
		fg_stream_abort(w, s);
		return NULL;
	}
	((struct h2_area *)(void *)s->area)->conn = i;
	*c = (struct h2_conn){
		.table = H2_TABLE,
		.streams_max = UINT32_MAX,
		.window = H2_WINDOW,
		.stream_window = H2_WINDOW,
		.credit = more,
		/* a server's peer need not have read SETTINGS when it sends */
		.stream_credit = a->role->is_client ? a->window : more,
	};
	count_memory(w, a);
	return c;
}

void
h2_give_all(struct http2 *a, struct h2_conn *c)
{
	while (c->first != 0)
		h2_give(a, c, h2_exchange_at(a, c->first));
	while (c->first_reset != 0) {
		uint32_t next = h2_exchange_at(a, c->first_reset)->next;

		fg_pool_give(&a->exchanges, &c->first_reset);
		c->first_reset = next;
	}
	h2_give_spans(a, c);
	h2_fields_free(&c->inflater);
	h2_fields_forget(a, c);
}

void
h2_note_unblocked(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);

	note_unblocked(w, &a->app, FG_L4_WINDOW_CONNECTION, &c->blocked);
	for (uint32_t i = c->first; i != 0; i = h2_exchange_at(a, i)->next)
		note_unblocked(w, &a->app, FG_L4_WINDOW_STREAM, &h2_exchange_at(a, i)->blocked);
}

void
h2_closed(struct fg_l4 *w, struct fg_stream *s, enum fg_l4_end end)
{
	struct http2 *a = http2_of(w, s);
	struct h2_area *area = (struct h2_area *)(void *)s->area;
	struct h2_conn *c = h2_conn_at(a, area->conn);

	if (area->conn == 0) {
		page_missed(w, a->app.page);
		return;
	}
	c->flags |= H2_GONE | H2_OVER;
	h2_note_unblocked(w, s);
	if (a->app.page != NULL)
		page_end(w, a->app.page, &c->load);
	h2_give_all(a, c);
	count_memory(w, a);
	fg_pool_give(&a->conns, &area->conn); /* a caller that still looks finds no connection */
}

/* --- exchanges */

static void
append_exchange(struct http2 *a, struct h2_conn *c, uint32_t i)
{
	struct h2_exchange *x = h2_exchange_at(a, i);

	x->next = 0;
	x->previous = c->last;
	if (c->last == 0)
		c->first = i;
	else
		h2_exchange_at(a, c->last)->next = i;
	c->last = i;
}

static uint32_t
unlink_exchange(struct http2 *a, struct h2_conn *c, const struct h2_exchange *x)
{
	uint32_t i = x->previous != 0 ? h2_exchange_at(a, x->previous)->next : c->first;

	if (x->previous != 0)
		h2_exchange_at(a, x->previous)->next = x->next;
	else
		c->first = x->next;
	if (x->next != 0)
		h2_exchange_at(a, x->next)->previous = x->previous;
	else
		c->last = x->previous;
	return i;
}

struct h2_exchange *
h2_take(struct fg_l4 *w, struct fg_stream *s, uint32_t id)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	uint32_t i = fg_pool_take(&a->exchanges);
	struct h2_exchange *x = h2_exchange_at(a, i);

	if (i == 0)
		return NULL;
	*x = (struct h2_exchange){.id = id, .window = c->stream_window, .credit = c->stream_credit};
	append_exchange(a, c, i);
	c->active++;
	return x;
}

struct h2_exchange *
h2_find(const struct http2 *a, const struct h2_conn *c, uint32_t id)
{
	for (uint32_t i = c->first; i != 0; i = h2_exchange_at(a, i)->next)
		if (h2_exchange_at(a, i)->id == id)
			return h2_exchange_at(a, i);
	return NULL;
}

void
h2_give(struct http2 *a, struct h2_conn *c, struct h2_exchange *x)
{
	uint32_t i = unlink_exchange(a, c, x);

	doh_give(a, x);
	c->active--;
	fg_pool_give(&a->exchanges, &i);
}

void
h2_rotate(struct http2 *a, struct h2_conn *c, struct h2_exchange *x)
{
	if (c->first != c->last)
		append_exchange(a, c, unlink_exchange(a, c, x));
}

/* --- before their time */

bool
h2_was_reset(const struct http2 *a, const struct h2_conn *c, uint32_t id)
{
	for (uint32_t i = c->first_reset; i != 0; i = h2_exchange_at(a, i)->next)
		if (h2_exchange_at(a, i)->id == id)
			return true;
	return false;
}

void
h2_reset(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x, enum h2_error code)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	uint32_t i = unlink_exchange(a, c, x);

	note_unblocked(w, &a->app, FG_L4_WINDOW_STREAM, &x->blocked);
	note_unblocked(w, &a->app, FG_L4_WINDOW_CONNECTION, &c->blocked); /* others may not wait */
	doh_give(a, x);
	c->active--;
	x->next = 0;
	if (c->last_reset == 0)
		c->first_reset = i;
	else
		h2_exchange_at(a, c->last_reset)->next = i;
	c->last_reset = i;
	if (++c->resets > H2_RESETS) {
		uint32_t next = h2_exchange_at(a, c->first_reset)->next;

		fg_pool_give(&a->exchanges, &c->first_reset);
		c->first_reset = next;
		c->resets--;
		c->flags |= H2_REFUSING;
	}
	h2_send_control(w, s, H2_RST_STREAM, 0, x->id, code, 4);
}

void
h2_drop_all(struct fg_l4 *w, struct fg_stream *s, enum message_sum why)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);

	while (c->first != 0) {
		struct h2_exchange *x = h2_exchange_at(a, c->first);

		a->role->failed(w, s, x, why);
		h2_give(a, c, x);
	}
}

static void
go_away(struct fg_l4 *w, struct fg_stream *s, enum h2_error code)
{
	struct h2_conn *c = h2_conn_of(w, s);
	uint64_t last = http2_of(w, s)->role->is_client ? 0 : c->last_id;

	h2_send_control(w, s, H2_GOAWAY, 0, 0, last << 32 | code, 8);
}

void
h2_leave(struct fg_l4 *w, struct fg_stream *s)
{
	struct h2_conn *c = h2_conn_of(w, s);

	if (c->flags & H2_OVER)
		return;
	c->flags |= H2_OVER;
	if (http2_of(w, s)->role->is_client && !(c->flags & H2_PEER_ENDED))
		go_away(w, s, H2_NO_ERROR);
	h2_flush(w, s);
	if (!(c->flags & H2_GONE))
		fg_stream_close(w, s);
}

void
h2_fail(struct fg_l4 *w, struct fg_stream *s, enum h2_error code)
{
	struct h2_conn *c = h2_conn_of(w, s);

	if (c->flags & H2_OVER)
		return;
	c->flags |= H2_OVER;
	h2_note(w, s, MESSAGE_FAULTY);
	h2_drop_all(w, s, MESSAGE_CUT);
	go_away(w, s, code);
	h2_flush(w, s);
	if (!(c->flags & H2_GONE))
		fg_stream_close(w, s);
}
