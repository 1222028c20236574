/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From frames to requests and responses (RFC 9113, 8.1): HEADERS, DATA, perhaps trailers, the end. What is
 * not as it has to be ends its stream or the connection, as the RFC says for each case.
 */
#include "http2_priv.h"

enum { BLOCK_MAX = 65536, CONTINUATIONS_MAX = 32 };
enum { BACKLOG = 65536 /* bytes that are laid out at a time */ };

static void
fail_malformed(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	http2_of(w, s)->role->failed(w, s, x, MESSAGE_MALFORMED);
	h2_reset(w, s, x, H2_PROTOCOL_ERROR);
}

/* frames on a stream that is no more: for a while the peer cannot know */
static enum h2_error
without_exchange(const struct fg_l4 *w, const struct fg_stream *s, const struct h2_conn *c, uint32_t id)
{
	if (id > c->last_id)
		return H2_PROTOCOL_ERROR; /* it has never been */
	return h2_was_reset(http2_of(w, s), c, id) || c->flags & H2_REFUSING ? H2_NO_ERROR : H2_STREAM_CLOSED;
}

/*
 * Bytes of a stream are read. If they lay beyond a gap of TCP, they waited for other streams from when they,
 * and all of their own stream before them, had arrived; what was read meanwhile has counted.
 */
static void
note_hol(const struct fg_l4 *w, const struct h2_conn *c, struct application *a, struct h2_exchange *x)
{
	if (c->held_to > 0)
		a->hol_ns +=
			measured_part(w, c->held_from > x->read_at ? c->held_from : x->read_at, c->held_to);
	x->read_at = w->now;
}

/* --- heads and trailers */

enum h2_error
h2_headers_begin(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	const struct http2 *a = http2_of(w, s);
	const struct h2_frame *f = &c->frame;
	const struct h2_exchange *x;

	if (f->type == H2_CONTINUATION)
		return ++c->parts > CONTINUATIONS_MAX || c->block + f->body > BLOCK_MAX ? H2_ENHANCE_YOUR_CALM
											: H2_NO_ERROR;
	if (f->id % 2 == 0)
		return H2_PROTOCOL_ERROR;
	c->fields = (struct fields){0};
	c->block = c->parts = 0;
	c->block_id = f->id;
	c->block_ends = f->flags & H2_END_STREAM;
	if (!a->role->is_client && f->id > c->last_id)
		return H2_NO_ERROR;
	x = h2_find(a, c, f->id);
	if (x == NULL)
		return without_exchange(w, s, c, f->id);
	return x->receives ? H2_NO_ERROR : H2_STREAM_CLOSED;
}

/* the peer has sent all of a message */
static void
message_over(struct fg_l4 *w, struct fg_stream *s, struct h2_exchange *x)
{
	if (x->sized && x->received != x->length) {
		fail_malformed(w, s, x);
		return;
	}
	x->receives = false;
	http2_of(w, s)->role->over(w, s, x);
}

static void
take_head(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, struct h2_exchange *x)
{
	const struct h2_role *role = http2_of(w, s)->role;
	const struct fields *f = &c->fields;
	bool is_interim = role->is_client && fields_are_interim(f);

	note_hol(w, c, application_of(w, s), x);
	if (!fields_are_head(f, role->is_client) || (is_interim && c->block_ends)) {
		fail_malformed(w, s, x);
		return;
	}
	if (is_interim)
		return;
	x->head_read = true;
	x->length = f->length;
	x->sized = fields_are_sized(f, x->is_head);
	role->head(w, s, x);
	if (c->block_ends)
		message_over(w, s, x);
}

/* of a server: a request begins */
static enum h2_error
take_request(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, uint32_t id)
{
	struct h2_exchange *x = NULL;

	c->last_id = id;
	if (c->active < http2_of(w, s)->streams)
		x = h2_take(w, s, id);
	if (x == NULL) {
		c->flags |= H2_REFUSING;
		h2_send_control(w, s, H2_RST_STREAM, 0, id, H2_REFUSED_STREAM, 4);
		return h2_count(w, c, H2_RESET_FRAMES);
	}
	x->receives = true;
	x->is_head = c->fields.head;
	x->is_post = c->fields.post;
	take_head(w, s, c, x);
	return H2_NO_ERROR;
}

static enum h2_error
block_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	uint32_t id = c->block_id;
	struct h2_exchange *x;

	c->block_id = 0;
	if (!http2_of(w, s)->role->is_client && id > c->last_id)
		return take_request(w, s, c, id);
	x = h2_find(http2_of(w, s), c, id);
	if (x == NULL)
		return H2_NO_ERROR;
	if (!x->head_read)
		take_head(w, s, c, x);
	else if (c->fields.malformed || c->fields.pseudo != 0 || !c->block_ends)
		fail_malformed(w, s, x);
	else
		message_over(w, s, x);
	return H2_NO_ERROR;
}

enum h2_error
h2_headers_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	enum h2_error error = block_over(w, s, c);

	if (h2_serves_dns(http2_of(w, s)))
		h2_fields_forget(http2_of(w, s), c);
	return error;
}

/* --- bodies */

enum h2_error
h2_data_begin(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, uint32_t payload)
{
	struct h2_exchange *x = h2_find(http2_of(w, s), c, c->frame.id);

	if (c->frame.id % 2 == 0)
		return H2_PROTOCOL_ERROR;
	if ((int64_t)payload > c->credit)
		return H2_FLOW_CONTROL_ERROR;
	c->credit -= (int32_t)payload;
	if (payload == 0 && !(c->frame.flags & H2_END_STREAM) &&
	    h2_count(w, c, H2_EMPTY_FRAMES) != H2_NO_ERROR)
		return H2_ENHANCE_YOUR_CALM;
	if (x == NULL)
		return without_exchange(w, s, c, c->frame.id);
	if (!x->receives)
		return H2_STREAM_CLOSED;
	if ((int64_t)payload > x->credit)
		return H2_FLOW_CONTROL_ERROR;
	x->credit -= (int32_t)payload;
	if (!x->head_read)
		fail_malformed(w, s, x);
	return H2_NO_ERROR;
}

void
h2_data(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c, const uint8_t *data, uint32_t length)
{
	struct http2 *a = http2_of(w, s);
	struct h2_exchange *x = h2_find(a, c, c->frame.id);
	enum message_sum fault = MESSAGE_FINE;

	if (x == NULL)
		return;
	note_hol(w, c, &a->app, x);
	if (a->doh != NULL && !x->unwanted)
		fault = doh_take(w, a, x, data, length);
	if (fault != MESSAGE_FINE) {
		a->role->failed(w, s, x, fault);
		x->unwanted = true;
	}
	if (a->role->is_client && !x->unwanted && !x->any && !application_of(w, s)->config.any_body)
		w->counters.wrong_octets += payload_wrong(SERVER_STREAM, x->received, data, length);
	x->received += length;
}

void
h2_data_over(struct fg_l4 *w, struct fg_stream *s, struct h2_conn *c)
{
	const struct http2 *a = http2_of(w, s);
	struct h2_exchange *x = h2_find(a, c, c->frame.id);

	h2_renew(w, s, 0, &c->credit, a->window > H2_WINDOW ? a->window : H2_WINDOW);
	if (x == NULL)
		return;
	if (c->frame.flags & H2_END_STREAM)
		message_over(w, s, x);
	else if (x->sized && x->received > x->length)
		fail_malformed(w, s, x);
	else
		h2_renew(w, s, x->id, &x->credit, c->stream_credit);
}

/* --- what we send */

/* bytes of the body that may go now; 0: a head alone, or nothing */
static uint32_t
octets_allowed(const struct h2_conn *c, const struct h2_exchange *x)
{
	int32_t window = c->window < x->window ? c->window : x->window;

	return window <= 0 ? 0 : fg_u32_min(fg_u32_min((uint32_t)window, x->left), H2_FRAME_MAX);
}

/* as a socket that does not block: what has room in the send buffer, or nothing else is there */
static bool
has_room(const struct http2 *a, const struct h2_conn *c, const struct fg_stream *s)
{
	uint64_t waiting = c->end - s->acked;

	return waiting == 0 || waiting + H2_FRAME_MAX <= a->app.base.tcp.send_buffer;
}

/* all that was laid out has left, and there is data that the peer's windows keep back */
static void
note_windows(const struct fg_l4 *w, const struct http2 *a, struct h2_conn *c)
{
	if (c->window <= 0)
		note_blocked(w, &c->blocked);
	for (uint32_t i = c->first; i != 0; i = h2_exchange_at(a, i)->next) {
		struct h2_exchange *x = h2_exchange_at(a, i);

		if (x->left > 0 && x->window <= 0)
			note_blocked(w, &x->blocked);
	}
}

bool
h2_refill(struct fg_l4 *w, struct fg_stream *s)
{
	struct http2 *a = http2_of(w, s);
	struct h2_conn *c = h2_conn_of(w, s);
	uint64_t begin = c->end;
	uint32_t idle = 0, i;
	bool waits = false;

	while ((i = c->first) != 0 && idle < c->active && c->end - begin < BACKLOG && has_room(a, c, s)) {
		struct h2_exchange *x = h2_exchange_at(a, i);
		uint32_t data = octets_allowed(c, x);

		if (data == 0 && !x->sends_head) {
			waits |= x->left > 0;
			idle++;
			h2_rotate(a, c, x);
			continue;
		}
		idle = 0;
		h2_send(w, s, x, data);
		if (c->flags & H2_GONE)
			return false;
		if (x->left == 0 && !x->sends_head && !x->receives)
			h2_give(a, c, x); /* a server's response is on its way */
		else
			h2_rotate(a, c, x);
		if (h2_serves_dns(a))
			h2_flush(w, s); /* a record of TLS each: dnsperf loses the second answer of one */
	}
	if (waits && c->end == begin && (a->app.base.layer != NULL || fg_stream_sent(s) == s->written))
		note_windows(w, a, c);
	a->role->sent(w, s);
	h2_flush(w, s);
	return c->end > begin;
}
